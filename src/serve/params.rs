//! `Params`: the parameters of a request. They have the names of the flags of `kubectl spy`.

use std::collections::HashSet;
use std::sync::Arc;

use http::{StatusCode, Uri};
use jiff::Timestamp;

use super::served_row::ServedRow;
use super::snapshot::Snapshot;
use crate::render::age::rfc3339;

/// The parameter that has the token in the printed address.
pub(super) const TOKEN: &str = "t";

/// The parameter that names a cluster.
pub const CLUSTER: &str = "cluster";

/// The parameter that names a namespace. Without a value, it names none.
const NAMESPACE: &str = "namespace";

/// The parameters of an address, in their order.
#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

/// A parameter that a path does not take, or that has a value which means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// The path has no such parameter.
    #[error("unknown parameter \"{name}\"; this path takes {known}")]
    Unknown {
        /// The parameter.
        name: String,
        /// What the path takes.
        known: String,
    },
    /// A parameter with one value has several.
    #[error("the parameter \"{name}\" is there more than once")]
    Repeated {
        /// The parameter.
        name: &'static str,
    },
    /// Neither true nor false.
    #[error("invalid value \"{value}\" of \"{name}\": expected true or false")]
    NotABool {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
    },
}

impl Params {
    /// The parameters of an address.
    pub fn of(uri: &Uri) -> Params {
        let query = uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        Params(pairs.into_owned().collect())
    }

    /// The first value of a parameter.
    pub fn first(&self, name: &str) -> Option<&str> {
        let mut given = self.0.iter();
        let found = given.find(|(given, _)| given == name)?;
        Some(&found.1)
    }

    /// The namespace that is asked for.
    pub fn namespace(&self) -> Option<&str> {
        self.first(NAMESPACE).filter(|name| !name.is_empty())
    }

    /// All values of a parameter.
    pub fn all<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p str> {
        let given = self.0.iter().filter(move |(given, _)| given == name);
        given.map(|(_, value)| value.as_str())
    }

    /// All parameters but the token, in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = self.0.iter().filter(|(name, _)| name != TOKEN);
        given.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a switch is on. Like a flag, it is on without a value.
    pub fn has(&self, name: &'static str) -> Result<bool, ParamError> {
        match self.first(name) {
            None | Some("false") => Ok(false),
            Some("" | "true") => Ok(true),
            Some(value) => Err(ParamError::NotABool {
                name,
                value: value.to_owned(),
            }),
        }
    }

    /// Fails if there is another parameter than these, or if it names several places: an answer about the first alone would
    /// look like one about all.
    pub fn only(&self, known: &[&str]) -> Result<(), ParamError> {
        let mut places = [CLUSTER, NAMESPACE].into_iter();
        if let Some(name) = places.find(|name| self.all(name).nth(1).is_some()) {
            return Err(ParamError::Repeated { name });
        }
        match self.pairs().find(|(name, _)| !known.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(ParamError::Unknown {
                name: name.to_owned(),
                known: known.join(", "),
            }),
        }
    }

    /// The same parameters with this value of one of them, as an address that begins with `?`.
    pub fn with(&self, name: &str, value: &str) -> String {
        let mut query = self.without(&[name]);
        format!("?{}", query.append_pair(name, value).finish())
    }

    /// The same parameters for the time since then, as an address that begins with `?`.
    pub fn since(&self, since: &str) -> String {
        let mut query = self.without(&["since", "from", "to"]);
        format!("?{}", query.append_pair("since", since).finish())
    }

    /// The same parameters for the time between these two, as an address that begins with `?`.
    pub fn between(&self, from: Timestamp, to: Timestamp) -> String {
        let mut query = self.without(&["since", "from", "to"]);
        query.append_pair("from", &rfc3339(from));
        query.append_pair("to", &rfc3339(to));
        format!("?{}", query.finish())
    }

    /// The same parameters without the token, as the part of an address after its `?`; empty without any.
    pub fn to_query(&self) -> String {
        self.without(&[]).finish()
    }

    /// All parameters but these and the token, ready for more.
    fn without(&self, names: &[&str]) -> form_urlencoded::Serializer<'static, String> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.pairs().filter(|(given, _)| !names.contains(given)));
        query
    }
}

impl<'p> FromIterator<(&'p str, &'p str)> for Params {
    fn from_iter<I: IntoIterator<Item = (&'p str, &'p str)>>(pairs: I) -> Params {
        let pairs = pairs.into_iter();
        Params(
            pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
    }
}

/// Which objects a reader asks for.
#[derive(Clone, Debug, Default)]
pub struct RowFilter {
    cluster: Option<String>,
    namespace: Option<String>,
    objects: Vec<String>,
    is_of_unhealthy: bool,
}

impl RowFilter {
    /// Reads the parameters.
    pub fn of(params: &Params) -> Result<RowFilter, ParamError> {
        Ok(RowFilter {
            cluster: params.first("cluster").map(str::to_owned),
            namespace: params.namespace().map(str::to_owned),
            objects: params.all("object").map(str::to_owned).collect(),
            is_of_unhealthy: params.has("unhealthy")?,
        })
    }

    /// The rows of the requested objects, each followed by those of its dependents.
    pub fn rows<'s>(&self, snapshot: &'s Snapshot) -> Vec<&'s Arc<ServedRow>> {
        let rows = self.within(snapshot).into_iter();
        rows.filter(|row| !self.is_of_unhealthy || row.is_unhealthy)
            .collect()
    }

    /// The ids of the objects that it asks for only because of the objects above them.
    pub fn dependents(&self, snapshot: &Snapshot) -> HashSet<String> {
        if self.objects.is_empty() {
            return HashSet::new();
        }
        let rows = self.within(snapshot).into_iter();
        let dependents = rows.filter(|row| !self.names(row));
        dependents.map(|row| row.id()).collect()
    }

    /// Whether it asks for this object, whatever the others are. A dependent of a named object is asked for because of its owner.
    pub fn asks_for(&self, row: &ServedRow) -> bool {
        self.is_in_place(row) && self.names(row)
    }

    /// Whether it may ask for this object as a dependent of a named one.
    pub fn may_ask_for_dependent(&self, row: &ServedRow) -> bool {
        !self.objects.is_empty() && self.is_in_place(row)
    }

    /// Whether it asks only for what is not well.
    pub fn is_of_unhealthy(&self) -> bool {
        self.is_of_unhealthy
    }

    fn within<'s>(&self, snapshot: &'s Snapshot) -> Vec<&'s Arc<ServedRow>> {
        let mut within = None;
        let rows = snapshot.rows.iter().filter(|row| {
            let depth = row.depth;
            if within.is_none_or(|within| depth <= within) {
                within = self.names(row).then_some(depth);
            }
            within.is_some() && self.is_in_place(row)
        });
        rows.collect()
    }

    /// The code and the error, if the reader may list none of the objects, or the server follows none of them. An empty answer
    /// would look as if all were well.
    pub fn unfollowed(&self, seen: &Snapshot) -> Option<(StatusCode, String)> {
        if seen.follows(self.cluster.as_deref(), self.namespace.as_deref()) {
            return None;
        }
        let namespace = self.namespace.as_ref();
        let place = namespace.map(|namespace| format!(" in the namespace {namespace:?}"));
        let place = place.unwrap_or_default();
        Some(if seen.hides_requested {
            let words = format!(
                "error: you may not list the followed objects{place}\n\
                 hint: see what you may list with kubectl auth can-i --list\n"
            );
            (StatusCode::FORBIDDEN, words)
        } else {
            let words = format!(
                "error: the server follows no objects{place}\n\
                 hint: name the place when you start kubectl spy serve\n"
            );
            (StatusCode::NOT_FOUND, words)
        })
    }

    /// The code and the error, if the snapshot lacks an object that it names.
    pub fn absence(&self, snapshot: &Snapshot) -> Option<(StatusCode, String)> {
        let absent = self.absent(snapshot)?;
        let words = format!(
            "error: \"{absent}\" not found among the followed objects\n\
             hint: name it when you start kubectl spy serve, or see /spy/v1/status\n"
        );
        Some((StatusCode::NOT_FOUND, words))
    }

    /// The first object that it names and that the snapshot does not have.
    fn absent<'f>(&'f self, snapshot: &Snapshot) -> Option<&'f str> {
        let is_there = |word: &&String| {
            let mut rows = snapshot.rows.iter();
            rows.any(|row| is_named(row, word) && self.is_in_place(row))
        };
        let absent = self.objects.iter().find(|word| !is_there(word));
        absent.map(String::as_str)
    }

    fn names(&self, row: &ServedRow) -> bool {
        self.objects.is_empty() || self.objects.iter().any(|word| is_named(row, word))
    }

    fn is_in_place(&self, row: &ServedRow) -> bool {
        let object = &row.object_ref;
        let is_of = |cluster: &String| **cluster == *object.cluster;
        self.cluster.as_ref().is_none_or(is_of)
            && (self.namespace.is_none()
                || object.namespace.as_deref() == self.namespace.as_deref())
    }
}

/// Whether `TYPE/NAME` or `TYPE` names the object of a row.
fn is_named(row: &ServedRow, word: &str) -> bool {
    match word.split_once('/') {
        Some((of_type, name)) => row.is_of_type(of_type) && *row.object_ref.name == *name,
        None => row.is_of_type(word),
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::WatchRecord;
    use super::super::snapshot::testing::{failed_pod, snapshot};
    use super::*;

    fn params(query: &str) -> Params {
        Params::of(&format!("/x?{query}").parse().expect("an address"))
    }

    #[test]
    fn parameters_are_those_of_a_form() {
        let given = params("object=a%2Fb&object=c+d&t=secret&unhealthy&x");
        assert_eq!(given.all("object").collect::<Vec<_>>(), ["a/b", "c d"]);
        assert_eq!(given.has("unhealthy"), Ok(true));
        assert_eq!(given.has("explain"), Ok(false));
        assert_eq!(given.to_query(), "object=a%2Fb&object=c+d&unhealthy=&x=");
        assert_eq!(params("t=secret").to_query(), "");
        let unknown = given
            .only(&["object", "unhealthy"])
            .expect_err("x is unknown");
        assert_eq!(
            unknown.to_string(),
            "unknown parameter \"x\"; this path takes object, unhealthy"
        );
        for query in ["cluster=a&cluster=b", "namespace=a&namespace="] {
            let repeated = params(query).only(&[CLUSTER, NAMESPACE]);
            let repeated = repeated.expect_err(query).to_string();
            assert!(repeated.contains("more than once"), "{repeated}");
        }
        let invalid = params("explain=maybe").has("explain").expect_err("a word");
        assert!(invalid.to_string().contains("expected true or false"));
    }

    #[test]
    fn a_place_that_is_not_followed_is_an_error() {
        let refusal = |seen: &Snapshot, query: &str| {
            let filter = RowFilter::of(&params(query)).expect("valid parameters");
            filter.unfollowed(seen).map(|(code, _)| code.as_u16())
        };
        let everywhere = || WatchRecord {
            v: WatchRecord::V,
            cluster: "test".to_owned(),
            resource: "pods".to_owned(),
            namespace: None,
            name: None,
            labels: None,
            fields: None,
            requested: true,
            state: "live",
            cause: None,
        };
        let mut seen = snapshot(Vec::new());
        seen.watches = vec![WatchRecord {
            namespace: Some("shop".to_owned()),
            ..everywhere()
        }];
        assert_eq!(refusal(&seen, ""), None);
        assert_eq!(refusal(&seen, "namespace=shop&unhealthy"), None);
        assert_eq!(refusal(&seen, "namespace=other&unhealthy"), Some(404));
        assert_eq!(refusal(&seen, "cluster=other&namespace=shop"), Some(404));
        // Members of an inventory can be elsewhere.
        seen.rows = snapshot(vec![failed_pod("web", "it fails")]).rows;
        seen.watches.clear();
        assert_eq!(refusal(&seen, "namespace=shop"), None);
        seen.rows.clear();
        seen.hides_requested = true;
        assert_eq!(refusal(&seen, ""), Some(403));
        seen.watches = vec![everywhere()];
        assert_eq!(refusal(&seen, "namespace=other"), None);
    }

    #[test]
    fn an_object_brings_its_dependents() {
        let mut owner = failed_pod("web", "it fails");
        owner.object_ref.kind = "Deployment".into();
        owner.object_ref.api_version = "apps/v1".into();
        let mut below = failed_pod("web-1", "it fails");
        below.depth = 1;
        let mut other = failed_pod("api", "it fails");
        other.is_unhealthy = false;
        let snapshot = snapshot(vec![owner, below, other]);
        for (query, names) in [
            ("", &["web", "web-1", "api"][..]),
            ("object=deploy/web", &["web", "web-1"]),
            ("object=po", &["web-1", "api"]),
            ("object=deploy/web&object=pod/api", &["web", "web-1", "api"]),
            ("unhealthy", &["web", "web-1"]),
            ("namespace=prod", &[]),
            ("namespace=&unhealthy", &["web", "web-1"]),
            ("cluster=test&unhealthy", &["web", "web-1"]),
            ("cluster=other", &[]),
            ("object=deploy/wbe", &[]),
        ] {
            let filter = RowFilter::of(&params(query)).expect("valid parameters");
            let found = filter.rows(&snapshot);
            let found: Vec<&str> = found.iter().map(|row| &*row.object_ref.name).collect();
            assert_eq!(found, names, "{query}");
        }
        let filter = RowFilter::of(&params("object=po&object=deploy/wbe")).expect("valid");
        assert_eq!(filter.absent(&snapshot), Some("deploy/wbe"));
    }
}
