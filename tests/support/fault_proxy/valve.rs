//! One direction of a connection: the rate at which bytes pass, or whether they pass at all.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use super::{Context, Weather};

/// The number of pieces that a throttled connection passes each second.
const PIECES: u32 = 20;

/// The destination of the bytes, and the weather on the way.
pub(super) struct Valve<W> {
    to: W,
    context: Context,
    /// The number of passed bytes, if a leak counts them.
    passed: Option<usize>,
}

impl<W: AsyncWrite + Unpin> Valve<W> {
    pub(super) fn towards_client(to: W, context: &Context) -> Valve<W> {
        let (context, passed) = (context.clone(), Some(0));
        Valve {
            to,
            context,
            passed,
        }
    }

    pub(super) fn towards_server(to: W, context: &Context) -> Valve<W> {
        let (context, passed) = (context.clone(), None);
        Valve {
            to,
            context,
            passed,
        }
    }

    /// Passes these bytes on, now or later. An error ends the connection.
    pub(super) async fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let weather = *self.context.weather.borrow_and_update();
            let length = match weather {
                Weather::Stalled => {
                    self.change().await?;
                    continue;
                }
                Weather::Throttled(a_second) => {
                    // A change of the weather ends the wait.
                    let pause = Duration::from_secs(1) / PIECES;
                    let _ = timeout(pause, self.context.weather.changed()).await;
                    (a_second.div_ceil(PIECES) as usize).min(bytes.len())
                }
                Weather::Delayed(by) => {
                    sleep(by).await;
                    bytes.len()
                }
                Weather::Leaky(after) => self.until_leak(after).min(bytes.len()),
                Weather::Fair
                | Weather::Refusing
                | Weather::Failing(_)
                | Weather::Repeating(_)
                | Weather::Garbling(_) => bytes.len(),
            };
            if length == 0 {
                self.context.count(|struck| struck.leaked += 1);
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.to.write_all(&bytes[..length]).await?;
            self.to.flush().await?;
            self.passed = self.passed.map(|passed| passed + length);
            bytes = &bytes[length..];
        }
        Ok(())
    }

    /// The number of bytes that pass before a leak ends the connection.
    fn until_leak(&self, after: usize) -> usize {
        let left = |passed| after.saturating_sub(passed);
        self.passed.map_or(usize::MAX, left)
    }

    async fn change(&mut self) -> io::Result<()> {
        let changed = self.context.weather.changed().await;
        changed.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
