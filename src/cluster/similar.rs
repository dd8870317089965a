//! Suggests names that resemble a misspelled one.

use serde::Deserialize;

use super::client::{ApiRequest, Client, RequestError};
use super::metadata_list::list_metadata;
use super::request_path::RequestPath;
use crate::object::selector::by_name;
use crate::object::{Resource, near};

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

async fn names(
    client: &Client,
    resource: &Resource,
    request: ApiRequest,
) -> Result<Vec<NameMetadata>, RequestError> {
    let request = request.about("list", resource.group_resource());
    list_metadata(client, request.query("limit", LOOKED_AT)).await
}
