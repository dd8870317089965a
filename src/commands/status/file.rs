//! `status --from FILE --once`: the objects of a file, in its order, each with the objects below it that it owns.
//!
//! An object without a uid, or with the same one as another, stands alone: nothing can be its dependent.

use super::Args;
use super::columns::StatusColumns;
use super::documents::{Documents, REDACTED};
use super::file_tree::FileTree;
use super::options::{RowOptions, StatusFormat};
use super::rows::StatusRow;
use super::view::{are_spread, listing};
use crate::commands::{
    Answer, Awaited, CommandError, Context, Ended, Shutdown, documents, newest_of, nothing_passed,
};
use crate::object::{Doc, ObjectRef, newest_time};
use crate::render::canvas::Canvas;
use crate::render::json::line::line;
use crate::render::json::status::{StatusRecord, TreePlace};
use crate::render::text::escape_line;

pub(super) async fn assess_documents(
    args: &Args,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let source = &args.objects.source;
    let file = source.from.as_deref().unwrap_or("-");
    let stop = args.wait.stop(shutdown, context.env);
    let read = Box::pin(documents(context, source));
    let awaited = Awaited::session(source);
    let documents = args.wait.in_time(&stop, awaited, read).await?;
    if documents.is_empty() && args.wait.decides() {
        return Err(nothing_passed("status"));
    }
    let times = (documents.iter()).filter_map(|document| newest_time(document.root()));
    let now = source.now.or_else(|| newest_of(times, context.env));
    let now = now.unwrap_or_else(|| context.env.now());
    let tree = FileTree::of(&documents, args.rules, now);
    let rows = tree.rows();
    let health = args.options().health;
    let shown = in_file_order(&rows).into_iter();
    let shown = shown.filter(|(_, row)| health.includes(row));
    let mut yaml = Documents::new();
    let lines: Vec<String> = match args.output {
        StatusFormat::Json => {
            let record = |(_, row): (usize, &StatusRow<'_>)| {
                let place = TreePlace {
                    owner: row.owner.as_ref(),
                    depth: row.depth,
                };
                let record = StatusRecord::new(file, &row.object, row.assessment, now);
                let record = record.at(place, row.worst());
                line(&if args.explain {
                    record.explained(row.assessment)
                } else {
                    record
                })
            };
            shown.map(record).collect()
        }
        StatusFormat::Yaml => shown
            .flat_map(|(place, _)| yaml.document(&documents[place]))
            .collect(),
        StatusFormat::Name => {
            let name = |row: &StatusRow<'_>| escape_line(&row.object.resource_name()).into_owned();
            shown.map(|(_, row)| name(row)).collect()
        }
        StatusFormat::Text | StatusFormat::Wide => {
            let canvas = Canvas::unbounded(context.look(), now);
            table(&rows, args.options(), canvas)
        }
    };
    context.print(&lines)?;
    if yaml.has_secret {
        context.hint(REDACTED);
    }
    refuse_unreadable(file, &rows, &documents)?;
    let is_well = rows.iter().all(|(_, row)| row.assessment.is_well());
    args.wait
        .conclude(Ended::Answered, Answer::from(!is_well), [])
}

fn in_file_order<'r, 'a>(rows: &'r [(usize, StatusRow<'a>)]) -> Vec<(usize, &'r StatusRow<'a>)> {
    let mut rows: Vec<_> = rows.iter().map(|(place, row)| (*place, row)).collect();
    rows.sort_by_key(|(place, _)| *place);
    rows
}

/// Fails if a document is not an object with a status. The other documents are printed by then.
fn refuse_unreadable(
    file: &str,
    rows: &[(usize, StatusRow<'_>)],
    documents: &[Doc],
) -> Result<(), CommandError> {
    let rows = in_file_order(rows).into_iter();
    let lines = rows.filter_map(|(place, row)| {
        let error = row.assessment.verdict.error.as_ref()?;
        let object = with_name(ObjectRef::of(documents[place].root()), place);
        Some(format!("error: {file}: {object}: {error}"))
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(CommandError::failed(lines.join("\n")))
}

fn table(rows: &[(usize, StatusRow<'_>)], options: RowOptions, canvas: Canvas) -> Vec<String> {
    let named = rows.iter().map(|(place, row)| {
        let mut row = row.clone();
        row.object = with_name(ObjectRef::clone(&row.object), *place).into();
        row
    });
    let rows: Vec<StatusRow<'_>> = named.collect();
    let columns = StatusColumns {
        namespaces: are_spread(&rows),
        live: false,
        options,
        printed: Vec::new(),
        width: canvas.look.width,
    };
    listing(rows.into(), &columns, canvas)
}

/// The reference. An object without a name gets its position in the file as its name.
fn with_name(object: ObjectRef, place: usize) -> ObjectRef {
    let or = |text: std::sync::Arc<str>, other: String| match &*text {
        "" => other.into(),
        _ => text,
    };
    ObjectRef {
        kind: or(object.kind, "?".to_owned()),
        name: or(object.name, format!("#{}", place + 1)),
        ..object
    }
}
