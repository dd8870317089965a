//! `-o yaml` and `-o name`: a document or a name for each version.

use super::version_view::{Heading, projection};
use super::{Audience, Format, VersionView};
use crate::commands::changes::output::Rendered;
use crate::diff::Noise;
use crate::diff::writer;
use crate::render::diff::ChangeType;
use crate::render::style::Role;
use crate::render::text::Text;
use crate::render::yaml::yaml;

/// `-o yaml`: whole documents, each below a comment that is its heading.
pub(super) struct Yaml;

impl Format for Yaml {
    fn audience(&self) -> Audience {
        Audience::Documents
    }

    fn version(&self, view: &VersionView<'_>) -> Rendered {
        let (options, compared) = (view.options, view.compared);
        let change = compared.change();
        let is_written = change.is_creation() || change == ChangeType::Modified;
        let who = is_written.then(|| writer(&compared.writers)).flatten();
        let heading = view.heading(Heading {
            who: who.map(|who| who.to_string()),
            ..Heading::default()
        });
        // Noise, and fields that would prevent creating the object again.
        let noise = [
            (Noise::ManagedFields, "managedFields"),
            (Noise::Version, "resourceVersion"),
        ];
        let hidden = (noise.into_iter()).filter(|(noise, _)| !options.shown.noise.contains(noise));
        let hidden: Vec<&str> = hidden.map(|(_, field)| field).collect();
        let object = options.redactor.shown(compared.read.doc.root());
        let projection =
            projection(&options.shown.filter.with_identity(), object).and_metadata(object, &hidden);
        let mut lines = vec![(Text::from("# ") + heading).in_role(Role::Plain)];
        lines.extend(yaml(object, &projection));
        Rendered {
            redacted: projection.holds_secret(object),
            starts_document: true,
            ..Rendered::lines(lines)
        }
    }
}

/// `-o name`: the name of the object.
pub(super) struct Name;

impl Format for Name {
    fn audience(&self) -> Audience {
        Audience::Documents
    }

    fn version(&self, view: &VersionView<'_>) -> Rendered {
        let name = view.compared.read.event.now.object.resource_name();
        Rendered::lines(vec![name.into()])
    }
}
