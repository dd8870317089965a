//! `Status` objects: every error, in kube-apiserver's words.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::kinds::Kind;

/// An error answer.
#[derive(Debug, Clone)]
pub(super) struct ApiFailure {
    pub(super) code: u16,
    reason: &'static str,
    message: String,
    details: Value,
    /// `metadata.continue` of an expired page: the token with which the client may continue.
    pub(super) resume: Option<String>,
}

impl ApiFailure {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: Value::Null,
            resume: None,
        }
    }

    fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// 404 for an unknown path.
    pub(super) fn no_such_path() -> Self {
        Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
        .with(json!({}))
    }

    /// 404 for a missing object.
    pub(super) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.resource.group_resource());
        Self::new(404, "NotFound", message).with(object_details(kind, name))
    }

    /// 405: this server is read-only from outside.
    pub(super) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).with(json!({}))
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 403. `what` names the user, the verb and the resource.
    pub(super) fn forbidden(kind: &Kind, name: &str, what: &str) -> Self {
        let object = if name.is_empty() {
            String::new()
        } else {
            format!(" \"{name}\"")
        };
        let message = format!(
            "{}{object} is forbidden: {what}",
            kind.resource.group_resource()
        );
        Self::new(403, "Forbidden", message).with(object_details(kind, name))
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(super) fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json";
        Self::new(406, "NotAcceptable", message)
    }

    /// 422 for list options that contradict each other.
    pub(super) fn invalid_options(field: &str, message: &str) -> Self {
        let text =
            format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: Forbidden: {message}");
        let cause = json!({"reason": "FieldValueForbidden", "message": format!("Forbidden: {message}"), "field": field});
        Self::new(422, "Invalid", text)
            .with(json!({"group": "meta.k8s.io", "kind": "ListOptions", "causes": [cause]}))
    }

    /// 410 for a list at a compacted revision.
    pub(super) fn list_expired() -> Self {
        Self::new(
            410,
            "Expired",
            "The resourceVersion for the provided list is too old.",
        )
    }

    /// 410 for a page at a compacted revision. `resume` is a token that continues with the current objects.
    pub(super) fn page_expired(resume: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start a \
                       new list without the continue parameter, or use the continue token in this response to retrieve \
                       the remainder of the results. Continuing with the provided token results in an inconsistent \
                       list - objects that were created, modified, or deleted between the time the first chunk was \
                       returned and now may show up in the list.";
        Self {
            resume: Some(resume),
            ..Self::new(410, "Expired", message)
        }
    }

    /// 410 for a watch from before the watch cache.
    pub(super) fn watch_expired(from: u64, oldest: u64) -> Self {
        Self::new(
            410,
            "Expired",
            format!("too old resource version: {from} ({oldest})"),
        )
    }

    /// 504 for a revision that the server has not reached yet.
    pub(super) fn future_revision(asked: u64, newest: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {newest}");
        let cause =
            json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        Self::new(504, "Timeout", message).with(json!({"causes": [cause], "retryAfterSeconds": 1}))
    }

    /// The error with this code, for faults. An unknown code has no reason and no message.
    pub(super) fn by_code(code: u16, retry_after: Option<u32>) -> Self {
        let (reason, message) = match code {
            400 => (
                "BadRequest",
                "the server rejected our request for an unknown reason",
            ),
            401 => return Self::unauthorized(),
            403 => ("Forbidden", "forbidden"),
            404 => return Self::no_such_path(),
            405 => return Self::method_not_allowed(),
            410 => return Self::list_expired(),
            422 => (
                "Invalid",
                "the server rejected our request due to an error in our request",
            ),
            429 => (
                "TooManyRequests",
                "the server has received too many requests and has asked us to try again later",
            ),
            503 => (
                "ServiceUnavailable",
                "the server is currently unable to handle the request",
            ),
            504 => (
                "Timeout",
                "the server was unable to return a response in the time allotted",
            ),
            500 => (
                "InternalError",
                "Internal error occurred: etcdserver: leader changed",
            ),
            _ => ("", ""),
        };
        let details =
            retry_after.map_or(Value::Null, |seconds| json!({"retryAfterSeconds": seconds}));
        Self::new(code, reason, message).with(details)
    }

    pub(super) fn http(&self) -> StatusCode {
        StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(super) fn json(&self) -> Bytes {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {},
            "status": "Failure", "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        if let Some(token) = &self.resume {
            status["metadata"]["continue"] = json!(token);
        }
        Bytes::from(status.to_string())
    }
}

fn object_details(kind: &Kind, name: &str) -> Value {
    let mut details = json!({"kind": *kind.resource.plural});
    if !name.is_empty() {
        details["name"] = json!(name);
    }
    if !kind.resource.group.is_empty() {
        details["group"] = json!(*kind.resource.group);
    }
    details
}
