//! `ReaderRights`: what a reader may read, and what a snapshot shows of that.
//!
//! The rule: a reader sees an object if he may list its type in its namespace. He sees what the server concluded from several
//! objects only if he may list every source that the server has ever read. Otherwise he sees each object judged by itself.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, Hash};
use std::str::FromStr;
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::object::Resource;
use crate::render::json::RefRecord;

/// What the API server can be asked about a reader.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReadRight {
    /// To list a type.
    List(SourcePlace),
    /// To read every object of a type by its name.
    Get(SourcePlace),
    /// To watch a type.
    Watch(SourcePlace),
    /// To read the logs of the Pods in a namespace.
    Logs(Arc<str>),
}

/// Where objects are listed: a type in a namespace, or everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourcePlace {
    /// The type.
    pub resource: Resource,
    /// The namespace; `None` for all, and for cluster-scoped types.
    pub namespace: Option<Arc<str>>,
}

/// The rights of a reader, as the API server has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReaderRights {
    /// Those of the server itself.
    Everything,
    /// These, and no others.
    Only(Arc<GrantedRights>),
}

/// What a reader may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantedRights {
    /// The places that he may list, by their kind. Each event asks for one, so a look-up makes no copy of the names.
    listed: HashMap<Arc<str>, Vec<GroupPlaces>>,
    /// The namespaces whose logs he may read.
    logs: HashSet<Arc<str>>,
}

/// Where a reader may list a kind of this group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct GroupPlaces {
    group: Arc<str>,
    is_everywhere: bool,
    namespaces: HashSet<Arc<str>>,
}

/// The rights of a reader in eight letters: `9f3a12bc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RightsMark([u8; 4]);

impl fmt::Display for RightsMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl FromStr for RightsMark {
    type Err = ();

    fn from_str(text: &str) -> Result<RightsMark, ()> {
        let is_mark = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(text, 16).ok().filter(|_| is_mark);
        number.map(|it| RightsMark(it.to_be_bytes())).ok_or(())
    }
}

fn hashed(part: impl Hash) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(part)
}

/// How much of a conclusion a reader sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// With everything that the server knows.
    Whole,
    /// From each object alone.
    Alone,
}

impl GrantedRights {
    /// Adds a right.
    pub fn grant(&mut self, right: ReadRight) {
        match right {
            ReadRight::List(place) => {
                let of_kind = self.listed.entry(place.resource.kind).or_default();
                let group = place.resource.group;
                let known = of_kind.iter().position(|of| of.group == group);
                let at = known.unwrap_or(of_kind.len());
                if known.is_none() {
                    of_kind.push(GroupPlaces {
                        group,
                        ..GroupPlaces::default()
                    });
                }
                of_kind[at].is_everywhere |= place.namespace.is_none();
                of_kind[at].namespaces.extend(place.namespace);
            }
            ReadRight::Logs(namespace) => {
                self.logs.insert(namespace);
            }
            // Nothing of a snapshot is shown for them.
            ReadRight::Get(_) | ReadRight::Watch(_) => {}
        }
    }

    fn may_list(&self, group: &str, kind: &str, namespace: Option<&str>) -> bool {
        let of_kind = self.listed.get(kind).into_iter().flatten();
        let mut of_group = of_kind.filter(|of| *of.group == *group);
        of_group.any(|of| {
            let is_within = |name: &str| of.namespaces.contains(name);
            of.is_everywhere || namespace.is_some_and(is_within)
        })
    }

    /// Whether the reader may list an object.
    pub fn may_see(&self, object: &RefRecord) -> bool {
        let group = object
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group);
        self.may_list(group, &object.kind, object.namespace.as_deref())
    }

    /// The same number for the same rights. The order of the places does not matter.
    fn sum(&self) -> u64 {
        let kinds = self.listed.iter();
        let groups = kinds.flat_map(|(kind, of_kind)| of_kind.iter().map(move |of| (kind, of)));
        let listed = groups.map(|(kind, of)| {
            let namespaces = of
                .namespaces
                .iter()
                .map(|name| hashed((kind, &of.group, name)));
            let everywhere = hashed((kind, &of.group, of.is_everywhere));
            namespaces.fold(everywhere, u64::wrapping_add)
        });
        let logs = self.logs.iter().map(hashed);
        listed.chain(logs).fold(0, u64::wrapping_add)
    }

    /// Whether the reader may read the logs of a namespace.
    pub fn may_read_logs(&self, namespace: Option<&str>) -> bool {
        namespace.is_some_and(|name| self.logs.contains(name))
    }
}

impl ReaderRights {
    /// Whether the reader may list a place.
    pub fn may_list(&self, place: &SourcePlace) -> bool {
        match self {
            ReaderRights::Everything => true,
            ReaderRights::Only(granted) => {
                let resource = &place.resource;
                granted.may_list(&resource.group, &resource.kind, place.namespace.as_deref())
            }
        }
    }

    /// What stands for the rights in the ids of events; `None` for those of the server. Other rights have another mark.
    pub fn mark(&self, judgement: Judgement) -> Option<RightsMark> {
        let ReaderRights::Only(granted) = self else {
            return None;
        };
        let [a, b, c, d, ..] = hashed((granted.sum(), judgement)).to_be_bytes();
        Some(RightsMark([a, b, c, d]))
    }

    /// How much of the conclusions from all these places the reader sees.
    pub fn judgement<'p>(&self, places: impl IntoIterator<Item = &'p SourcePlace>) -> Judgement {
        if places.into_iter().all(|place| self.may_list(place)) {
            Judgement::Whole
        } else {
            Judgement::Alone
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use std::collections::BTreeSet;

    use super::super::served_row::OwnState;
    use super::super::snapshot::testing::{change, failed_pod, last_lines, pods, snapshot};
    use super::super::snapshot::{Link, Snapshot, SourceHealth};
    use super::*;
    use crate::render::json::LastLinesRecord;
    use crate::status::Status;

    fn list(resource: Resource, namespace: Option<&str>) -> ReadRight {
        ReadRight::List(SourcePlace {
            resource,
            namespace: namespace.map(Arc::from),
        })
    }

    fn config_maps() -> Resource {
        Resource {
            plural: "configmaps".into(),
            kind: "ConfigMap".into(),
            ..pods()
        }
    }

    /// A Pod that fails because of a `ConfigMap`, and that object. The Pod alone is Current.
    fn all() -> Arc<Snapshot> {
        let mut web = failed_pod("web", "configmap \"hidden\" not found");
        web.last_lines = vec![last_lines("a secret line")];
        let mut alone = failed_pod("web", "fine").assessment;
        let own = Arc::make_mut(&mut alone);
        (own.verdict.status, own.causes) = (Status::Current, Vec::new());
        web.own = Some(OwnState {
            assessment: alone,
            is_unhealthy: false,
        });
        // In the tree, it stands below an object that the reader may not see.
        web.depth = 1;
        web.owner = Some("an owner".into());
        let mut map = failed_pod("hidden", "it is gone");
        map.object_ref.kind = "ConfigMap".into();
        let mut deleted = change("configmap/hidden deleted");
        deleted.record.object = Some(map.object_ref.clone());
        web.last_changes = vec![deleted];
        let mut all = snapshot(vec![web, map]);
        all.shortfalls = vec!["hidden is not read".to_owned()];
        all.link = Link {
            words: "● live hidden".to_owned(),
            refused: vec!["hidden is forbidden".to_owned()],
            ..Link::default()
        };
        all.sources = ["pods", "configmaps"]
            .map(|resource| SourceHealth {
                cluster: "test".into(),
                resource: resource.to_owned(),
                namespace: "shop".to_owned(),
                is_up: true,
            })
            .into();
        let place = |resource| SourcePlace {
            resource,
            namespace: Some("shop".into()),
        };
        all.places = Arc::new(BTreeSet::from([pods(), config_maps()].map(place)));
        Arc::new(all)
    }

    /// Everything that a reader with these rights sees, as text.
    fn seen(rights: Vec<ReadRight>) -> String {
        let mut granted = GrantedRights::default();
        for right in rights {
            granted.grant(right);
        }
        let seen = all().for_reader(&ReaderRights::Only(Arc::new(granted)));
        let rows = seen.rows.iter().map(|row| {
            let lines = row.assessment.lines().map(str::to_owned);
            let changes = row.last_changes.iter().map(|change| change.text.clone());
            let quotes = row.last_lines.iter().flat_map(LastLinesRecord::texts);
            let lines: Vec<String> = lines.chain(changes).chain(quotes).collect();
            let lines = lines.join(" | ");
            let text = format!("{} {} {lines}", row.name(), row.status().as_str());
            text.trim_end().to_owned()
        });
        let mut lines: Vec<String> = rows.collect();
        lines.push(format!("unhealthy: {}", seen.unhealthy.len()));
        lines.push(format!(
            "{} {:?} {:?}",
            seen.link.words, seen.link.refused, seen.shortfalls
        ));
        let sources = seen.sources.iter().map(|source| &*source.resource);
        lines.push(format!("sources: {:?}", sources.collect::<Vec<_>>()));
        // What stands above an object is hidden from who may not see everything.
        let is_alone = seen.shortfalls.iter().any(|it| it.contains("by itself"));
        let web = seen.rows.iter().find(|row| &*row.object_ref.name == "web");
        assert!(web.is_none_or(|web| (web.depth == 0 && web.owner.is_none()) == is_alone));
        lines.join("\n")
    }

    #[test]
    fn a_reader_sees_what_he_may_list_and_nothing_that_rests_on_more() {
        let shop = |resource| list(resource, Some("shop"));
        assert_snapshot!(seen(vec![]), @r#"
        unhealthy: 0
        ● live [] ["each object is judged by itself: you may not list everything that the server reads"]
        sources: []
        "#);
        assert_snapshot!(seen(vec![shop(pods())]), @r#"
        pod/web Current
        unhealthy: 0
        ● live [] ["each object is judged by itself: you may not list everything that the server reads"]
        sources: ["pods"]
        "#);
        assert_snapshot!(seen(vec![shop(pods()), shop(config_maps())]), @r#"
        pod/web Failed configmap "hidden" not found | configmap/hidden deleted
        configmap/hidden Failed it is gone
        unhealthy: 2
        ● live hidden ["hidden is forbidden"] ["hidden is not read"]
        sources: ["pods", "configmaps"]
        "#);
        let logs = ReadRight::Logs("shop".into());
        let granted = vec![list(pods(), None), list(config_maps(), None), logs];
        assert_snapshot!(seen(granted), @r#"
        pod/web Failed configmap "hidden" not found | configmap/hidden deleted | app log: a secret line
        configmap/hidden Failed it is gone
        unhealthy: 2
        ● live hidden ["hidden is forbidden"] ["hidden is not read"]
        sources: ["pods", "configmaps"]
        "#);
        assert_snapshot!(seen(vec![list(pods(), Some("prod"))]), @r#"
        unhealthy: 0
        ● live [] ["each object is judged by itself: you may not list everything that the server reads"]
        sources: []
        "#);
    }

    #[test]
    fn other_rights_have_another_mark() {
        let mark = |rights: &[ReadRight], judgement| {
            let mut granted = GrantedRights::default();
            for right in rights {
                granted.grant(right.clone());
            }
            let mark = ReaderRights::Only(Arc::new(granted)).mark(judgement);
            let text = mark.expect("a reader of the cluster").to_string();
            assert_eq!(text.parse(), Ok(mark.expect("a mark")));
            text
        };
        let (pods, maps) = (
            list(pods(), Some("shop")),
            list(config_maps(), Some("shop")),
        );
        let alone = Judgement::Alone;
        let both = mark(&[pods.clone(), maps.clone()], alone);
        assert_eq!(mark(&[maps.clone(), pods.clone()], alone), both);
        for other in [
            mark(std::slice::from_ref(&pods), alone),
            mark(std::slice::from_ref(&maps), alone),
            mark(&[], alone),
            mark(&[pods.clone(), list(config_maps(), None)], alone),
            mark(&[pods.clone(), list(config_maps(), Some("prod"))], alone),
            mark(
                &[pods.clone(), maps.clone(), ReadRight::Logs("shop".into())],
                alone,
            ),
            mark(&[pods, maps], Judgement::Whole),
        ] {
            assert_ne!(other, both);
        }
        assert_eq!(ReaderRights::Everything.mark(Judgement::Whole), None);
        for text in ["", "1", "123456789", "1234567g", "+1234567"] {
            assert_eq!(text.parse::<RightsMark>(), Err(()), "{text}");
        }
    }

    #[test]
    fn the_owner_sees_the_snapshot_itself() {
        let all = all();
        assert!(Arc::ptr_eq(
            &all,
            &all.for_reader(&ReaderRights::Everything)
        ));
    }

    /// What a reader who may list only Pods gets does not depend on the `ConfigMap`, in any form.
    #[test]
    fn no_word_of_a_hidden_object_is_left() {
        let mut granted = GrantedRights::default();
        granted.grant(list(pods(), None));
        let rights = ReaderRights::Only(Arc::new(granted));
        let text = format!("{:?}", all().for_reader(&rights).rows);
        assert!(
            !text.contains("hidden") && !text.contains("secret"),
            "{text}"
        );
    }
}
