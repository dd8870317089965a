//! `Session::type_named`: the type that a word of a configuration names.

use super::Session;
use crate::cluster::TargetError;
use crate::commands::CommandError;

impl Session {
    /// The type that a word names, as its kind and group: `Deployment.apps`. Fails in kubectl's words if it is not served.
    pub(crate) async fn type_named(&self, word: &str) -> Result<String, CommandError> {
        let found = self.place.resolver().resolve(word).await;
        let resource = found.map_err(TargetError::Resolve)?;
        Ok(match &*resource.group {
            "" => resource.kind.to_string(),
            group => format!("{}.{group}", resource.kind),
        })
    }
}
