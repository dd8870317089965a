//! Lists of objects for completion and for suggestions: their rows in the server's table, or only their metadata.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client::{ApiRequest, Client, RequestError};
use super::request_path::RequestPath;
use crate::object::selector::by_name;
use crate::object::{Resource, json_fault, near};

/// A table without its objects. A server that knows no tables sends metadata, or its objects.
const ACCEPT: &str = "application/json;as=Table;g=meta.k8s.io;v=v1,\
    application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/// The columns of the summary, in its order.
const SUMMARY: [&str; 3] = ["Ready", "Status", "Age"];

/// The name of an object and its state in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectRow {
    pub(crate) name: String,
    /// The cells of the columns READY, STATUS and AGE, as far as its kind has them: `1/1 Running 41d`.
    pub(crate) summary: String,
}

/// Which objects of a type to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsPage<'p> {
    /// The namespace; `None` for all.
    pub(crate) namespace: Option<&'p str>,
    /// How many objects the page has at most.
    pub(crate) limit: u32,
    /// The token of the page before, if this is not the first
    /// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks>).
    pub(crate) next: Option<&'p str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectRows {
    /// The objects in the order of the server.
    pub(crate) rows: Vec<ObjectRow>,
    /// The token of the next page, if there is one.
    pub(crate) next: Option<String>,
}

/// The response: a table, or a list.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RowsAnswer {
    column_definitions: Option<Vec<RowColumn>>,
    rows: Option<Vec<RowCells>>,
    items: Option<Vec<ItemMetadata<NameMetadata>>>,
    metadata: Option<ListMetadata>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListMetadata {
    #[serde(rename = "continue")]
    next: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RowColumn {
    name: String,
    /// `name` for the column with the names.
    format: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RowCells {
    cells: Vec<Value>,
}

/// A page of the objects of a type. It makes one request, and the answer has no object in it if the server knows tables.
pub(crate) async fn object_rows(
    client: &Client,
    resource: &Resource,
    page: RowsPage<'_>,
) -> Result<ObjectRows, RequestError> {
    let request = ApiRequest::new(RequestPath::of(resource, page.namespace)?)
        .about("list", resource.group_resource())
        .accept(ACCEPT)
        .query("includeObject", "None")
        .query("limit", &page.limit.to_string());
    let request = match page.next {
        Some(next) => request.query("continue", next),
        None => request,
    };
    let body = client.get(&request).await?;
    rows(&body).map_err(|error| {
        let fault = json_fault(&error);
        RequestError::Decode(format!("the server's answer is not a table: {fault}").into())
    })
}

fn rows(body: &[u8]) -> Result<ObjectRows, serde_json::Error> {
    let answer: RowsAnswer = serde_json::from_slice(body)?;
    let next = answer.metadata.unwrap_or_default().next;
    let listed = answer.items.unwrap_or_default().into_iter();
    let listed = listed.map(|item| ObjectRow {
        name: item.metadata.name,
        summary: String::new(),
    });
    let columns = answer.column_definitions.unwrap_or_default();
    let at = |title: &str| {
        let is_it = |column: &RowColumn| column.name.eq_ignore_ascii_case(title);
        columns.iter().position(is_it)
    };
    let names = columns.iter().position(|column| column.format == "name");
    let names = names.unwrap_or(0);
    let summary = SUMMARY.map(at);
    let row = |row: RowCells| {
        let text = |at: usize| row.cells.get(at)?.as_str().map(str::to_owned);
        let cells = summary.iter().flatten().filter_map(|&at| text(at));
        let cells = cells.filter(|cell| !cell.is_empty());
        Some(ObjectRow {
            name: text(names)?,
            summary: cells.collect::<Vec<_>>().join(" "),
        })
    };
    let rows = answer.rows.unwrap_or_default().into_iter();
    Ok(ObjectRows {
        rows: listed.chain(rows.filter_map(row)).collect(),
        next: Some(next).filter(|next| !next.is_empty()),
    })
}

/// The answer of a list request.
#[derive(Deserialize)]
struct MetadataList<M> {
    items: Option<Vec<ItemMetadata<M>>>,
}

#[derive(Deserialize)]
struct ItemMetadata<M> {
    metadata: M,
}

pub(crate) async fn list_metadata<M: DeserializeOwned>(
    client: &Client,
    request: ApiRequest,
) -> Result<Vec<M>, RequestError> {
    let body = client.get_patiently(&request.metadata_list()).await?;
    let list: MetadataList<M> = serde_json::from_slice(&body).map_err(|error| {
        let fault = json_fault(&error);
        RequestError::Decode(format!("the server's answer is not a list: {fault}").into())
    })?;
    let items = list.items.unwrap_or_default().into_iter();
    Ok(items.map(|item| item.metadata).collect())
}

/// How many objects are read.
const LOOKED_AT: &str = "250";

#[derive(Deserialize)]
struct NameMetadata {
    name: String,
    namespace: Option<String>,
}

/// Names of objects in `namespace` (or in all) that resemble `name`, the nearest first. It makes one request, for
/// metadata only.
pub(crate) async fn similar_names(
    client: &Client,
    resource: &Resource,
    namespace: Option<&str>,
    name: &str,
) -> Result<Vec<String>, RequestError> {
    let request = ApiRequest::new(RequestPath::of(resource, namespace)?);
    let found = names(client, resource, request).await?;
    Ok(near(name, found.iter().map(|found| found.name.as_str())))
}

/// The namespaces with an object of this name, sorted. It makes one request, for metadata only.
pub(crate) async fn namespaces_with(
    client: &Client,
    resource: &Resource,
    name: &str,
) -> Result<Vec<String>, RequestError> {
    let request = ApiRequest::new(RequestPath::of(resource, None)?);
    let found = names(
        client,
        resource,
        request.query("fieldSelector", &by_name(name)),
    )
    .await?;
    let mut namespaces: Vec<String> = found.into_iter().filter_map(|one| one.namespace).collect();
    namespaces.sort_unstable();
    Ok(namespaces)
}

#[derive(Deserialize)]
struct UidMetadata {
    uid: String,
}

/// The uid of the object with this name that has no namespace; `None` if there is none. It makes one request, for metadata
/// only.
pub(crate) async fn uid_of(
    client: &Client,
    resource: &Resource,
    name: &str,
) -> Result<Option<String>, RequestError> {
    let request = ApiRequest::new(RequestPath::of(resource, None)?);
    let request = request.about("list", resource.group_resource());
    let request = request.query("fieldSelector", &by_name(name));
    let found: Vec<UidMetadata> = list_metadata(client, request).await?;
    Ok(found.into_iter().next().map(|found| found.uid))
}

async fn names(
    client: &Client,
    resource: &Resource,
    request: ApiRequest,
) -> Result<Vec<NameMetadata>, RequestError> {
    let request = request.about("list", resource.group_resource());
    list_metadata(client, request.query("limit", LOOKED_AT)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str) -> String {
        let found = rows(body.as_bytes()).expect("JSON");
        let lines = found
            .rows
            .iter()
            .map(|row| format!("{}: {}", row.name, row.summary));
        let next = found.next.iter().map(|next| format!("then {next}"));
        lines.chain(next).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn rows_have_names_and_summaries() {
        let columns = r#"[{"name":"Name","format":"name"},{"name":"Ready"},{"name":"Status"},{"name":"Restarts"},{"name":"Age"}]"#;
        let row = r#"{"cells":["web-1","1/1","Running",3,"41d"],"object":null}"#;
        assert_eq!(
            check(&format!(
                r#"{{"columnDefinitions":{columns},"rows":[{row}]}}"#
            )),
            "web-1: 1/1 Running 41d"
        );
    }

    #[test]
    fn the_column_with_the_names_need_not_be_the_first() {
        let columns = r#"[{"name":"Last Seen"},{"name":"Name","format":"name"}]"#;
        let row = r#"{"cells":["5s","web.17"]}"#;
        assert_eq!(
            check(&format!(
                r#"{{"columnDefinitions":{columns},"rows":[{row}]}}"#
            )),
            "web.17: "
        );
    }

    #[test]
    fn a_list_has_names_only() {
        assert_eq!(check(r#"{"items":[{"metadata":{"name":"a"}}]}"#), "a: ");
        assert_eq!(check(r#"{"items":null,"rows":null}"#), "");
        assert_eq!(check(r#"{"metadata":null}"#), "");
    }

    #[test]
    fn a_page_names_the_next_one() {
        let page = |next: &str| {
            check(&format!(
                r#"{{"metadata":{{"continue":"{next}"}},"items":[{{"metadata":{{"name":"a"}}}}]}}"#
            ))
        };
        assert_eq!(page("abc"), "a: ; then abc");
        assert_eq!(page(""), "a: ");
    }
}
