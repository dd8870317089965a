//! The path of a request. Its parts are checked and encoded one by one, and nothing else creates a path. So no
//! name, namespace or type can lead to another request than the intended one.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::object::{Resource, excerpt};

/// The path of a request, without its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestPath(String);

/// The kind of a path segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSegment {
    /// A namespace.
    Namespace,
    /// An object.
    Name,
    /// An API group.
    Group,
    /// A version of an API group.
    Version,
    /// A resource, by its plural.
    Resource,
}

/// A text that cannot be a path segment. Its `Display` is kubectl's line without `error: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.words())]
pub struct InvalidPart {
    part: PathSegment,
    text: String,
    problems: Vec<&'static str>,
}

impl InvalidPart {
    fn words(&self) -> String {
        let InvalidPart {
            part,
            text,
            problems,
        } = self;
        // kubectl finds this one before it makes a path.
        if *part == PathSegment::Name && text.is_empty() {
            return "resource name may not be empty".to_owned();
        }
        let text = excerpt(text, SHOWN);
        format!("invalid {part} \"{text}\": [{}]", problems.join(" "))
    }
}

/// How many characters of an invalid text an error contains.
const SHOWN: usize = 100;

impl PathSegment {
    /// Refuses the same texts as the API server does in a path (apimachinery's `IsValidPathSegmentName`).
    pub fn check(self, text: &str) -> Result<(), InvalidPart> {
        let mut problems = Vec::new();
        match text {
            "" => problems.push("may not be empty"),
            "." => problems.push("may not be '.'"),
            ".." => problems.push("may not be '..'"),
            _ => {}
        }
        if text.contains('/') {
            problems.push("may not contain '/'");
        }
        if text.contains('%') {
            problems.push("may not contain '%'");
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(InvalidPart {
            part: self,
            text: text.to_owned(),
            problems,
        })
    }
}

/// kubectl's word for the part.
impl fmt::Display for PathSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PathSegment::Namespace => "namespace",
            PathSegment::Name => "resource name",
            PathSegment::Group => "API group",
            PathSegment::Version => "API version",
            PathSegment::Resource => "resource",
        })
    }
}

impl RequestPath {
    /// `/apis/apps/v1/namespaces/shop/deployments`: the objects of a resource in one namespace, or in all.
    pub(crate) fn of(
        resource: &Resource,
        namespace: Option<&str>,
    ) -> Result<RequestPath, InvalidPart> {
        let mut path = RequestPath::of_group(&resource.group, &resource.version)?;
        if let Some(namespace) = namespace.filter(|_| resource.namespaced) {
            path.0.push_str("/namespaces");
            path = path.then(PathSegment::Namespace, namespace)?;
        }
        path.then(PathSegment::Resource, &resource.plural)
    }

    /// `/apis/apps/v1`, or `/api/v1` for the core group.
    pub(crate) fn of_group(group: &str, version: &str) -> Result<RequestPath, InvalidPart> {
        let root = match group {
            "" => RequestPath::from("/api"),
            group => RequestPath::from("/apis").then(PathSegment::Group, group)?,
        };
        root.then(PathSegment::Version, version)
    }

    /// Appends a segment.
    pub(crate) fn then(
        mut self,
        part: PathSegment,
        text: &str,
    ) -> Result<RequestPath, InvalidPart> {
        part.check(text)?;
        self.0.push('/');
        encode(text, &mut self.0);
        Ok(self)
    }

    /// The same path as that of somebody else's request. Each segment is decoded, checked and encoded again. It may end with a
    /// slash: the API server knows what that means.
    pub(crate) fn of_foreign(path: &str) -> Result<RequestPath, InvalidPart> {
        let mut same = RequestPath::from("");
        let inner = path.strip_prefix('/').unwrap_or(path);
        let (segments, end) = match inner.strip_suffix('/') {
            Some(segments) => (segments, "/"),
            None => (inner, ""),
        };
        for segment in segments.split('/') {
            let decoded = percent_decode_str(segment).decode_utf8_lossy();
            same = same.then(PathSegment::Name, &decoded)?;
        }
        same.0.push_str(end);
        Ok(same)
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// A fixed path of the API, without any part from a user or a server.
impl From<&'static str> for RequestPath {
    fn from(path: &'static str) -> RequestPath {
        RequestPath(path.to_owned())
    }
}

/// All characters except the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Appends `text`. All reserved characters become `%XX`.
pub(super) fn encode(text: &str, to: &mut String) {
    to.extend(utf8_percent_encode(text, RESERVED));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn resource(group: &str, version: &str, plural: &str) -> Resource {
        Resource {
            group: group.into(),
            version: version.into(),
            plural: plural.into(),
            kind: "Kind".into(),
            namespaced: true,
        }
    }

    fn path(resource: &Resource, namespace: Option<&str>) -> String {
        RequestPath::of(resource, namespace)
            .map_or_else(|error| error.to_string(), RequestPath::into_text)
    }

    #[test]
    fn resources_have_the_paths_of_the_api() {
        let deployments = resource("apps", "v1", "deployments");
        assert_eq!(path(&deployments, None), "/apis/apps/v1/deployments");
        assert_eq!(
            path(&deployments, Some("shop")),
            "/apis/apps/v1/namespaces/shop/deployments"
        );
        let pods = resource("", "v1", "pods");
        assert_eq!(
            path(&pods, Some("a b?c#d")),
            "/api/v1/namespaces/a%20b%3Fc%23d/pods"
        );
        let nodes = Resource {
            namespaced: false,
            ..resource("", "v1", "nodes")
        };
        assert_eq!(path(&nodes, Some("shop")), "/api/v1/nodes");
    }

    #[test]
    fn invalid_parts_have_kubectls_messages() {
        let pods = resource("", "v1", "pods");
        for (namespace, expect) in [
            ("a/b", "invalid namespace \"a/b\": [may not contain '/']"),
            (".", "invalid namespace \".\": [may not be '.']"),
            ("..", "invalid namespace \"..\": [may not be '..']"),
            (
                "/%",
                "invalid namespace \"/%\": [may not contain '/' may not contain '%']",
            ),
            ("", "invalid namespace \"\": [may not be empty]"),
            (
                "\u{1b}/",
                "invalid namespace \"\u{1b}/\": [may not contain '/']",
            ),
        ] {
            assert_eq!(path(&pods, Some(namespace)), expect);
        }
        assert_eq!(
            path(&resource("a/../b", "v1", "pods"), None),
            "invalid API group \"a/../b\": [may not contain '/']"
        );
        assert_eq!(
            path(&resource("a", "..", "pods"), None),
            "invalid API version \"..\": [may not be '..']"
        );
        assert_eq!(
            path(&resource("", "v1", "pods/web"), None),
            "invalid resource \"pods/web\": [may not contain '/']"
        );
        let name = PathSegment::Name
            .check("x%y")
            .expect_err("refused")
            .to_string();
        assert_eq!(name, "invalid resource name \"x%y\": [may not contain '%']");
    }

    #[test]
    fn a_foreign_path_stays_the_path_that_it_is() {
        for (path, expect) in [
            (
                "/api/v1/namespaces/shop/pods",
                Some("/api/v1/namespaces/shop/pods"),
            ),
            (
                "/apis/x.io/v1/roles/a%3Ab",
                Some("/apis/x.io/v1/roles/a%3Ab"),
            ),
            ("/apis/x.io/v1/roles/a:b", Some("/apis/x.io/v1/roles/a%3Ab")),
            ("/api/../metrics", None),
            ("/api/%2e%2e/metrics", None),
            ("/api/v1/a%2fb", None),
            ("/api/v1/a%25b", None),
            ("/api//v1", None),
            ("/api/v1/", Some("/api/v1/")),
            ("/api/v1//", None),
            ("/", None),
        ] {
            let same = RequestPath::of_foreign(path)
                .ok()
                .map(RequestPath::into_text);
            assert_eq!(same.as_deref(), expect, "{path}");
        }
    }

    #[test]
    fn an_error_shortens_a_long_text() {
        let long = "/".repeat(100_000);
        let error = PathSegment::Resource.check(&long).expect_err("refused");
        assert!(error.to_string().len() < 200);
    }

    fn decoded(segment: &str) -> String {
        let uri: http::Uri = format!("http://x/{segment}").parse().expect("a URI");
        assert_eq!(
            uri.path(),
            format!("/{segment}"),
            "the segment is the whole path"
        );
        let mut bytes = Vec::new();
        let mut rest = segment.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'%' => {
                    let digits: Vec<u8> = rest.by_ref().take(2).collect();
                    let digits = String::from_utf8(digits).expect("ASCII");
                    u8::from_str_radix(&digits, 16).expect("two digits")
                }
                byte => byte,
            });
        }
        String::from_utf8(bytes).expect("what was encoded")
    }

    proptest! {
        /// Whatever a part contains, it stays one segment at its position, or it is refused.
        #[test]
        fn every_part_stays_one_segment(group in ".*", version in ".*", plural in ".*", namespace in ".*") {
            let wanted = resource(&group, &version, &plural);
            let Ok(path) = RequestPath::of(&wanted, Some(&namespace)) else {
                let parts = [&version, &plural, &namespace];
                let is_bad = |text: &str| matches!(text, "." | "..") || text.contains(['/', '%']);
                prop_assert!(is_bad(&group) || parts.iter().any(|text| text.is_empty() || is_bad(text)));
                return Ok(());
            };
            let path = path.into_text();
            let segments: Vec<&str> = path.split('/').skip(1).collect();
            let mut rest = &segments[..];
            if group.is_empty() {
                prop_assert_eq!(rest[0], "api");
                rest = &rest[1..];
            } else {
                prop_assert_eq!(rest[0], "apis");
                prop_assert_eq!(decoded(rest[1]), group);
                rest = &rest[2..];
            }
            prop_assert_eq!(rest.len(), 4);
            prop_assert_eq!(decoded(rest[0]), version);
            prop_assert_eq!(rest[1], "namespaces");
            prop_assert_eq!(decoded(rest[2]), namespace);
            prop_assert_eq!(decoded(rest[3]), plural);
        }
    }
}
