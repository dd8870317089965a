//! What stands below the heading of a version, in each of the formats for people.

use super::draw::Draw;
use super::formats::Format;
use super::view::{Creation, known};
use crate::diff::{Diff, Filter, LeftOut, Noise, Shown};
use crate::object::Doc;
use crate::object::list_keys::ListKeys;
use crate::object::managed_fields::Writers;
use crate::render::diff::{
    Extent, Standing, Verb, change_lines, created_lines, tree_lines, whole_lines,
};
use crate::render::style::Role;
use crate::render::text::escape_line;
use crate::render::unified::unified;
use crate::render::yaml::yaml;
use crate::watch::Version;

/// What diffs call the side on which there is nothing.
const NOTHING: &str = "/dev/null";

/// A version and what it holds.
#[derive(Clone, Copy)]
pub(super) struct Read<'r> {
    pub(super) version: &'r Version,
    pub(super) doc: &'r Doc,
}

impl Draw<'_> {
    /// What is different between two versions.
    pub(super) fn body<'a>(
        &self,
        (diff, writers): (&Diff<'a>, &Writers<'a>),
        (old, now): (Read<'_>, Read<'_>),
    ) -> Vec<String> {
        self.with_view(|view| match self.view.format {
            Format::Tree => tree_lines(diff, writers, view, Extent::Changed),
            Format::Full => tree_lines(diff, writers, view, Extent::Whole),
            Format::Diff => {
                // Of a version that several wrote, what those wrote who are asked for.
                let theirs = (!self.view.shown.by.is_everyone()).then(|| diff.partly(|_| true));
                let doc = theirs.as_ref().unwrap_or(now.doc);
                self.unified(Some(old), Some(Read { doc, ..now }))
            }
            _ => change_lines(diff, writers, view),
        })
    }

    /// What an object is that is there, or came.
    pub(super) fn whole(&self, verb: Verb, now: Read<'_>) -> Vec<String> {
        let object = self.view.redactor.shown(now.doc.root());
        let is_new = matches!(verb, Verb::Created | Verb::Recreated);
        let is_whole = self.view.creation == Creation::Whole;
        self.with_view(|view| match self.view.format {
            Format::Full if verb == Verb::Baseline => whole_lines(object, view, Standing::There),
            _ if !is_new => Vec::new(),
            Format::Full => whole_lines(object, view, Standing::New),
            Format::Tree if is_whole => whole_lines(object, view, Standing::New),
            Format::Diff => self.unified(None, Some(now)),
            _ if is_whole => {
                let paint = |line: String| view.look.styles.paint(Role::Added, &line);
                let lines = self.yaml(now).into_iter();
                lines.map(|line| paint(format!("+ {line}"))).collect()
            }
            _ => created_lines(object, view),
        })
    }

    /// A unified diff of both versions as YAML.
    pub(super) fn unified(&self, old: Option<Read<'_>>, now: Option<Read<'_>>) -> Vec<String> {
        let lines = |side: Option<Read<'_>>| side.map_or_else(Vec::new, |side| self.yaml(side));
        let name = |side: Option<Read<'_>>| match side {
            Some(Read { version, .. }) => {
                let object = escape_line(&version.object.to_string()).into_owned();
                match known(&version.version) {
                    Some(version) => format!("{object} {version}"),
                    None => object,
                }
            }
            None => NOTHING.to_owned(),
        };
        let styles = self.look.styles;
        unified((&lines(old), &lines(now)), (&name(old), &name(now)), styles)
    }

    /// What is asked for of a version as YAML, without what is not worth a look; nothing if nothing is.
    fn yaml(&self, side: Read<'_>) -> Vec<String> {
        let noise = self.noise();
        let mut without = Vec::new();
        if !noise.contains(&Noise::ManagedFields) {
            without.push("managedFields");
        }
        if !noise.contains(&Noise::Version) {
            without.extend(["resourceVersion", "generation"]);
        }
        let object = self.view.redactor.shown(side.doc.root());
        let left_out = left_out(&self.view.shown.filter, object);
        if left_out.has(object) {
            return Vec::new();
        }
        yaml(object, &left_out.and_metadata(object, &without))
    }
}

/// What of an object a filter leaves out. The lists of kinds that are not built in are read as they look: to
/// write an object down must not settle how they are compared.
pub(super) fn left_out<'a>(filter: &Filter, object: Shown<'a>) -> LeftOut<'a> {
    filter.left_out([object], ListKeys::builtin())
}
