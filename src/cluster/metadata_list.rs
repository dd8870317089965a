//! `list_metadata`: reads only the metadata of objects.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::client::{ApiRequest, Client, RequestError};
use crate::object::json_fault;

/// The answer of a list request.
#[derive(Deserialize)]
struct MetadataList<M> {
    items: Option<Vec<ItemMetadata<M>>>,
}

#[derive(Deserialize)]
struct ItemMetadata<M> {
    metadata: M,
}

/// The metadata of each object that a list request selects, as far as `M` has its fields.
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
