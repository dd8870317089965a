//! Suggests names that resemble a misspelled one.

use serde::Deserialize;

use super::client::{ApiRequest, Client, RequestError};
use super::request_path::RequestPath;
use crate::object::selector::by_name;
use crate::object::{Resource, json_fault, near};

/// How many objects are read.
const LOOKED_AT: &str = "250";

/// The answer to a request for the metadata of objects.
#[derive(Deserialize)]
struct NameList {
    items: Option<Vec<NamedObject>>,
}

#[derive(Deserialize)]
struct NamedObject {
    metadata: NameMetadata,
}

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
    let request = request
        .about("list", resource.group_resource())
        .accept("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")
        .query("limit", LOOKED_AT);
    let body = client.get(&request).await?;
    let list: NameList = serde_json::from_slice(&body).map_err(|error| {
        let fault = json_fault(&error);
        RequestError::Decode(format!("the server's answer is not a list: {fault}").into())
    })?;
    let items = list.items.unwrap_or_default().into_iter();
    Ok(items.map(|item| item.metadata).collect())
}
