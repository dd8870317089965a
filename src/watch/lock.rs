//! The lock of a source, held.

use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;

use super::source::Inner;

/// What the lock guards, for one's own. Who has something to read then is woken when it is released.
pub(super) struct Lock<'a>(Option<MutexGuard<'a, Inner>>);

/// Why there is a guard.
const HELD: &str = "it is held until it is dropped";

impl<'a> Lock<'a> {
    pub(super) fn new(guard: MutexGuard<'a, Inner>) -> Lock<'a> {
        Lock(Some(guard))
    }
}

impl Deref for Lock<'_> {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        self.0.as_ref().expect(HELD)
    }
}

impl DerefMut for Lock<'_> {
    fn deref_mut(&mut self) -> &mut Inner {
        self.0.as_mut().expect(HELD)
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        let signals = self.signals();
        self.0 = None;
        for signal in signals {
            signal.notify_one();
        }
    }
}
