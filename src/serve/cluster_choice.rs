//! `ClusterChoice`: which of the followed clusters a request is about, and what an answer lacks of them.

use axum::response::Response;
use http::header::WARNING;
use http::{HeaderValue, StatusCode};

use super::params::{CLUSTER, Params};
use super::served_cluster::ServedCluster;
use super::snapshot::Snapshot;
use super::web_server::text;

/// The clusters that a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClusterChoice<'p> {
    /// All that the server follows.
    All,
    /// The one with this name.
    One(&'p str),
}

impl<'p> ClusterChoice<'p> {
    /// The choice of these parameters.
    pub(super) fn of(params: &'p Params) -> ClusterChoice<'p> {
        match params.first(CLUSTER) {
            Some(name) => ClusterChoice::One(name),
            None => ClusterChoice::All,
        }
    }

    /// Fails with the answer, unless the objects of the clusters are read.
    pub(super) fn check_read(self, snapshot: &Snapshot) -> Result<(), Box<Response>> {
        match self.unread(snapshot) {
            None => Ok(()),
            Some((code, words)) => Err(Box::new(text(code, words))),
        }
    }

    /// The code and the error, unless the objects of the clusters are read. Of all clusters, those that cannot be read do not
    /// count: [`ClusterChoice::warn`] names them. An empty answer would look like an empty cluster.
    pub(super) fn unread(self, snapshot: &Snapshot) -> Option<(StatusCode, String)> {
        let unread = |why: &str| {
            let words = format!("error: {why}\nhint: wait until /readyz answers ok\n");
            Some((StatusCode::SERVICE_UNAVAILABLE, words))
        };
        match self {
            ClusterChoice::All if snapshot.link.is_read => None,
            ClusterChoice::All => unread("the cluster is not read yet"),
            ClusterChoice::One(name) => match snapshot.cluster_named(name) {
                None => Some((StatusCode::NOT_FOUND, snapshot.unknown_cluster(name))),
                Some(cluster) if cluster.is_read => None,
                Some(cluster) => unread(&cluster.absence().unwrap_or_default()),
            },
        }
    }

    /// The answer with a `Warning` if the reader may not list some of the followed objects, and one for each chosen cluster that
    /// cannot be read now: its objects are as they were
    /// (<https://www.rfc-editor.org/rfc/rfc7234#section-5.5>, as API servers use it).
    pub(super) fn warn(self, snapshot: &Snapshot, mut answer: Response) -> Response {
        let is_chosen = |cluster: &&ServedCluster| match self {
            ClusterChoice::All => true,
            ClusterChoice::One(name) => *cluster.name == *name,
        };
        let clusters = snapshot.clusters.iter().filter(is_chosen);
        for words in clusters.filter_map(ServedCluster::absence) {
            add_warning(&mut answer, &words);
        }
        if snapshot.hides_requested {
            add_warning(&mut answer, "you may not list some of the followed objects");
        }
        answer
    }
}

/// Adds a `Warning` with these words. A header has only printable characters of ASCII.
pub(super) fn add_warning(answer: &mut Response, words: &str) {
    let plain = |c: char| match c {
        '"' => '\'',
        '\\' => '/',
        c if c == ' ' || c.is_ascii_graphic() => c,
        _ => '?',
    };
    let words: String = words.chars().map(plain).collect();
    if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{words}\"")) {
        answer.headers_mut().append(WARNING, value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::testing::snapshot;
    use super::*;

    /// Two clusters: `edge-1` is read, and `edge-2` cannot be read.
    fn fleet() -> Snapshot {
        let mut fleet = snapshot(Vec::new());
        let mut first = ServedCluster::alone("edge-1".into());
        first.is_read = true;
        let mut second = ServedCluster::alone("edge-2".into());
        second.trouble = Some("\"a\\b\"\r\nSet-Cookie: é".to_owned());
        fleet.clusters = vec![first, second];
        fleet.link.is_read = true;
        fleet
    }

    #[test]
    fn a_cluster_is_chosen_by_its_name() {
        let fleet = fleet();
        for (query, code) in [
            ("", None),
            ("cluster=edge-1", None),
            ("cluster=edge-2", Some(503)),
            ("cluster=edge-3", Some(404)),
            ("cluster=", Some(404)),
        ] {
            let params = Params::of(&format!("/x?{query}").parse().expect("an address"));
            let checked = ClusterChoice::of(&params).check_read(&fleet);
            let found = checked.err().map(|answer| answer.status().as_u16());
            assert_eq!(found, code, "{query}");
        }
        let unread = snapshot(Vec::new());
        assert!(ClusterChoice::All.check_read(&unread).is_err());
    }

    #[test]
    fn an_answer_warns_of_what_it_lacks() {
        let warnings = |choice: ClusterChoice<'_>, snapshot: &Snapshot| -> Vec<String> {
            let answer = choice.warn(snapshot, text(StatusCode::OK, String::new()));
            let found = answer.headers().get_all(WARNING).iter();
            let found = found.filter_map(|value| value.to_str().ok());
            found.map(str::to_owned).collect()
        };
        let fleet = fleet();
        let expect = ["299 - \"edge-2: 'a/b'??Set-Cookie: ?\""];
        assert_eq!(warnings(ClusterChoice::All, &fleet), expect);
        assert!(warnings(ClusterChoice::One("edge-1"), &fleet).is_empty());
        // The only cluster of a server was read before.
        let mut alone = snapshot(Vec::new());
        let mut only = ServedCluster::alone("test".into());
        only.is_read = true;
        alone.clusters = vec![only];
        assert!(warnings(ClusterChoice::All, &alone).is_empty());
        alone.clusters[0].trouble = Some("connection refused".to_owned());
        let expect = ["299 - \"test: connection refused\""];
        assert_eq!(warnings(ClusterChoice::All, &alone), expect);
        assert_eq!(warnings(ClusterChoice::One("test"), &alone), expect);
    }
}
