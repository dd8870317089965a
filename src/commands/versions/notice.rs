//! The messages about what a source did not deliver: gaps, and what cannot be read.

use super::state::{Occurrence, TimelineEntry};
use crate::commands::live::sources::{describe_counted, named};
use crate::object::ResourceVersion;
use crate::source::{Gap, GapCause, Version};

/// The message for an entry without a version; `None` if there is nothing to print.
pub(crate) fn notice(entry: &TimelineEntry) -> Option<String> {
    match &entry.what {
        Occurrence::Synced { count } if named(&entry.key).is_none() => {
            let what = describe_counted(&entry.key, *count);
            Some(format!("watching {what}"))
        }
        Occurrence::Gap(gap) => Some(gap_text(gap)),
        Occurrence::Undecodable { detail } => {
            let source = entry.key.to_string();
            Some(format!("a line of {source} could not be read: {detail}"))
        }
        Occurrence::Synced { .. } | Occurrence::State(_) | Occurrence::Version(_) => None,
    }
}

/// The message about a gap.
fn gap_text(gap: &Gap) -> String {
    let cause = match gap.cause {
        GapCause::Expired => "the server has compacted them".to_owned(),
        GapCause::Undecodable => "a line could not be read".to_owned(),
        GapCause::Polled => "the server does not allow watching".to_owned(),
        GapCause::Restored => {
            let after = &gap.after;
            return format!(
                "-- the server's storage was restored or replaced after {after}: versions before and after may be missing --"
            );
        }
        GapCause::Refused => "the server refused to continue the watch".to_owned(),
        GapCause::NotOffered => "the server does not offer old versions".to_owned(),
        GapCause::Unanswered => "the server did not answer".to_owned(),
        GapCause::Unseen => {
            "listings do not show objects created and deleted in between".to_owned()
        }
        GapCause::SlowSubscriber { dropped } => {
            format!("{dropped} were dropped, because the reader was too slow")
        }
    };
    let interval = match (gap.after.as_str(), gap.upto.as_str()) {
        ("", "") => "versions".to_owned(),
        ("", upto) => format!("versions up to {upto}"),
        (after, "") => format!("versions after {after}"),
        (after, upto) => format!("versions after {after} up to {upto}"),
    };
    format!("-- {interval} may be missing: {cause} --")
}

/// A resourceVersion, if there is one. Manifests have none.
pub(crate) fn known(version: &ResourceVersion) -> Option<&ResourceVersion> {
    Some(version).filter(|version| !version.as_str().is_empty())
}

/// The message about an unreadable version.
pub(crate) fn unreadable(version: &Version) -> String {
    let object = &version.object;
    match known(&version.version) {
        Some(version) => format!("{object} {version} could not be read"),
        None => format!("{object} could not be read"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_names_the_versions_it_knows() {
        let check = |after: &str, upto: &str, expect: &str| {
            let gap = Gap {
                after: ResourceVersion::new(after),
                upto: ResourceVersion::new(upto),
                cause: GapCause::Polled,
            };
            let rest = " may be missing: the server does not allow watching --";
            assert_eq!(gap_text(&gap), format!("-- {expect}{rest}"));
        };
        check("4", "7", "versions after 4 up to 7");
        check("", "7", "versions up to 7");
        check("4", "", "versions after 4");
        check("", "", "versions");
    }

    #[test]
    fn a_restored_server_is_named_with_the_last_version() {
        // Its revisions may have overtaken those before.
        for upto in ["208", "251"] {
            let gap = Gap {
                after: ResourceVersion::new("243"),
                upto: ResourceVersion::new(upto),
                cause: GapCause::Restored,
            };
            assert_eq!(
                gap_text(&gap),
                "-- the server's storage was restored or replaced after 243: versions before and after may be missing --"
            );
        }
    }
}
