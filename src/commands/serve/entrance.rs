//! `Entrance`: where readers come in: the gate, the printed address, and the page in the browser of `--open`.
//!
//! The printed address has the token of the owner. With `--auth=kube` it has none: each reader sends his own.

use std::process::{Command, Stdio};

use super::args::ServeArgs;
use super::listen::{Auth, OpenPort};
use crate::commands::{CommandError, Context};
use crate::serve::{AccessToken, Gate};

/// Where readers come in.
pub(super) struct Entrance {
    pub(super) gate: Gate,
    /// The address without a token.
    pub(super) address: String,
    /// The printed address: with the token, if the server has one.
    pub(super) printed: String,
}

/// The gate for the readers of `--auth`, and the page in the browser with `--open`.
pub(super) fn entrance(
    args: &ServeArgs,
    port: &OpenPort,
    context: &mut Context<'_>,
) -> Result<Entrance, CommandError> {
    let (scheme, address) = (
        port.scheme(),
        format!("{}://{}/", port.scheme(), port.address),
    );
    if args.listen.auth == Auth::Kube {
        if args.open {
            open(&address, context);
        }
        return Ok(Entrance {
            gate: Gate::kube(scheme),
            printed: address.clone(),
            address,
        });
    }
    let token = random_token()?;
    let mut gate = Gate::own(token.clone(), port.address, scheme);
    if args.open {
        let once = random_token()?;
        open(&format!("{address}?t={}", once.text()), context);
        gate = gate.admitting_once(once);
    }
    Ok(Entrance {
        gate,
        printed: format!("{address}?t={}", token.text()),
        address,
    })
}

fn random_token() -> Result<AccessToken, CommandError> {
    let token = AccessToken::random();
    token.ok_or_else(|| CommandError::failed("error: the system has no random numbers"))
}

/// The program that opens an address in the user's browser, with its first arguments.
const OPENER: &[&str] = if cfg!(windows) {
    &["rundll32", "url.dll,FileProtocolHandler"]
} else if cfg!(target_os = "macos") {
    &["open"]
} else {
    &["xdg-open"]
};

/// Opens an address in the user's browser. Other users may see it in the list of processes, so its token admits only once.
fn open(address: &str, context: &mut Context<'_>) {
    let mut command = Command::new(OPENER[0]);
    command.args(&OPENER[1..]).arg(address);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        context.note(&format!("cannot open a browser: {}: {error}", OPENER[0]));
    }
}
