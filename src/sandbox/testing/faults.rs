//! The faults that tests write.

use std::ops::RangeInclusive;

use crate::sandbox::fault::{Effect, Fault, Verb};

impl Fault {
    /// A fault for the next request with this verb for this resource (`*`: any).
    pub fn on(verb: Verb, resource: &str, effect: Effect) -> Self {
        let resource = (resource != "*").then(|| resource.to_owned());
        Self {
            verb,
            resource,
            nth: 1..=1,
            step: 1,
            effect,
        }
    }

    /// Hits the `nth` matching request, counted from 1.
    #[must_use]
    pub fn nth(self, nth: u32) -> Self {
        self.range(nth..=nth)
    }

    /// Hits these matching requests, counted from 1.
    #[must_use]
    pub fn range(mut self, nth: RangeInclusive<u32>) -> Self {
        self.nth = nth;
        self
    }

    /// Hits every `n`-th matching request, without end.
    #[must_use]
    pub fn every(mut self, n: u32) -> Self {
        self.nth = n..=u32::MAX;
        self.step = n;
        self
    }

    /// Hits every matching request.
    #[must_use]
    pub fn always(self) -> Self {
        self.range(1..=u32::MAX)
    }
}
