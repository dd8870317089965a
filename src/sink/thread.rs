//! `on_thread`: work that waits for a disk, away from the thread that follows clusters and answers readers.

use std::future::pending;
use std::panic::resume_unwind;

use tokio::task::spawn_blocking;

/// Does work that may block on another thread. It is done, whether or not anyone waits for its end.
pub fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = T> + Send + 'static {
    let done = spawn_blocking(work);
    async move {
        match done.await {
            Ok(done) => done,
            Err(stopped) => match stopped.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The program ends.
                Err(_) => pending().await,
            },
        }
    }
}
