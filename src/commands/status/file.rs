//! `status --from FILE`: the objects of a file that records no events, or at its end, in their order, each with the objects
//! below it that it owns.
//!
//! An object with the same uid as another stands alone: nothing can be its dependent.

use super::Args;
use super::columns::StatusColumns;
use super::documents::{Documents, REDACTED};
use super::file_tree::FileTree;
use super::file_versions::is_event;
use super::options::{HealthFilter, RowOptions, StatusFormat, Titles};
use super::rows::StatusRow;
use super::view::{NOTHING_UNHEALTHY, are_spread, listing};
use crate::commands::{Answer, CommandError, Context, Ended};
use crate::model::Model;
use crate::object::{Doc, ObjectRef};
use crate::render::canvas::Canvas;
use crate::render::json::line::line;
use crate::render::json::status::{StatusRecord, TreePlace};
use crate::render::text::escape_line;
use crate::watch::FileTransport;

/// Shows the objects of a file with this name.
pub(super) fn show_objects(
    args: &Args,
    (name, file): (&str, &FileTransport),
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let objects = file.objects();
    let now = context.env.now();
    // Of what is not well, Events are no objects: they have no state.
    let is_row: fn(&ObjectRef) -> bool = if args.unhealthy {
        |object| !is_event(object)
    } else {
        |_| true
    };
    let tree = FileTree::of(&objects, args.rules, now, is_row);
    let rows = tree.rows();
    let mut yaml = Documents::new();
    let view = FileView {
        args,
        name,
        objects: &objects,
        rows: &rows,
        model: tree.model(),
    };
    let lines = view.lines(&mut yaml, Canvas::unbounded(context.look(), now));
    context.print(&lines)?;
    if rows.is_empty() {
        context.note(&format!("No resources found in {name}."));
    }
    if yaml.has_secret {
        context.hint(REDACTED);
    }
    refuse_unreadable(name, &rows, file)?;
    let is_well = rows.iter().all(|(_, row)| row.assessment.is_well());
    let answer = if rows.is_empty() {
        Answer::NoObject
    } else {
        Answer::from(!is_well)
    };
    args.wait.conclude(Ended::Answered, answer, [])
}

/// The rows of a file, with the places of their objects in it.
struct FileView<'v> {
    args: &'v Args,
    name: &'v str,
    objects: &'v [(ObjectRef, Doc)],
    rows: &'v [(usize, StatusRow<'v>)],
    model: &'v Model,
}

impl FileView<'_> {
    fn lines(&self, yaml: &mut Documents, canvas: Canvas) -> Vec<String> {
        let health = self.args.options().health;
        let shown = in_file_order(self.rows).into_iter();
        let shown = shown.filter(|(_, row)| health.includes(row));
        match self.args.output {
            StatusFormat::Json => shown.map(|(_, row)| self.record(row, canvas)).collect(),
            StatusFormat::Yaml => shown
                .flat_map(|(place, _)| yaml.document(&self.objects[place].1))
                .collect(),
            StatusFormat::Name => {
                let name =
                    |row: &StatusRow<'_>| escape_line(&row.object.resource_name()).into_owned();
                shown.map(|(_, row)| name(row)).collect()
            }
            StatusFormat::Text | StatusFormat::Wide => {
                table(self.rows, self.model, self.args.options(), canvas)
            }
        }
    }

    fn record(&self, row: &StatusRow<'_>, canvas: Canvas) -> String {
        let place = TreePlace {
            owner: row.owner.as_ref(),
            depth: row.depth,
        };
        let record = StatusRecord::new(self.name, &row.object, row.assessment, canvas.now);
        let record = record.at(place, row.worst());
        line(&if self.args.explain {
            record.explained(row.assessment)
        } else {
            record
        })
    }
}

fn in_file_order<'r, 'a>(rows: &'r [(usize, StatusRow<'a>)]) -> Vec<(usize, &'r StatusRow<'a>)> {
    let mut rows: Vec<_> = rows.iter().map(|(place, row)| (*place, row)).collect();
    rows.sort_by_key(|(place, _)| *place);
    rows
}

/// Fails if an object cannot be read or has no status, and if the file records the failure of a watch. The other objects are
/// printed by then.
fn refuse_unreadable(
    name: &str,
    rows: &[(usize, StatusRow<'_>)],
    file: &FileTransport,
) -> Result<(), CommandError> {
    let unreadable = file.unreadable().into_iter();
    let unreadable = unreadable.map(|what| format!("error: {what}"));
    let rows = in_file_order(rows).into_iter();
    let without_status = rows.filter_map(|(_, row)| {
        let error = row.assessment.verdict.error.as_ref()?;
        Some(format!("error: {name}: {}: {error}", row.object))
    });
    let failed = file
        .end()
        .err()
        .map(|error| format!("error: {name}: {error}"));
    let lines: Vec<String> = unreadable.chain(without_status).chain(failed).collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(CommandError::failed(lines.join("\n")))
}

fn table(
    rows: &[(usize, StatusRow<'_>)],
    model: &Model,
    options: RowOptions,
    canvas: Canvas,
) -> Vec<String> {
    let rows: Vec<StatusRow<'_>> = rows.iter().map(|(_, row)| row.clone()).collect();
    let columns = StatusColumns {
        namespaces: are_spread(&rows),
        live: false,
        options,
        printed: Vec::new(),
        width: canvas.look.width,
    };
    let mut lines = listing(rows.into(), &columns, model, canvas);
    let has_counts = options.titles == Titles::Shown && options.health == HealthFilter::Unhealthy;
    if has_counts && lines.len() == 1 {
        lines.push(NOTHING_UNHEALTHY.to_owned());
    }
    lines
}
