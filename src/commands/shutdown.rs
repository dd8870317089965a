//! When to stop: Ctrl-C, another signal, or whatever else a caller waits for.

use std::future::Future;
use std::pin::Pin;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::future::Shared;
#[cfg(unix)]
use futures::future::select_all;

use crate::env::Env;

/// The signal that ended a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
    /// SIGQUIT: Ctrl-\.
    Quit,
}

impl Signal {
    /// Those that end every verb.
    const ALWAYS: &[Signal] = &[Signal::Interrupt, Signal::Terminate];
    /// Those that also end one with a frame, whose cursor is to be shown again. Elsewhere they do what they
    /// do to other programs: nothing, under nohup.
    const WITH_FRAME: &[Signal] = &[
        Signal::Interrupt,
        Signal::Terminate,
        Signal::Hangup,
        Signal::Quit,
    ];
}

/// How long a verb has to print what it has found and end after a signal.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
/// How often to look for a second signal meanwhile.
#[cfg(unix)]
const LOOKS: u32 = 100;

/// Ends the process if nobody does: while it waits for a file or a credential plugin, or for whoever is to
/// read a full pipe. A second signal ends it at once. It has a thread of its own, as the one that everything
/// else runs on may be what is stuck.
/// One thread serves all verbs that the process runs.
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
        let second = (0..LOOKS).find_map(|_| {
            std::thread::sleep(GRACE / LOOKS);
            signals.pending().next()
        });
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
}

/// A future that is ready once the verb is to stop, and stays ready. `None` means that it stops for a
/// reason of its own, not a signal.
#[derive(Clone)]
pub(crate) struct Shutdown(Shared<Pin<Box<dyn Future<Output = Option<Signal>> + Send>>>);

impl Shutdown {
    /// Waits for the signals of the process.
    pub(crate) fn on_signal(env: &Env) -> std::io::Result<Shutdown> {
        let signals = if env.is_live() {
            Signal::WITH_FRAME
        } else {
            Signal::ALWAYS
        };
        #[cfg(unix)]
        insist(signals)?;
        Ok(Shutdown(first(signals)?.map(Some).boxed().shared()))
    }

    /// Stops also when `other` is done.
    pub(crate) fn or(self, other: impl Future<Output = ()> + Send + 'static) -> Shutdown {
        let both = async move {
            tokio::select! {
                signal = self.0 => signal,
                () = other => None,
            }
        };
        Shutdown(both.boxed().shared())
    }

    /// Ready once it is time to stop.
    pub(crate) async fn wait(&self) -> Option<Signal> {
        self.0.clone().await
    }
}

/// Ctrl-Z: the terminal is given back before the process stops, and taken again when it goes on.
pub(crate) struct Suspension {
    #[cfg(unix)]
    asked: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Suspension {
    /// Listens for SIGTSTP.
    pub(crate) fn listen() -> std::io::Result<Suspension> {
        let stop = tokio::signal::unix::SignalKind::from_raw(signal_hook::consts::SIGTSTP);
        Ok(Suspension {
            asked: tokio::signal::unix::signal(stop)?,
        })
    }

    /// Ready when the user asks to stop.
    pub(crate) async fn asked(&mut self) {
        if self.asked.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Stops the process, as it would have without us; returns once it goes on.
    pub(crate) fn stop() {
        let _goes_on =
            signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
    }
}

#[cfg(not(unix))]
impl Suspension {
    /// There is no such thing here.
    pub(crate) fn listen() -> std::io::Result<Suspension> {
        Ok(Suspension {})
    }

    /// Never ready.
    pub(crate) async fn asked(&mut self) {
        std::future::pending().await
    }

    /// Does nothing.
    pub(crate) fn stop() {}
}

/// Ready with the first of these signals.
#[cfg(unix)]
fn first(signals: &[Signal]) -> std::io::Result<impl Future<Output = Signal> + Send + use<>> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |&asked: &Signal| {
        let mut stream = signal(SignalKind::from_raw(asked.number()))?;
        let comes = async move {
            // The end of the stream is none of these signals.
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

/// Ready with Ctrl-C.
#[cfg(not(unix))]
fn first(_: &[Signal]) -> std::io::Result<impl Future<Output = Signal> + Send + use<>> {
    Ok(async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    })
}
