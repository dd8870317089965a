//! The user's words for types: `deploy`, `Deployment`, `deployments.apps`, `deployments.v1.apps`.

use crate::object::ResourceType;

/// A type word as the user typed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeWord<'a> {
    text: &'a str,
}

/// One interpretation of a word.
struct TypeReading<'a> {
    name: &'a str,
    group: Option<&'a str>,
    version: Option<&'a str>,
}

impl<'a> TypeWord<'a> {
    /// Accepts any text.
    pub fn new(text: &'a str) -> TypeWord<'a> {
        TypeWord { text }
    }

    /// The first matching type of `types`, which must be in the server's order of preference.
    ///
    /// As in kubectl, a word is first read as `TYPE.version.group`, then as `TYPE.group`, where a prefix of the
    /// group suffices. The name is a plural, else a short name, else a singular, else a kind. Short names must be
    /// in lower case.
    pub fn find(&self, types: &'a [ResourceType]) -> Option<&'a ResourceType> {
        self.readings().find_map(|reading| reading.find(types))
    }

    /// The name without version and group, for kubectl's error.
    pub fn name(&self) -> &'a str {
        self.text.split('.').next().unwrap_or(self.text)
    }

    fn readings(&self) -> impl Iterator<Item = TypeReading<'a>> {
        let mut parts = self.text.splitn(3, '.');
        let full = match (parts.next(), parts.next(), parts.next()) {
            (Some(name), Some(version), Some(group)) => Some(TypeReading {
                name,
                group: Some(group),
                version: Some(version),
            }),
            _ => None,
        };
        let (name, group) = match self.text.split_once('.') {
            Some((name, group)) => (name, Some(group)),
            None => (self.text, None),
        };
        let version = None;
        full.into_iter().chain([TypeReading {
            name,
            group,
            version,
        }])
    }
}

impl TypeReading<'_> {
    fn find<'t>(&self, types: &'t [ResourceType]) -> Option<&'t ResourceType> {
        let exactly = |group: &str| self.group.is_none_or(|wanted| wanted == group);
        let cut_short = |group: &str| {
            self.group
                .is_some_and(|wanted| !wanted.is_empty() && group.starts_with(wanted))
        };
        self.find_in(types, exactly)
            .or_else(|| self.find_in(types, cut_short))
    }

    fn find_in<'t>(
        &self,
        types: &'t [ResourceType],
        group_fits: impl Fn(&str) -> bool,
    ) -> Option<&'t ResourceType> {
        let candidates = || {
            types.iter().filter(|found| {
                let resource = &found.resource;
                group_fits(&resource.group)
                    && self
                        .version
                        .is_none_or(|wanted| wanted == &*resource.version)
            })
        };
        let name = self.name.to_lowercase();
        candidates()
            .find(|found| *found.resource.plural == *name)
            .or_else(|| {
                candidates().find(|found| found.short_names.iter().any(|short| short == self.name))
            })
            .or_else(|| candidates().find(|found| found.singular == name))
            .or_else(|| candidates().find(|found| found.resource.kind.to_lowercase() == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Resource, well_known};

    fn check(text: &str) -> String {
        match TypeWord::new(text).find(well_known()) {
            Some(found) => format!("{} {}", found.resource.api_version(), found.resource.plural),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn words_mean_the_same_types_as_in_kubectl() {
        for (word, expect) in [
            ("deployments", "apps/v1 deployments"),
            ("deployment", "apps/v1 deployments"),
            ("Deployment", "apps/v1 deployments"),
            ("DEPLOYMENTS", "apps/v1 deployments"),
            ("deploy", "apps/v1 deployments"),
            ("DEPLOY", "none"),
            ("deployments.apps", "apps/v1 deployments"),
            ("deploy.apps", "apps/v1 deployments"),
            ("deployments.v1.apps", "apps/v1 deployments"),
            ("deployments.v1beta1.apps", "none"),
            ("deployments.extensions", "none"),
            ("pods", "v1 pods"),
            ("po", "v1 pods"),
            ("pods.v1.", "v1 pods"),
            ("pods.", "v1 pods"),
            ("Pod.v1.", "v1 pods"),
            ("pods.v1", "none"),
            ("endpoints", "v1 endpoints"),
            ("ep", "v1 endpoints"),
            ("ev", "v1 events"),
            ("events", "v1 events"),
            ("events.events.k8s.io", "events.k8s.io/v1 events"),
            ("events.v1.events.k8s.io", "events.k8s.io/v1 events"),
            ("ingresses.networking", "networking.k8s.io/v1 ingresses"),
            ("ing.networking.k8s.io", "networking.k8s.io/v1 ingresses"),
            ("crds", "apiextensions.k8s.io/v1 customresourcedefinitions"),
            (
                "csistoragecapacity",
                "storage.k8s.io/v1 csistoragecapacities",
            ),
            ("", "none"),
            (".", "none"),
            ("..", "none"),
            ("foo", "none"),
        ] {
            assert_eq!(check(word), expect, "{word}");
        }
    }

    #[test]
    fn a_kind_is_found_if_its_singular_differs() {
        let types = [ResourceType {
            resource: Resource {
                group: "example.com".into(),
                version: "v1".into(),
                plural: "widgets".into(),
                kind: "FancyWidget".into(),
                namespaced: true,
            },
            singular: "widget".to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            verbs: Vec::new(),
            has_status: false,
        }];
        for word in [
            "fancywidget",
            "FancyWidget.example.com",
            "widget",
            "widgets.v1.example.com",
        ] {
            assert!(TypeWord::new(word).find(&types).is_some(), "{word}");
        }
        assert!(TypeWord::new("fancywidgets").find(&types).is_none());
    }

    #[test]
    fn only_events_share_a_short_name() {
        let mut names: Vec<&String> = well_known()
            .iter()
            .filter(|known| &*known.resource.kind != "Event")
            .flat_map(|known| known.short_names.iter().chain([&known.singular]))
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
