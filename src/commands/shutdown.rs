//! When to stop: Ctrl-C, a termination, or whatever else a caller waits for.

use std::future::Future;
use std::pin::Pin;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::future::Shared;

/// The signal that ended a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// How long a verb has to end after a signal.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_millis(500);

/// Ends the process if nobody does: while it waits for a file or a credential plugin, or for whoever is to
/// read a full pipe. It has a thread of its own, as the one that everything else runs on may be what is stuck.
/// One thread serves all verbs that the process runs.
#[cfg(unix)]
fn insist() -> std::io::Result<()> {
    use signal_hook::low_level::emulate_default_handler;
    static INSISTS: AtomicBool = AtomicBool::new(false);
    if INSISTS.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let both = [Signal::Interrupt, Signal::Terminate].map(Signal::number);
    let mut signals = signal_hook::iterator::Signals::new(both)?;
    let insist = move || {
        if let Some(signal) = signals.forever().next() {
            std::thread::sleep(GRACE);
            let _ends_here = emulate_default_handler(signal);
        }
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
            Signal::Interrupt => 2,
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
    pub(crate) fn on_signal() -> std::io::Result<Shutdown> {
        #[cfg(unix)]
        insist()?;
        Ok(Shutdown(signal()?.map(Some).boxed().shared()))
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

#[cfg(unix)]
fn signal() -> std::io::Result<impl Future<Output = Signal> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => Signal::Interrupt,
            _ = terminate.recv() => Signal::Terminate,
        }
    })
}

#[cfg(not(unix))]
fn signal() -> std::io::Result<impl Future<Output = Signal> + Send> {
    Ok(async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    })
}
