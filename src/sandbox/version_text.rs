//! How revisions stand in resourceVersions.

/// How this server writes a revision as a resourceVersion: a prefix and the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VersionText {
    /// Empty: resourceVersions are numbers, as with etcd.
    prefix: &'static str,
}

impl VersionText {
    pub(super) fn new(prefix: &'static str) -> Self {
        Self { prefix }
    }

    /// The resourceVersion of a revision.
    pub(super) fn of(self, revision: u64) -> String {
        format!("{}{revision}", self.prefix)
    }

    /// The revision of a resourceVersion. `0` is revision 0 on every server.
    pub(super) fn revision(self, text: &str) -> Option<u64> {
        match text {
            "0" => Some(0),
            text => text.strip_prefix(self.prefix)?.parse().ok(),
        }
    }
}
