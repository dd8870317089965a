//! `status --from FILE --once`: assesses each object of a file on its own, in the order of the file.

use super::Args;
use super::live::StatusFormat;
use super::rows::StatusRow;
use super::table::Idle;
use super::view::listing;
use crate::commands::{Answer, CommandError, Context, Ended, documents};
use crate::graph::Graph;
use crate::object::{Doc, ObjectRef};
use crate::render::canvas::Canvas;
use crate::render::json::line::line;
use crate::render::json::status::StatusRecord;
use crate::status::Assessment;

pub(super) fn assess_each(args: &Args, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let source = &args.objects.source;
    let documents = documents(context, source)?;
    let now = source.now.unwrap_or_else(|| context.env.now());
    let assessments: Vec<Assessment> = documents
        .iter()
        .map(|document| Assessment::of(document.root(), now, args.rules))
        .collect();
    let lines = match args.output {
        StatusFormat::Json => {
            let file = source.from.as_deref().unwrap_or_default();
            let records = documents
                .iter()
                .zip(&assessments)
                .map(|(document, assessment)| {
                    let object = ObjectRef::of(document.root());
                    line(&StatusRecord::new(file, &object, assessment, now))
                });
            records.collect()
        }
        StatusFormat::Text => {
            let canvas = Canvas::unbounded(context.look(), now);
            table(&documents, &assessments, args.idle(), canvas)
        }
    };
    context.print(&lines)?;
    refuse_unreadable(
        source.from.as_deref().unwrap_or("-"),
        &documents,
        &assessments,
    )?;
    let is_well = assessments.iter().all(Assessment::is_well);
    let answer = Answer::from(!is_well);
    args.ends.conclude(Ended::Answered, answer, [])
}

/// Fails if a document is not an object with a status. The other documents are printed by then.
fn refuse_unreadable(
    file: &str,
    documents: &[Doc],
    assessments: &[Assessment],
) -> Result<(), CommandError> {
    let lines =
        (1..)
            .zip(documents)
            .zip(assessments)
            .filter_map(|((position, document), assessment)| {
                let error = assessment.verdict.error.as_ref()?;
                let object = with_name(ObjectRef::of(document.root()), position);
                Some(format!("error: {file}: {object}: {error}"))
            });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(CommandError::failed(lines.join("\n")))
}

fn table(documents: &[Doc], assessments: &[Assessment], idle: Idle, canvas: Canvas) -> Vec<String> {
    let graphs: Vec<Graph> = documents.iter().map(alone).collect();
    let items = (1..).zip(documents.iter().zip(assessments)).zip(&graphs);
    let items = items.map(|((position, (document, assessment)), graph)| {
        let object = with_name(ObjectRef::of(document.root()), position);
        StatusRow::alone(object, assessment, graph.nodes().next())
    });
    listing(&items.collect::<Vec<_>>(), idle, canvas)
}

fn alone(document: &Doc) -> Graph {
    let mut graph = Graph::default();
    graph.apply(document.root());
    graph
}

/// The reference. An object without a name gets its position in the file as its name.
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
