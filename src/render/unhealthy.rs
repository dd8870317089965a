//! The words for a view of what is not well that has no rows.

/// What such a view looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookedAt<'a> {
    /// The only namespace; `None` if there may be several.
    pub namespace: Option<&'a str>,
    /// Whether all of it could be read.
    pub is_whole: bool,
}

impl LookedAt<'_> {
    /// `Nothing is unhealthy in namespace shop.`, as far as the objects were read.
    pub fn nothing_unhealthy(self) -> String {
        let place = self.namespace.map(|name| format!(" in namespace {name}"));
        let place = place.unwrap_or_default();
        if self.is_whole {
            format!("Nothing is unhealthy{place}.")
        } else {
            format!("Nothing unhealthy among the objects{place} that could be read.")
        }
    }
}
