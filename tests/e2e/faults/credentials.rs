//! The kubeconfig of a run: the server is the proxy, and the token is where the schedule wants it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plane::Plane;
use super::schedule::Credential;

/// How one run of the program reaches the API server.
pub struct Access<'a> {
    pub plane: &'a Plane,
    pub proxy: SocketAddr,
    /// The name of its files.
    pub label: &'a str,
    pub credential: Credential,
}

impl Access<'_> {
    /// Writes the kubeconfig, and the current token to its place. Returns the path of the kubeconfig.
    pub fn write(&self) -> PathBuf {
        let authority = self.plane.control.certificate();
        let server = format!("https://{}", self.proxy);
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "faults",
            "clusters": [{
                "name": "faults",
                "cluster": { "server": server, "certificate-authority": authority },
            }],
            "users": [{ "name": "faults", "user": self.user() }],
            "contexts": [{ "name": "faults", "context": { "cluster": "faults", "user": "faults" } }],
        });
        let path = kept(self.label, "kubeconfig");
        fs::write(&path, kubeconfig.to_string()).unwrap();
        path
    }

    fn user(&self) -> Value {
        let version = "client.authentication.k8s.io/v1";
        let (token, file) = (self.plane.token(), kept(self.label, "token"));
        match self.credential {
            Credential::Kubeconfig => json!({ "token": token }),
            Credential::File => {
                fs::write(&file, token).unwrap();
                json!({ "tokenFile": file })
            }
            Credential::Plugin => {
                let answer = json!({
                    "apiVersion": version, "kind": "ExecCredential", "status": { "token": token },
                });
                fs::write(&file, answer.to_string()).unwrap();
                json!({ "exec": {
                    "apiVersion": version, "command": "/bin/cat", "args": [file],
                    "interactiveMode": "Never",
                }})
            }
        }
    }
}

/// The path of a file of a run. The files are removed if the run succeeds.
pub fn kept(label: &str, extension: &str) -> PathBuf {
    let name = format!("{label}.{extension}");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Removes all files of a run.
pub fn tidy(label: &str) {
    for extension in ["kubeconfig", "token", "ndjson", "stderr", "report"] {
        let _not_written = fs::remove_file(kept(label, extension));
    }
}
