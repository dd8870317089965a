//! `status --from FILE --once`: judges each object of a file on its own, in the order of the file.

use super::judged::Judged;
use super::outline::Item;
use super::view::{Canvas, listing};
use super::{Args, Format};
use crate::commands::{Answer, CommandError, Context, Ended, documents};
use crate::graph::Graph;
use crate::object::{Doc, ObjectRef};
use crate::render::json::line::line;
use crate::render::json::status::StatusRecord;

pub(super) fn judge_each(args: &Args, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let source = &args.objects.source;
    let documents = documents(context, source)?;
    let now = source.now.unwrap_or_else(|| context.env.now());
    let judged: Vec<Judged> = documents
        .iter()
        .map(|document| Judged::of(document.root(), now, args.rules()))
        .collect();
    let lines = match args.output {
        Format::Json => {
            let file = source.from.as_deref().unwrap_or_default();
            let records = documents.iter().zip(&judged).map(|(document, judged)| {
                let object = ObjectRef::of(document.root());
                let about = (&judged.row, &judged.causes[..]);
                let record = StatusRecord::new((file, &object), now, &judged.verdict, about);
                line(&record)
            });
            records.collect()
        }
        Format::Text => {
            let canvas = Canvas {
                now,
                look: context.look(),
                rows: None,
                idle: args.idle(),
            };
            table(&documents, &judged, canvas)
        }
    };
    context.print(&lines)?;
    refuse_unreadable(source.from.as_deref().unwrap_or("-"), &documents, &judged)?;
    let is_well = judged.iter().all(Judged::is_well);
    let answer = Answer::of((!is_well).into(), []);
    args.ends.conclude(Ended::Answered, answer)
}

/// Fails if a document is no object that has a status. The others are listed by now.
fn refuse_unreadable(file: &str, documents: &[Doc], judged: &[Judged]) -> Result<(), CommandError> {
    let lines = (1..)
        .zip(documents)
        .zip(judged)
        .filter_map(|((position, document), judged)| {
            let error = judged.verdict.error.as_ref()?;
            let object = with_name(ObjectRef::of(document.root()), position);
            Some(format!("error: {file}: {object}: {error}"))
        });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(CommandError::failed(lines.join("\n")))
}

fn table(documents: &[Doc], judged: &[Judged], canvas: Canvas) -> Vec<String> {
    let graphs: Vec<Graph> = documents.iter().map(alone).collect();
    let items = (1..).zip(documents.iter().zip(judged)).zip(&graphs);
    let items = items.map(|((position, (document, judged)), graph)| {
        let object = with_name(ObjectRef::of(document.root()), position);
        Item::alone(object, judged, graph.nodes().next())
    });
    listing(&items.collect::<Vec<_>>(), canvas)
}

fn alone(document: &Doc) -> Graph {
    let mut graph = Graph::default();
    graph.apply(document.root());
    graph
}

/// The reference, with its place in the file for a name where it has none.
fn with_name(object: ObjectRef, position: usize) -> ObjectRef {
    let or = |text: std::sync::Arc<str>, other: String| match &*text {
        "" => other.into(),
        _ => text,
    };
    ObjectRef {
        kind: or(object.kind, "?".to_owned()),
        name: or(object.name, format!("#{position}")),
        ..object
    }
}
