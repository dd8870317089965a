//! `NowPage`: what is not well now, worst first. With a state or a search, all objects that fit.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::frame::{copied, link};
use super::row::{RowPlace, class, row, sign};
use super::{MAX_ROWS, PageView, Section, Shown, View, foot};
use crate::render::count::named_or_counted;
use crate::render::text::{escape_line, shell_word};
use crate::render::unhealthy::{LookedAt, ReadShare};
use crate::serve::params::{ParamError, Params};
use crate::serve::served_cluster::ServedCluster;
use crate::serve::served_row::ServedRow;
use crate::serve::snapshot::{Snapshot, UnhealthyRow, WatchRecord};
use crate::status::Status;

/// The states in the order of their links: the worst first.
const STATES: [Status; 6] = [
    Status::Failed,
    Status::Unknown,
    Status::NotFound,
    Status::InProgress,
    Status::Terminating,
    Status::Current,
];

/// The most namespaces and kinds that have links.
const MAX_CHOICES: usize = 24;

/// The first page, with what the reader has chosen.
pub(in crate::serve) struct NowPage {
    params: Params,
    cluster: Option<String>,
    namespace: Option<String>,
    kind: Option<String>,
    state: Option<String>,
    search: String,
}

impl NowPage {
    /// The parameters that it takes.
    pub(in crate::serve) const NAMES: [&str; 5] = ["cluster", "namespace", "kind", "state", "q"];

    /// Reads the parameters.
    pub(in crate::serve) fn of(params: &Params) -> Result<NowPage, ParamError> {
        params.only(&NowPage::NAMES)?;
        let chosen = |name| params.first(name).filter(|value| !value.is_empty());
        Ok(NowPage {
            params: params.clone(),
            cluster: chosen("cluster").map(str::to_owned),
            namespace: chosen("namespace").map(str::to_owned),
            kind: chosen("kind").map(str::to_owned),
            state: chosen("state").map(str::to_owned),
            search: chosen("q").unwrap_or_default().to_owned(),
        })
    }

    /// Whether it shows only what is not well, below the owners.
    fn is_of_unhealthy(&self) -> bool {
        self.state.is_none() && self.search.is_empty()
    }

    fn takes(&self, row: &ServedRow) -> bool {
        let object = &row.object_ref;
        let is_of_cluster = |cluster: &String| *object.cluster == **cluster;
        let namespace = self.namespace.as_deref();
        let is_in = namespace.is_none() || object.namespace.as_deref() == namespace;
        let is_of_kind = |kind: &String| row.kind_and_group() == *kind;
        let is_of_state = |state: &String| row.status().as_str() == *state;
        is_in
            && self.cluster.as_ref().is_none_or(is_of_cluster)
            && self.kind.as_ref().is_none_or(is_of_kind)
            && self.state.as_ref().is_none_or(is_of_state)
            && self.is_found(row)
    }

    /// Whether the name, the place, the state or a reason of an object contains the searched text.
    fn is_found(&self, row: &ServedRow) -> bool {
        let wanted = self.search.to_lowercase();
        let holds = |text: &str| text.to_lowercase().contains(&wanted);
        let object = &row.object_ref;
        let cluster = row.label.as_ref().map(|_| &*object.cluster);
        wanted.is_empty()
            || holds(&row.name())
            || holds(&row.assessment.row.word)
            || object.namespace.as_deref().is_some_and(holds)
            || cluster.is_some_and(holds)
            || row.assessment.lines().any(holds)
            || row.last_changes.iter().any(|change| holds(&change.text))
    }

    /// The same address with another value of one parameter; without it if that is `None`.
    fn with(&self, name: &str, value: Option<&str>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.params.pairs().filter(|(given, _)| *given != name));
        if let Some(value) = value {
            query.append_pair(name, value);
        }
        format!("/?{}", query.finish())
    }

    /// Links to the objects of each state, with their numbers.
    fn states(&self, snapshot: &Snapshot) -> Markup {
        let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
        let is_of = |cluster: &String, row: &ServedRow| *row.object_ref.cluster == **cluster;
        let rows = snapshot.rows.iter().filter(|row| row.is_requested);
        for row in rows.filter(|row| self.cluster.as_ref().is_none_or(|it| is_of(it, row))) {
            *counts.entry(row.status()).or_default() += 1;
        }
        let is_chosen = |status: Status| self.state.as_deref() == Some(status.as_str());
        html! {
            nav.chips aria-label="States" {
                a href=(self.with("state", None)) aria-current=[self.state.is_none().then_some("true")] { "Not well" }
                @for status in STATES {
                    @if let Some(count) = counts.get(&status) {
                        a.(class(status)) href=(self.with("state", Some(status.as_str())))
                            aria-current=[is_chosen(status).then_some("true")] {
                            (sign(status)) " " (count) " " (status.as_str())
                        }
                    }
                }
            }
        }
    }

    /// Links to the values of a parameter, if there are several.
    fn choices(
        &self,
        name: &str,
        chosen: Option<&String>,
        values: &BTreeMap<String, usize>,
    ) -> Markup {
        let is_chosen = |value: &String| chosen == Some(value);
        html! {
            @if values.len() > 1 || chosen.is_some() {
                nav.chips aria-label=(name) {
                    a href=(self.with(name, None)) aria-current=[chosen.is_none().then_some("true")] { "every " (name) }
                    @for (value, count) in values.iter().take(MAX_CHOICES) {
                        a href=(self.with(name, Some(value))) aria-current=[is_chosen(value).then_some("true")] {
                            (Shown(value)) " " span.dim { (count) }
                        }
                    }
                    @if values.len() > MAX_CHOICES { span.dim { "and " (values.len() - MAX_CHOICES) " more" } }
                }
            }
        }
    }

    /// The rows that it may show, with their places.
    fn candidates<'s>(&self, snapshot: &'s Snapshot) -> Vec<(&'s ServedRow, RowPlace<'s>)> {
        if self.is_of_unhealthy() {
            let rows = snapshot.unhealthy.iter();
            let place = |it: &'s UnhealthyRow| RowPlace {
                depth: it.depth,
                beside: &it.beside,
                namespace: snapshot.namespace(),
                label: it.row.label.as_deref(),
            };
            return rows.map(|it| (&*it.row, place(it))).collect();
        }
        let alone = |row: &'s ServedRow| RowPlace {
            depth: 0,
            beside: &[],
            namespace: snapshot.namespace(),
            label: row.label.as_deref(),
        };
        let rows = snapshot.rows.iter();
        rows.map(|row| (&**row, alone(row))).collect()
    }
}

impl View for NowPage {
    fn of(&self, snapshot: &Snapshot) -> Option<PageView> {
        let candidates = self.candidates(snapshot);
        let mut namespaces: BTreeMap<String, usize> = BTreeMap::new();
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut clusters: BTreeMap<String, usize> = BTreeMap::new();
        for (row, _) in &candidates {
            let cluster = row.object_ref.cluster.to_string();
            *clusters.entry(cluster).or_default() += 1;
            if let Some(namespace) = &row.object_ref.namespace {
                *namespaces.entry(namespace.to_string()).or_default() += 1;
            }
            *kinds.entry(row.kind_and_group()).or_default() += 1;
        }
        let taken: Vec<_> = candidates
            .into_iter()
            .filter(|(row, _)| self.takes(row))
            .collect();
        let beyond = taken.len().saturating_sub(MAX_ROWS);
        let rows = taken.iter().take(MAX_ROWS);
        let rows: Vec<_> = rows.map(|(shown, place)| row(shown, place)).collect();
        let failed = snapshot.rows.iter();
        let failed = failed.filter(|row| row.is_requested && row.status() == Status::Failed);
        Some(PageView {
            title: format!("{} Failed · {}", failed.count(), snapshot.cluster_words()),
            summary: html! {
                h1 { (self.heading()) }
                (self.states(snapshot))
                (self.choices("cluster", self.cluster.as_ref(), &clusters))
                (self.choices("namespace", self.namespace.as_ref(), &namespaces))
                (self.choices("kind", self.kind.as_ref(), &kinds))
                @for line in self.absences(snapshot) { p.problem { (Shown(&line)) } }
                @if rows.is_empty() {
                    p.empty { (Shown(&self.nothing(snapshot))) }
                    @if let Some(scope) = self.scope(snapshot) { p.dim { (Shown(&scope)) } }
                }
            },
            rows,
            has_clusters: snapshot.is_of_several(),
            foot: html! { (foot(beyond, snapshot)) @if let Some(command) = self.command(snapshot) { (copied(&command)) } },
            link: link(snapshot),
        })
    }

    fn live_address(&self) -> String {
        format!("/live?{}", self.params.to_query())
    }

    fn section(&self) -> Section {
        Section::Now
    }

    fn search(&self) -> Option<&str> {
        Some(&self.search)
    }
}

impl NowPage {
    /// A line for each of several clusters whose objects are missing, or may be out of date.
    fn absences(&self, snapshot: &Snapshot) -> Vec<String> {
        let is_shown = |cluster: &&ServedCluster| {
            let chosen = self.cluster.as_ref();
            snapshot.is_of_several() && chosen.is_none_or(|name| **name == *cluster.name)
        };
        let clusters = snapshot.clusters.iter().filter(is_shown);
        clusters.filter_map(ServedCluster::absence).collect()
    }

    /// What the rows are.
    fn heading(&self) -> Markup {
        html! {
            @match &self.state {
                _ if self.is_of_unhealthy() => "What is not well",
                Some(state) => { (Shown(state)) " objects" },
                None => "Objects",
            }
            @if !self.search.is_empty() { " with “" (Shown(&self.search)) "”" }
        }
    }

    /// The command that shows the same, but for a search and a state that it has no flags for. `None` if nothing in a command
    /// would choose the objects.
    fn command(&self, snapshot: &Snapshot) -> Option<String> {
        if self.kind.is_none() && !self.is_of_unhealthy() {
            return None;
        }
        let mut words = vec!["kubectl spy status".to_owned()];
        words.extend(
            self.kind
                .as_deref()
                .map(|kind| shell_word(&kind.to_lowercase())),
        );
        if self.is_of_unhealthy() {
            words.push("--unhealthy".to_owned());
        }
        if let Some(namespace) = &self.namespace {
            words.push(format!("-n {}", shell_word(namespace)));
        } else {
            let place = escape_line(&snapshot.place).into_owned();
            words.extend(Some(place).filter(|it| !it.is_empty()));
        }
        let cluster = self.cluster.as_deref().unwrap_or(&snapshot.cluster);
        words.push(format!("--context {}", shell_word(cluster)));
        Some(words.join(" "))
    }

    /// The words for a view without rows.
    fn nothing(&self, snapshot: &Snapshot) -> String {
        let follows = || snapshot.follows(self.cluster.as_deref(), self.namespace.as_deref());
        let words = match () {
            () if !snapshot.link.is_read => "Reading the cluster…",
            () if self.is_of_some() && follows() => "No object fits.",
            () if self.is_of_some() && snapshot.hides_requested => {
                "You may not list the objects here."
            }
            () if self.is_of_some() => "The server follows no objects here.",
            () if !self.absences(snapshot).is_empty() => "Nothing is known to be unhealthy.",
            () => {
                let looked_at = LookedAt {
                    namespace: snapshot.namespace(),
                    read: read_share(snapshot),
                };
                return looked_at.nothing_unhealthy();
            }
        };
        words.to_owned()
    }

    /// Whether the reader chose some of the objects.
    fn is_of_some(&self) -> bool {
        let chosen = [&self.cluster, &self.namespace, &self.kind];
        !self.is_of_unhealthy() || chosen.iter().any(|chosen| chosen.is_some())
    }

    /// `looked at: deployments.apps,pods -l app=web in namespace shop of prod-eu`. `None` if nothing was, if the reader chose some
    /// of the objects, or if the sources have different selectors.
    fn scope(&self, snapshot: &Snapshot) -> Option<String> {
        if self.is_of_some() || !snapshot.link.is_read {
            return None;
        }
        let read = || requested(snapshot).filter(|watch| watch.is_read());
        let selectors: BTreeSet<String> = read().map(selectors).collect();
        let selector = selectors.first().filter(|_| selectors.len() == 1)?;
        let sources: BTreeSet<String> = read().map(type_or_object).collect();
        let are_types = read().all(|watch| watch.name.is_none());
        let noun = if are_types { "types" } else { "sources" };
        let sources = named_or_counted(sources.iter().map(String::as_str), noun);
        let place = match snapshot.namespace() {
            Some(namespace) => format!(" in namespace {namespace}"),
            None if &*snapshot.place == "-A" => " in all namespaces".to_owned(),
            None => String::new(),
        };
        let clusters: BTreeSet<&str> = read().map(|watch| &*watch.cluster).collect();
        let clusters = match clusters.first() {
            Some(only) if clusters.len() == 1 => (*only).to_owned(),
            Some(_) | None => format!("{} clusters", clusters.len()),
        };
        Some(format!(
            "looked at: {sources}{selector}{place} of {clusters}"
        ))
    }
}

/// The requested sources.
fn requested(snapshot: &Snapshot) -> impl Iterator<Item = &WatchRecord> {
    snapshot.watches.iter().filter(|watch| watch.requested)
}

/// How much of what was requested is known, and is shown to the reader. A type that does not exist takes nothing away.
fn read_share(snapshot: &Snapshot) -> ReadShare {
    let has_all = requested(snapshot).all(WatchRecord::is_answered);
    match requested(snapshot).any(WatchRecord::is_read) {
        false => ReadShare::Nothing,
        true if has_all && !snapshot.hides_requested => ReadShare::Whole,
        true => ReadShare::Part,
    }
}

/// `pods`, `pods/web`.
fn type_or_object(watch: &WatchRecord) -> String {
    match &watch.name {
        Some(name) => format!("{}/{name}", watch.resource),
        None => watch.resource.clone(),
    }
}

/// ` -l app=web`: the selectors of a source, as the flags of kubectl.
fn selectors(watch: &WatchRecord) -> String {
    let labels = watch.labels.as_ref().map(|it| format!(" -l {it}"));
    let fields = watch.fields.as_ref();
    let fields = fields.map(|it| format!(" --field-selector {it}"));
    [labels, fields].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::object::well_known_type;
    use crate::serve::rights::{GrantedRights, ReadRight, ReaderRights, SourcePlace};
    use crate::serve::snapshot::testing::{failed_pod, snapshot};

    fn names(query: &str, rows: usize) -> Vec<String> {
        let row = |number: usize| {
            let mut row = failed_pod(&format!("web-{number}"), "it fails");
            Arc::make_mut(&mut row.assessment).verdict.status =
                [Status::Failed, Status::Current][number % 2];
            row.is_unhealthy = number.is_multiple_of(2);
            row
        };
        let mut snapshot = snapshot((0..rows).map(row).collect());
        snapshot.unhealthy.retain(|it| it.row.is_unhealthy);
        let params = Params::of(&format!("/?{query}").parse().expect("an address"));
        let view = NowPage::of(&params).expect("valid parameters");
        let view = view.of(&snapshot).expect("a view");
        view.rows.into_iter().map(|row| row.id).collect()
    }

    #[test]
    fn a_view_shows_what_the_reader_chose() {
        for (query, expect) in [
            ("", &["uid-web-0", "uid-web-2"][..]),
            ("state=Current", &["uid-web-1", "uid-web-3"]),
            ("q=WEB-3", &["uid-web-3"]),
            ("q=it+fails&state=Failed", &["uid-web-0", "uid-web-2"]),
            ("namespace=prod", &[]),
            ("cluster=other", &[]),
            ("cluster=test", &["uid-web-0", "uid-web-2"]),
            ("namespace=shop&kind=Pod", &["uid-web-0", "uid-web-2"]),
        ] {
            assert_eq!(names(query, 4), expect, "{query}");
        }
    }

    /// A snapshot without rows that reads Deployments and Pods, and Events for evidence.
    fn all_well() -> Snapshot {
        let watch = |resource: &str, requested| WatchRecord {
            v: WatchRecord::V,
            cluster: "test".to_owned(),
            resource: resource.to_owned(),
            namespace: Some("shop".to_owned()),
            name: None,
            labels: None,
            fields: None,
            requested,
            state: "live",
            cause: None,
        };
        let mut snapshot = snapshot(Vec::new());
        snapshot.link.is_read = true;
        let followed = [
            ("deployments.apps", true),
            ("events", false),
            ("pods", true),
        ];
        snapshot.watches = followed.map(|(resource, it)| watch(resource, it)).into();
        snapshot
    }

    fn shown(snapshot: &Snapshot) -> String {
        let view = NowPage::of(&Params::default()).expect("valid parameters");
        view.of(snapshot).expect("a view").summary.into_string()
    }

    #[test]
    fn a_reader_without_rights_does_not_learn_that_all_is_well() {
        let place = |kind| SourcePlace {
            resource: well_known_type("", kind)
                .expect("a well-known kind")
                .resource
                .clone(),
            namespace: Some("shop".into()),
        };
        let mut all = all_well();
        all.watches.retain(|watch| watch.resource != "events");
        "configmaps".clone_into(&mut all.watches[0].resource);
        let places = ["ConfigMap", "Pod"].map(place);
        all.places = Arc::new(places.into());
        let all = Arc::new(all);
        let part = "Nothing unhealthy among the objects in namespace shop that could be read.";
        let seen = |rights: &GrantedRights| {
            let rights = ReaderRights::Only(Arc::new(rights.clone()));
            shown(&all.for_reader(&rights))
        };
        let mut rights = GrantedRights::default();
        let none = seen(&rights);
        let nothing = "No objects in namespace shop could be read.";
        assert!(
            none.contains(nothing) && !none.contains("looked at"),
            "{none}"
        );
        rights.grant(ReadRight::List(place("Pod")));
        let pods = seen(&rights);
        let scope = "looked at: pods in namespace shop of test";
        assert!(pods.contains(part) && pods.contains(scope), "{pods}");
        rights.grant(ReadRight::List(place("ConfigMap")));
        let whole = seen(&rights);
        assert!(whole.contains("Nothing is unhealthy"), "{whole}");
    }

    #[test]
    fn a_view_without_rows_names_no_more_than_it_looked_at() {
        let mut snapshot = all_well();
        snapshot.watches[0].state = "unserved";
        snapshot.watches[2].name = Some("web".to_owned());
        snapshot.clusters = ["test", "us"]
            .map(|name| ServedCluster::alone(name.into()))
            .into();
        let named = shown(&snapshot);
        let scope = "looked at: pods/web in namespace shop of test<";
        assert!(named.contains(scope), "{named}");
        snapshot.watches[0].state = "live";
        assert!(!shown(&snapshot).contains("of 2 clusters"));
        for at in [0, 2] {
            snapshot.watches[at].name = None;
            snapshot.watches[at].labels = Some("app=web".to_owned());
        }
        let selected = shown(&snapshot);
        let scope = "looked at: deployments.apps,pods -l app=web in namespace shop of test<";
        assert!(selected.contains(scope), "{selected}");
        snapshot.watches[0].labels = None;
        assert!(!shown(&snapshot).contains("looked at"));
    }

    #[test]
    fn a_view_without_rows_says_what_it_looked_at() {
        let mut snapshot = all_well();
        let all = shown(&snapshot);
        assert!(all.contains("<p class=\"empty\">Nothing is unhealthy in namespace shop.</p>"));
        let scope = "looked at: deployments.apps,pods in namespace shop of test";
        assert!(all.contains(scope), "{all}");
        snapshot.watches[2].state = "forbidden";
        let part = "Nothing unhealthy among the objects in namespace shop that could be read.";
        let scope = "looked at: deployments.apps in namespace shop of test";
        let shown = shown(&snapshot);
        assert!(shown.contains(part) && shown.contains(scope), "{shown}");
    }

    #[test]
    fn a_view_without_a_cluster_says_so() {
        let mut snapshot = snapshot(Vec::new());
        snapshot.link.is_read = true;
        let mut fleet = ["eu", "us"].map(|name| ServedCluster::alone(name.into()));
        fleet[0].is_read = true;
        snapshot.clusters = fleet.into();
        let shown = |query: &str| {
            let params = Params::of(&format!("/?{query}").parse().expect("an address"));
            let view = NowPage::of(&params).expect("valid parameters");
            view.of(&snapshot).expect("a view").summary.into_string()
        };
        let absent = "<p class=\"problem\">us: it is not read yet</p>";
        let all = shown("");
        assert!(all.contains(absent) && all.contains("Nothing is known to be unhealthy."));
        assert!(shown("cluster=us").contains(absent));
        assert!(!shown("cluster=eu").contains(absent));
    }

    #[test]
    fn a_view_has_the_command_that_shows_the_same() {
        let snapshot = snapshot(Vec::new());
        for (query, expect) in [
            (
                "",
                Some("kubectl spy status --unhealthy -n shop --context test"),
            ),
            (
                "kind=Deployment.apps&namespace=a+b",
                Some("kubectl spy status deployment.apps --unhealthy -n 'a b' --context test"),
            ),
            (
                "kind=Pod&state=Current",
                Some("kubectl spy status pod -n shop --context test"),
            ),
            ("state=Current", None),
            ("q=web&namespace=shop", None),
            (
                "cluster=edge-1",
                Some("kubectl spy status --unhealthy -n shop --context edge-1"),
            ),
        ] {
            let params = Params::of(&format!("/?{query}").parse().expect("an address"));
            let view = NowPage::of(&params).expect("valid parameters");
            assert_eq!(view.command(&snapshot).as_deref(), expect, "{query}");
        }
    }

    #[test]
    fn a_long_view_is_cut_and_counted() {
        assert_eq!(names("q=web", 500).len(), MAX_ROWS);
        let snapshot = snapshot((0..203).map(|n| failed_pod(&n.to_string(), "x")).collect());
        let view = NowPage::of(&Params::default()).expect("valid parameters");
        let view = view.of(&snapshot).expect("a view");
        assert!(view.foot.into_string().contains("and 3 more"));
    }
}
