//! `LeftOut`: the managers whose versions `--people` leaves out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::commands::changes::compared::{Compared, authors};
use crate::render::json::changes::LeftOutRecord;
use crate::render::text::escape_line;

/// The most managers that a line names.
const MOST: usize = 4;

/// The managers whose versions `--people` leaves out, and the number of their versions. `None` stands for nobody: the server
/// records no manager for a deletion.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(BTreeMap<Option<String>, usize>);

impl LeftOut {
    /// Counts a version that is left out: it belongs to the last of its managers.
    pub(super) fn see(&mut self, compared: &Compared<'_>) {
        let authors = authors(&compared.writers, compared.diff.as_ref());
        let manager = authors
            .first()
            .map(|author| author.manager.clone().into_owned());
        *self.0.entry(manager).or_default() += 1;
    }

    /// `left out: kube-controller-manager 210, kubelet 12 and 2 more, not recorded 3`. `None` if there are none.
    pub(crate) fn line(&self) -> Option<String> {
        let mut managers = self.most_first();
        let nobody = managers.pop_if(|(manager, _)| manager.is_none());
        let named = managers
            .iter()
            .filter_map(|(manager, versions)| Some(format!("{} {versions}", (*manager)?)));
        let named: Vec<String> = named.take(MOST).collect();
        let more = match managers.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")));
        let nobody = nobody.map(|(_, versions)| format!("not recorded {versions}"));
        let parts: Vec<String> = named.into_iter().chain(nobody).collect();
        let line = format!("left out: {}", parts.join(", "));
        (!parts.is_empty()).then(|| escape_line(&line).into_owned())
    }

    /// The same for records.
    pub(crate) fn records(&self) -> Vec<LeftOutRecord> {
        let managers = self.most_first().into_iter();
        let record = |(manager, versions): (Option<&str>, usize)| LeftOutRecord {
            manager: manager.map(str::to_owned),
            versions,
        };
        managers.map(record).collect()
    }

    /// The managers with the most versions come first, nobody last.
    fn most_first(&self) -> Vec<(Option<&str>, usize)> {
        let managers = self.0.iter();
        let managers = managers.map(|(manager, versions)| (manager.as_deref(), *versions));
        let mut managers: Vec<_> = managers.collect();
        managers
            .sort_by_key(|(manager, versions)| (manager.is_none(), Reverse(*versions), *manager));
        managers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(managers: &[(&str, usize)]) -> LeftOut {
        let managers = managers.iter().map(|(manager, versions)| {
            let manager = (!manager.is_empty()).then(|| (*manager).to_owned());
            (manager, *versions)
        });
        LeftOut(managers.collect())
    }

    #[test]
    fn the_managers_with_the_most_versions_are_named() {
        for (managers, expect) in [
            (&[][..], None),
            (&[("kubelet", 12)], Some("left out: kubelet 12")),
            (
                &[("kubelet", 12), ("", 3), ("kube-controller-manager", 210)],
                Some("left out: kube-controller-manager 210, kubelet 12, not recorded 3"),
            ),
            (
                &[
                    ("a", 1),
                    ("b", 2),
                    ("c", 3),
                    ("d\u{1b}[2J", 2),
                    ("e", 1),
                    ("f", 9),
                    ("", 7),
                ],
                Some("left out: f 9, c 3, b 2, d^[[2J 2 and 2 more, not recorded 7"),
            ),
        ] {
            assert_eq!(left_out(managers).line().as_deref(), expect);
        }
    }
}
