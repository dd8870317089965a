//! One request. It is always a GET, so that no caller can send anything else.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue, USER_AGENT};
use http::{Method, Request};
use kube::client::Body;

use super::request_error::RequestError;
use crate::cluster::request_path::{RequestPath, encode};

/// The most bytes of path and query together. A URI may have 64 KiB, and the server's own path comes before it.
const LONGEST: usize = 32 << 10;

/// A request to the server, and its name in messages.
#[derive(Clone, Debug)]
pub(crate) struct ApiRequest {
    target: String,
    accept: Cow<'static, str>,
    /// `get`, `list`, `watch`.
    pub(super) verb: &'static str,
    /// `deployments.apps`.
    pub(super) resource: Arc<str>,
    identity: bool,
}

impl ApiRequest {
    pub(crate) fn new(path: impl Into<RequestPath>) -> ApiRequest {
        ApiRequest {
            target: path.into().into_text(),
            accept: "application/json".into(),
            verb: "get",
            resource: Arc::default(),
            identity: false,
        }
    }

    /// Sets the verb and the resource for errors: `list` and `deployments.apps`.
    pub(crate) fn about(mut self, verb: &'static str, resource: impl Into<Arc<str>>) -> ApiRequest {
        self.verb = verb;
        self.resource = resource.into();
        self
    }

    /// Requests another media type.
    pub(crate) fn accept(mut self, accept: impl Into<Cow<'static, str>>) -> ApiRequest {
        self.accept = accept.into();
        self
    }

    /// Requests a list with only the metadata of each object (meta/v1 `PartialObjectMetadataList`).
    pub(crate) fn metadata_list(self) -> ApiRequest {
        self.accept(
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
        )
    }

    /// Requests an uncompressed response. Watches need it: from 1.37 on a server compresses each event
    /// separately, which no HTTP client can read.
    pub(crate) fn identity(mut self) -> ApiRequest {
        self.identity = true;
        self
    }

    /// Adds a query parameter.
    pub(crate) fn query(mut self, name: &str, value: &str) -> ApiRequest {
        self.target
            .push(if self.target.contains('?') { '&' } else { '?' });
        self.target.push_str(name);
        self.target.push('=');
        encode(value, &mut self.target);
        self
    }

    /// The namespace that the path goes into, if any.
    pub(crate) fn namespace(&self) -> Option<&str> {
        let path = self.target.split('?').next().unwrap_or_default();
        let (_, inside) = path.split_once("/namespaces/")?;
        inside.split_once('/').map(|(namespace, _)| namespace)
    }

    /// The HTTP request. It is an error if its selectors or names are too long.
    pub(crate) fn to_http(&self) -> Result<Request<Body>, RequestError> {
        let length = self.target.len();
        if length > LONGEST {
            return Err(RequestError::Impossible(
                format!(
                    "error: the request would be {length} bytes long, and {LONGEST} are allowed: its \
                     selectors or names are too long"
                )
                .into(),
            ));
        }
        let mut request = Request::builder()
            .method(Method::GET)
            .uri(&self.target)
            .header(ACCEPT, &*self.accept)
            .header(USER_AGENT, user_agent());
        if self.identity {
            request = request.header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        request
            .body(Body::empty())
            .map_err(|error| RequestError::Impossible(format!("error: {error}").into()))
    }
}

/// `kubectl-spy/v0.1.0 (linux/amd64)`. Without a user agent, some servers send responses formatted for people, at twice
/// the length.
fn user_agent() -> String {
    format!(
        "kubectl-spy/v{} ({})",
        env!("CARGO_PKG_VERSION"),
        platform()
    )
}

/// `linux/amd64`: the system that the program runs on, with Go's names, because people search audit logs for them.
pub(crate) fn platform() -> String {
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
    format!("{system}/{machine}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_a_get_with_an_encoded_query() {
        let request = ApiRequest::new("/api/v1/pods")
            .query("labelSelector", "app in (a,b),x!=é")
            .query("limit", "500")
            .identity()
            .to_http()
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
    fn a_path_goes_into_a_namespace() {
        for (path, expect) in [
            ("/api/v1/namespaces/shop/pods", Some("shop")),
            ("/api/v1/namespaces/shop", None),
            ("/api/v1/pods", None),
            ("/apis", None),
        ] {
            let request = ApiRequest::new(path).query("a", "/namespaces/x/y");
            assert_eq!(request.namespace(), expect, "{path}");
        }
    }

    #[test]
    fn a_request_that_is_too_long_is_an_error() {
        let request =
            |length| ApiRequest::new("/api/v1/pods").query("labelSelector", &"x".repeat(length));
        assert!(request(32 << 10 >> 1).to_http().is_ok());
        let error = request(32 << 10)
            .to_http()
            .expect_err("too long")
            .to_string();
        assert_eq!(
            error,
            "error: the request would be 32795 bytes long, and 32768 are allowed: its selectors or \
             names are too long"
        );
    }
}
