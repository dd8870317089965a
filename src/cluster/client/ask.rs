//! One request: always a GET, so that no caller can send anything else.

use std::fmt::Write as _;
use std::sync::Arc;

use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue, USER_AGENT};
use http::{Method, Request};
use kube::client::Body;

/// What is asked of the server, and how messages name it.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    target: String,
    accept: &'static str,
    verb: &'static str,
    resource: Arc<str>,
    identity: bool,
}

impl Ask {
    /// Asks for `path` as JSON.
    pub(crate) fn new(path: impl Into<String>) -> Ask {
        Ask {
            target: path.into(),
            accept: "application/json",
            verb: "get",
            resource: Arc::default(),
            identity: false,
        }
    }

    /// Names the request in errors: `list` on `deployments.apps`.
    pub(crate) fn about(mut self, verb: &'static str, resource: impl Into<Arc<str>>) -> Ask {
        self.verb = verb;
        self.resource = resource.into();
        self
    }

    /// Asks for another form of the answer.
    pub(crate) fn accept(mut self, accept: &'static str) -> Ask {
        self.accept = accept;
        self
    }

    /// Asks for bytes that are not compressed. A watch needs them: from 1.37 on a server compresses
    /// each event on its own, which no HTTP client reads.
    pub(crate) fn identity(mut self) -> Ask {
        self.identity = true;
        self
    }

    /// Adds a query parameter.
    pub(crate) fn query(mut self, name: &str, value: &str) -> Ask {
        self.target
            .push(if self.target.contains('?') { '&' } else { '?' });
        self.target.push_str(name);
        self.target.push('=');
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                self.target.push(char::from(byte));
            } else {
                write!(self.target, "%{byte:02X}").expect("a String takes all that is written");
            }
        }
        self
    }

    /// What is tried: `get`, `list`, `watch`.
    pub(crate) fn verb(&self) -> &'static str {
        self.verb
    }

    /// On what: `deployments.apps`.
    pub(crate) fn resource(&self) -> &Arc<str> {
        &self.resource
    }

    /// The HTTP request. An error is a path that is none, such as one made of a name with a space.
    pub(super) fn request(&self) -> Result<Request<Body>, http::Error> {
        let mut request = Request::builder()
            .method(Method::GET)
            .uri(&self.target)
            .header(ACCEPT, self.accept)
            .header(USER_AGENT, user_agent());
        if self.identity {
            request = request.header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        request.body(Body::empty())
    }
}

/// `kubectl-spy/v0.1.0 (linux/amd64)`, in Go's words for systems as everyone greps for in audit logs.
/// Servers print answers for people, at twice the length, to some agents that send none.
fn user_agent() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!(
        "kubectl-spy/v{} ({system}/{machine})",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_a_get_with_an_escaped_query() {
        let request = Ask::new("/api/v1/pods")
            .query("labelSelector", "app in (a,b),x!=é")
            .query("limit", "500")
            .identity()
            .request()
            .expect("a request");
        assert_eq!(request.method(), Method::GET);
        assert_eq!(
            request.uri().to_string(),
            "/api/v1/pods?labelSelector=app%20in%20%28a%2Cb%29%2Cx%21%3D%C3%A9&limit=500"
        );
        assert_eq!(request.headers()[ACCEPT_ENCODING], "identity");
        let agent = request.headers()[USER_AGENT].to_str().expect("ASCII");
        assert!(agent.starts_with("kubectl-spy/v"), "{agent}");
    }

    #[test]
    fn a_path_that_is_none_is_an_error() {
        assert!(Ask::new("/api/v1/namespaces/a b/pods").request().is_err());
    }
}
