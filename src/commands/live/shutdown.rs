//! `Shutdown`: when a verb must stop, because of a signal or another event.

use std::future::Future;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
#[cfg(unix)]
use futures::future::select_all;
use futures::future::{BoxFuture, Shared};

use crate::env::Env;
#[cfg(unix)]
use crate::env::restore_terminal;

/// The signal that ended a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal was closed.
    Hangup,
    /// SIGQUIT: Ctrl-\.
    Quit,
}

impl Signal {
    /// The signals that stop every verb.
    const ALWAYS: &[Signal] = &[Signal::Interrupt, Signal::Terminate];
    /// The signals that stop a verb without a frame. SIGQUIT keeps its usual effect.
    const WITHOUT_FRAME: &[Signal] = &[Signal::Interrupt, Signal::Terminate, Signal::Hangup];
    /// The signals that stop a verb with a frame, which must show the cursor again.
    const WITH_FRAME: &[Signal] = &[
        Signal::Interrupt,
        Signal::Terminate,
        Signal::Hangup,
        Signal::Quit,
    ];
}

/// How long a verb may take to print its results and end after a signal.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
/// How many times to check for a second signal in that time.
#[cfg(unix)]
const CHECKS: u32 = 100;

/// Ends the process [`GRACE`] after a signal, or at once after a second signal.
///
/// A verb can be stuck: it reads a file, waits for a credential plugin, or writes to a full pipe. Then the main thread
/// cannot stop it, so this has its own thread. One such thread serves all verbs of the process.
#[cfg(unix)]
fn insist(on: &[Signal]) -> std::io::Result<()> {
    use signal_hook::low_level::emulate_default_handler;
    static INSISTS: AtomicBool = AtomicBool::new(false);
    if INSISTS.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let numbers = on.iter().map(|signal| signal.number());
    let mut signals = signal_hook::iterator::Signals::new(numbers)?;
    let insist = move || {
        let Some(signal) = signals.forever().next() else {
            return;
        };
        let second = (0..CHECKS).find_map(|_| {
            std::thread::sleep(GRACE / CHECKS);
            signals.pending().next()
        });
        restore_terminal();
        let _ends_here = emulate_default_handler(second.unwrap_or(signal));
    };
    std::thread::Builder::new()
        .name("insist".to_owned())
        .spawn(insist)?;
    Ok(())
}

impl Signal {
    /// The signal's number, the same on every Unix.
    pub(crate) fn number(self) -> i32 {
        match self {
            Signal::Hangup => 1,
            Signal::Interrupt => 2,
            Signal::Quit => 3,
            Signal::Terminate => 15,
        }
    }

    /// Whether the process was started to ignore the signal, as by `nohup`. A handler would end that. A system that does
    /// not tell leaves the signal as it is.
    fn is_ignored(self) -> bool {
        let status = std::fs::read_to_string("/proc/self/status");
        self.is_ignored_in(&status.unwrap_or_default())
    }

    /// The same by the status of a process, as Linux prints it.
    fn is_ignored_in(self, status: &str) -> bool {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_none_or(|mask| (mask >> (self.number() - 1)) & 1 == 1)
    }
}

/// A future that is ready when the verb must stop, and stays ready. Its value is `None` if the cause is not a signal.
#[derive(Clone)]
pub(crate) struct Shutdown(Shared<BoxFuture<'static, Option<Signal>>>);

impl Shutdown {
    /// Waits for the signals of the process. A verb prints and writes everything before it ends, also after SIGHUP.
    pub(crate) fn on_signal(env: &Env) -> std::io::Result<Shutdown> {
        if env.is_live() || Signal::Hangup.is_ignored() {
            return Shutdown::of_server(env);
        }
        Shutdown::on(Signal::WITHOUT_FRAME)
    }

    /// The same for a server, which SIGHUP does not stop: without a frame, it is one of the [`ReloadRequests`].
    pub(crate) fn of_server(env: &Env) -> std::io::Result<Shutdown> {
        Shutdown::on(if env.is_live() {
            Signal::WITH_FRAME
        } else {
            Signal::ALWAYS
        })
    }

    fn on(signals: &[Signal]) -> std::io::Result<Shutdown> {
        #[cfg(unix)]
        insist(signals)?;
        Ok(Shutdown(first(signals)?.map(Some).boxed().shared()))
    }

    /// Never comes: the caller drops the verb.
    pub(crate) fn never() -> Shutdown {
        Shutdown(std::future::pending().boxed().shared())
    }

    /// Is also ready when `other` is done.
    pub(crate) fn or(self, other: impl Future<Output = ()> + Send + 'static) -> Shutdown {
        let both = async move {
            tokio::select! {
                signal = self.0 => signal,
                () = other => None,
            }
        };
        Shutdown(both.boxed().shared())
    }

    /// Waits until the verb must stop.
    pub(crate) async fn wait(&self) -> Option<Signal> {
        self.0.clone().await
    }
}

/// How a live view loses its terminal for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Ctrl-Z: the view must release the terminal, and stop.
    Asked,
    /// SIGCONT after a stop that no process notices (SIGSTOP): others may have used the terminal.
    Over,
}

/// Waits for what takes the terminal from a live view: Ctrl-Z, or the end of another stop.
pub(crate) struct Suspension {
    #[cfg(unix)]
    asked: tokio::signal::unix::Signal,
    #[cfg(unix)]
    continued: tokio::signal::unix::Signal,
    /// Whether the next SIGCONT ends a stop of [`Suspension::stop`].
    #[cfg(unix)]
    stops: bool,
}

#[cfg(unix)]
impl Suspension {
    /// Listens for SIGTSTP and SIGCONT.
    pub(crate) fn listen() -> std::io::Result<Suspension> {
        use signal_hook::consts::{SIGCONT, SIGTSTP};
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Suspension {
            asked: signal(SignalKind::from_raw(SIGTSTP))?,
            continued: signal(SignalKind::from_raw(SIGCONT))?,
            stops: false,
        })
    }

    /// Waits until the user presses Ctrl-Z, or the process resumes after another stop.
    pub(crate) async fn next(&mut self) -> Pause {
        loop {
            tokio::select! {
                biased;
                Some(()) = self.asked.recv() => {
                    self.stops = true;
                    return Pause::Asked;
                }
                Some(()) = self.continued.recv() => {
                    if !std::mem::take(&mut self.stops) {
                        return Pause::Over;
                    }
                }
                else => std::future::pending::<()>().await,
            }
        }
    }

    /// Stops the process like the default handler. Returns when the process resumes.
    pub(crate) fn stop() {
        let _resumed =
            signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
    }
}

#[cfg(not(unix))]
impl Suspension {
    /// Does nothing: this system has no Ctrl-Z.
    pub(crate) fn listen() -> std::io::Result<Suspension> {
        Ok(Suspension {})
    }

    /// Never ready.
    pub(crate) async fn next(&mut self) -> Pause {
        std::future::pending().await
    }

    /// Does nothing.
    pub(crate) fn stop() {}
}

/// SIGHUP, where no terminal sends it: the user asks to read files again. It never comes while there is a frame.
pub(crate) struct ReloadRequests {
    #[cfg(unix)]
    asked: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl ReloadRequests {
    /// Listens for SIGHUP.
    pub(crate) fn listen(env: &Env) -> std::io::Result<ReloadRequests> {
        let hangup = tokio::signal::unix::SignalKind::hangup();
        let asked = (!env.is_live()).then(|| tokio::signal::unix::signal(hangup));
        Ok(ReloadRequests {
            asked: asked.transpose()?,
        })
    }

    /// Waits until the user asks.
    pub(crate) async fn asked(&mut self) {
        let asked = self.asked.as_mut();
        let never = match asked {
            Some(asked) => asked.recv().await.is_none(),
            None => true,
        };
        if never {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
impl ReloadRequests {
    /// Does nothing: this system has no SIGHUP.
    pub(crate) fn listen(_: &Env) -> std::io::Result<ReloadRequests> {
        Ok(ReloadRequests {})
    }

    /// Never ready.
    pub(crate) async fn asked(&mut self) {
        std::future::pending().await
    }
}

/// A file that reaches the size limit of the process (`ulimit -f`) is an error of that write. It does not end the program.
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays when this stream is gone.
    let limit = SignalKind::from_raw(signal_hook::consts::SIGXFSZ);
    signal(limit).map(drop)
}

/// This system has no such limit.
#[cfg(not(unix))]
pub(crate) fn survive_file_size_limit() -> std::io::Result<()> {
    Ok(())
}

/// Waits for the first of these signals.
#[cfg(unix)]
fn first(signals: &[Signal]) -> std::io::Result<impl Future<Output = Signal> + Send + use<>> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |&asked: &Signal| {
        let mut stream = signal(SignalKind::from_raw(asked.number()))?;
        let comes = async move {
            // `None` is the end of the stream, not a signal.
            match stream.recv().await {
                Some(()) => asked,
                None => std::future::pending().await,
            }
        };
        Ok(comes.boxed())
    };
    let each: std::io::Result<Vec<_>> = signals.iter().map(listen).collect();
    Ok(select_all(each?).map(|(signal, ..)| signal))
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
fn first(_: &[Signal]) -> std::io::Result<impl Future<Output = Signal> + Send + use<>> {
    Ok(async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nohup_is_seen_in_the_status_of_the_process() {
        for (status, ignored) in [
            (
                "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\n",
                true,
            ),
            (
                "SigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n",
                false,
            ),
            ("SigIgn:\t0000000000001003\n", true),
            // Another system does not tell.
            ("", true),
            ("SigIgn:\tnone\n", true),
        ] {
            assert_eq!(Signal::Hangup.is_ignored_in(status), ignored, "{status:?}");
        }
        let status = "SigIgn:\t0000000000001001\n";
        assert!(!Signal::Terminate.is_ignored_in(status));
    }
}
