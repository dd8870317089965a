//! The identity of a cluster in a record.

use std::fmt::Write;
use std::sync::Arc;

use ring::digest;

use super::{Session, SessionPlace};
use crate::commands::CommandError;
use crate::object::well_known_type;
use crate::record::RecordedCluster;
use crate::source::{Select, SourceKey};
use crate::watch::End;

/// The namespace whose uid identifies a cluster.
const SYSTEM: &str = "kube-system";

impl Session {
    /// The cluster as a record names it. Two contexts of one cluster have the same id. It fails for a file, and if the server
    /// does not answer.
    pub(crate) async fn recorded_cluster(&self) -> Result<RecordedCluster, CommandError> {
        let SessionPlace::Cluster(client) = &self.place else {
            return Err(CommandError::failed("error: a file cannot be recorded"));
        };
        let config = client.config();
        let uid = self.system_uid().await?;
        Ok(RecordedCluster {
            // Without the right to read Namespaces, a server is known by its URL.
            id: uid.unwrap_or_else(|| hash(&config.url())),
            name: self.cluster.0.to_string(),
            server: config.address(),
        })
    }

    /// The uid of the Namespace `kube-system`; `None` if it cannot be read.
    async fn system_uid(&self) -> Result<Option<String>, CommandError> {
        let namespaces = well_known_type("", "Namespace");
        let key = namespaces.map(|found| {
            let select = Select::Name(Arc::from(SYSTEM));
            SourceKey::of(&self.cluster, found.resource.clone(), None, select)
        });
        let Some(history) = key.and_then(|key| self.mux.history(&key)) else {
            return Ok(None);
        };
        match history.listing_now().await {
            Ok(found) => {
                let uid = found.first().and_then(|found| found.object.uid.clone());
                Ok(uid.map(|uid| uid.as_str().to_owned()))
            }
            Err(End::Failed(error)) => Err(CommandError::failed(format!("error: {error}"))),
            Err(
                End::NotOffered(_)
                | End::Limit
                | End::Spent
                | End::Forgotten(_)
                | End::OutOfTime(_),
            ) => Ok(None),
        }
    }
}

/// The first hexadecimal digits of a text's hash.
fn hash(text: &str) -> String {
    let hash = digest::digest(&digest::SHA256, text.as_bytes());
    let mut digits = String::new();
    for byte in &hash.as_ref()[..16] {
        let _infallible = write!(digits, "{byte:02x}");
    }
    digits
}
