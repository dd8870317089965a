//! The words for a view of what is not well that has no rows.

/// What such a view looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookedAt<'a> {
    /// The only namespace; `None` if there may be several.
    pub namespace: Option<&'a str>,
    /// How much of it could be read.
    pub read: ReadShare,
}

/// How much of what was requested could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadShare {
    /// All of it.
    Whole,
    /// Some of it.
    Part,
    /// Nothing, so nothing is known to be well.
    Nothing,
}

impl ReadShare {
    /// Of parts, each of which was read or not.
    pub fn of(parts: impl Iterator<Item = bool>) -> ReadShare {
        let (mut some, mut all) = (false, true);
        for is_read in parts {
            some |= is_read;
            all &= is_read;
        }
        match (some, all) {
            (true, true) => ReadShare::Whole,
            (true, false) => ReadShare::Part,
            (false, _) => ReadShare::Nothing,
        }
    }
}

impl LookedAt<'_> {
    /// `Nothing is unhealthy in namespace shop.`, as far as the objects were read.
    pub fn nothing_unhealthy(self) -> String {
        let place = self.namespace.map(|name| format!(" in namespace {name}"));
        let place = place.unwrap_or_default();
        match self.read {
            ReadShare::Whole => format!("Nothing is unhealthy{place}."),
            ReadShare::Part => {
                format!("Nothing unhealthy among the objects{place} that could be read.")
            }
            ReadShare::Nothing => format!("No objects{place} could be read."),
        }
    }
}
