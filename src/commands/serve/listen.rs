//! `ListenArgs`: where the server listens, who may read, and the certificate that it shows.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::cluster::os_words;
use crate::commands::CommandError;
use crate::serve::{CertificateError, CertificatePem, ServedCertificate, answer_connections};

/// How often the files of the certificate are read again. Kubernetes replaces the files of a Secret within a minute.
const REREAD: Duration = Duration::from_secs(10);

/// Where the server listens, and who may read
#[derive(clap::Args, Clone, Debug)]
pub(super) struct ListenArgs {
    /// Answer at this address; port 0 chooses a free port. Another address than your own machine's needs TLS and --auth=kube
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7780", value_parser = parse_listen)]
    pub(super) listen: SocketAddr,
    /// Answer requests with the printed token, or each user of the cluster with a Kubernetes token of his own (`kube`)
    #[arg(long, value_enum, default_value_t)]
    pub(super) auth: Auth,
    /// Answer over TLS with the certificate in this PEM file. A replaced file is read again
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(super) tls_cert: Option<PathBuf>,
    /// The PEM file with the private key of --tls-cert
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(super) tls_key: Option<PathBuf>,
}

/// Who may read.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Auth {
    /// Requests with the token of the printed address
    #[default]
    Token,
    /// Users of the cluster with a Kubernetes token of their own: each sees what that user may list
    Kube,
}

/// The port of the default address.
const DEFAULT_PORT: u16 = 7780;

impl ListenArgs {
    /// The address to listen on. Fails if other machines could read there what only the user may read.
    fn address(&self) -> Result<SocketAddr, CommandError> {
        let is_open = self.tls_cert.is_some() && self.auth == Auth::Kube;
        if self.listen.ip().is_loopback() || is_open {
            return Ok(self.listen);
        }
        let port = match self.listen.port() {
            // The system chooses the port, and ssh needs a fixed one.
            0 => DEFAULT_PORT,
            port => port,
        };
        let error = format!(
            "error: cannot listen on {}: other machines could read what you may read",
            self.listen
        );
        Err(CommandError::failed(error)
            .hint("pass --auth=kube with --tls-cert and --tls-key: each reader then sees what he may list")
            .hint(format!(
                "or use --listen 127.0.0.1:{port}, and reach it from another machine with \
                 `ssh -L {port}:127.0.0.1:{port}`"
            )))
    }

    /// Listens before anything is read, so that a port in use is an error at once.
    pub(super) async fn open(&self) -> Result<OpenPort, CommandError> {
        let address = self.address()?;
        let certificate = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Some(CertificateFiles::open(certificate, key).await?),
            _ => None,
        };
        let listener = TcpListener::bind(address).await.map_err(|error| {
            let words = os_words(&error);
            CommandError::failed(format!("error: cannot listen on {address}: {words}"))
                .hint("choose another port with --listen, or 0 for any free one")
        })?;
        Ok(OpenPort {
            address: listener.local_addr()?,
            listener,
            certificate,
        })
    }
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:");
    let parsed = match local {
        Some(port) => port
            .parse()
            .ok()
            .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| "expected an address and a port, for example 127.0.0.1:7780".to_owned())
}

/// The port that the server listens on.
pub(super) struct OpenPort {
    listener: TcpListener,
    pub(super) address: SocketAddr,
    certificate: Option<CertificateFiles>,
}

impl OpenPort {
    /// `https`, or `http` without a certificate.
    pub(super) fn scheme(&self) -> &'static str {
        match self.certificate {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Answers requests until the future is dropped. `note` prints a message.
    pub(super) async fn answer(self, router: Router, note: impl Fn(String)) {
        match self.certificate {
            None => answer_connections(self.listener, None, router).await,
            Some(files) => {
                let tls = files.tls.clone();
                tokio::select! {
                    () = answer_connections(self.listener, Some(tls), router) => {}
                    () = files.follow(note) => {}
                }
            }
        }
    }
}

/// A certificate, and the files that it comes from.
struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
    /// What was read last.
    pem: CertificatePem,
    served: Arc<ServedCertificate>,
    tls: Arc<ServerConfig>,
}

impl CertificateFiles {
    async fn open(certificate: &Path, key: &Path) -> Result<CertificateFiles, CommandError> {
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        let pem = read(certificate.clone(), key.clone()).await;
        let pem = pem.map_err(CommandError::failed)?;
        let unusable = |error: CertificateError| {
            let path = certificate.display();
            CommandError::failed(format!("error: cannot use the certificate {path}: {error}"))
                .hint("--tls-cert and --tls-key are the PEM files of one pair")
        };
        let served = Arc::new(ServedCertificate::new(&pem).map_err(unusable)?);
        let tls = served.tls().map_err(unusable)?;
        Ok(CertificateFiles {
            certificate,
            key,
            pem,
            served,
            tls,
        })
    }

    /// Reads the files from time to time. Files that cannot be used change nothing: the next connection gets the certificate
    /// before, and the reason is printed once.
    async fn follow(mut self, note: impl Fn(String)) {
        let mut problem = None;
        loop {
            sleep(REREAD).await;
            let replaced = match read(self.certificate.clone(), self.key.clone()).await {
                Ok(pem) if pem == self.pem => continue,
                Ok(pem) => {
                    let replaced = self.served.replace(&pem);
                    self.pem = pem;
                    replaced.map_err(|error| format!("error: {error}"))
                }
                Err(error) => Err(error),
            };
            match replaced {
                Ok(()) => problem = None,
                Err(error) if problem.as_ref() == Some(&error) => {}
                Err(error) => {
                    note(format!("the certificate stays as it is: {error}"));
                    problem = Some(error);
                }
            }
        }
    }
}

/// Reads both files on a thread of its own: one may be slow.
async fn read(certificate: PathBuf, key: PathBuf) -> Result<CertificatePem, String> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| {
            format!(
                "error: cannot read {}: {}",
                path.display(),
                os_words(&error)
            )
        })
    };
    let reading = spawn_blocking(move || {
        Ok(CertificatePem {
            certificate: read(&certificate)?,
            key: read(&key)?,
        })
    });
    reading
        .await
        .unwrap_or_else(|stopped| Err(format!("error: {stopped}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(listen: SocketAddr, auth: Auth, has_tls: bool) -> ListenArgs {
        let file = has_tls.then(|| PathBuf::from("x"));
        ListenArgs {
            listen,
            auth,
            tls_cert: file.clone(),
            tls_key: file,
        }
    }

    #[test]
    fn an_address_has_a_port_and_is_of_this_machine() {
        for (text, is_ours) in [
            ("127.0.0.1:7780", Some(true)),
            ("127.0.0.9:1", Some(true)),
            ("[::1]:0", Some(true)),
            ("localhost:7780", Some(true)),
            ("0.0.0.0:7780", Some(false)),
            ("[::]:7780", Some(false)),
            ("192.168.0.7:80", Some(false)),
            ("127.0.0.1", None),
            (":7780", None),
            ("example.com:80", None),
            ("localhost:99999", None),
        ] {
            let address = parse_listen(text).ok();
            let is_open = |auth, has_tls| {
                let address = address?;
                Some(args(address, auth, has_tls).address().is_ok())
            };
            assert_eq!(is_open(Auth::Token, false), is_ours, "{text}");
            assert_eq!(is_open(Auth::Token, true), is_ours, "{text}");
            assert_eq!(is_open(Auth::Kube, false), is_ours, "{text}");
            assert_eq!(is_open(Auth::Kube, true), address.map(|_| true), "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_replaced_file_is_read_again() {
        let dir = std::env::temp_dir().join(format!("spy-certificate-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        let (certificate, key) = (dir.join("tls.crt"), dir.join("tls.key"));
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/testdata");
        let put = |name: &str| {
            for (from, to) in [("crt", &certificate), ("key", &key)] {
                std::fs::copy(data.join(format!("{name}.{from}")), to).expect("a copy");
            }
        };
        put("one");
        let files = CertificateFiles::open(&certificate, &key)
            .await
            .expect("a pair");
        let served = files.served.clone();
        let shown = || format!("{served:?}");
        let first = shown();
        let notes = Arc::new(std::sync::Mutex::new(Vec::new()));
        let printed = notes.clone();
        let note = move |text: String| printed.lock().expect("no panic").push(text);
        let following = tokio::spawn(files.follow(note));
        // Half of a new pair is not used.
        std::fs::copy(data.join("other.crt"), &certificate).expect("a copy");
        while notes.lock().expect("no panic").is_empty() {
            sleep(REREAD).await;
        }
        assert_eq!(shown(), first);
        put("other");
        while shown() == first {
            sleep(REREAD).await;
        }
        following.abort();
        std::fs::remove_dir_all(&dir).expect("it is there");
        let notes = notes.lock().expect("no panic");
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("KeyMismatch"), "{notes:?}");
    }
}
