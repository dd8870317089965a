//! `Heartbeat`: when a wait that prints nothing says that it still waits. CI systems end silent jobs.

use std::time::Duration;

use tokio::time::Instant;

/// How long a wait may print nothing.
const SILENCE: Duration = Duration::from_secs(60);

/// The time since a wait has printed anything.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    begun: Instant,
    /// When it was last found to have printed something, and how many lines it had printed by then.
    last: (Instant, u64),
}

impl Heartbeat {
    /// The wait starts now.
    pub(crate) fn start() -> Heartbeat {
        let begun = Instant::now();
        Heartbeat {
            begun,
            last: (begun, 0),
        }
    }

    /// Takes the number of lines printed so far. If there is no new one for a minute, it returns how long the wait has
    /// lasted. The caller then prints a line, and the next minute begins.
    pub(crate) fn beat(&mut self, now: Instant, printed: u64) -> Option<Duration> {
        let (since, known) = self.last;
        if printed == known && now.duration_since(since) < SILENCE {
            return None;
        }
        let is_silent = printed == known;
        self.last = (now, printed + u64::from(is_silent));
        is_silent.then(|| now.duration_since(self.begun))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// The seconds at which a wait beats that prints a line at each of these seconds.
    async fn beats(prints: &[u64], seconds: u64) -> Vec<u64> {
        let mut heartbeat = Heartbeat::start();
        let mut beats = Vec::new();
        let mut printed = 0;
        for second in 1..=seconds {
            advance(Duration::from_secs(1)).await;
            printed += u64::from(prints.contains(&second));
            if let Some(lasted) = heartbeat.beat(Instant::now(), printed) {
                assert_eq!(lasted.as_secs(), second);
                beats.push(second);
                printed += 1;
            }
        }
        beats
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_wait_beats_once_a_minute() {
        assert_eq!(beats(&[], 59).await, [0; 0]);
        assert_eq!(beats(&[], 200).await, [60, 120, 180]);
        assert_eq!(beats(&[50], 120).await, [110]);
        assert_eq!(beats(&[50, 100], 159).await, [0; 0]);
    }
}
