//! Suggests names that resemble a misspelled one.

use serde::Deserialize;

use super::client::{ApiRequest, Client, RequestError};
use super::request_path::RequestPath;
use crate::object::{Resource, json_fault, near};

/// How many objects are read.
const LOOKED_AT: &str = "250";

/// Names of objects in `namespace` (or in all) that resemble `name`, the nearest first. It makes one request, for
/// metadata only.
pub async fn similar_names(
    client: &Client,
    resource: &Resource,
    namespace: Option<&str>,
    name: &str,
) -> Result<Vec<String>, RequestError> {
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
    }
    let request = ApiRequest::new(RequestPath::of(resource, namespace)?)
        .about("list", resource.group_resource())
        .accept("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")
        .query("limit", LOOKED_AT);
    let body = client.get(&request).await?;
    let list: NameList = serde_json::from_slice(&body).map_err(|error| {
        let fault = json_fault(&error);
        RequestError::Decode(format!("the server's answer is not a list: {fault}").into())
    })?;
    let items = list.items.unwrap_or_default();
    Ok(near(
        name,
        items.iter().map(|item| item.metadata.name.as_str()),
    ))
}
