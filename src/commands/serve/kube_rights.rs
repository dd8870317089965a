//! `KubeRights`: what readers may read, as the API server answers their own requests.
//!
//! A `SubjectAccessReview` would be a write, and need rights of its own. Instead, the server sends a read with the reader's token on
//! the path that he wants to read, for an object that cannot exist: the API server authorises it like any other.

use fastrand::alphanumeric;
use futures::future::BoxFuture;

use crate::cluster::{ApiRequest, Client, InvalidPart, PathSegment, RequestError, RequestPath};
use crate::commands::CommandError;
use crate::object::well_known_type;
use crate::serve::{ReadRight, ReaderToken, RightsAnswer, RightsSource, SourcePlace};

/// A name that no object has.
const NOBODY: &str = "-";

/// Asks the API server with the tokens of readers.
pub(super) struct KubeRights {
    /// A client without credentials.
    client: Client,
}

impl KubeRights {
    /// Fails if the API server would accept any token: every reader would then have the rights of somebody else.
    pub(super) async fn new(client: Client) -> Result<KubeRights, CommandError> {
        if !client.config().is_private() {
            let error = "error: --auth=kube needs an API server with TLS: tokens would be readable on their way";
            return Err(CommandError::failed(error));
        }
        let rights = KubeRights { client };
        let Some(namespaces) = well_known_type("", "Namespace") else {
            return Ok(rights);
        };
        let right = ReadRight::List(SourcePlace {
            resource: namespaces.resource.clone(),
            namespace: None,
        });
        let invalid: String = (0..32).map(|_| alphanumeric()).collect();
        let answer = match ReaderToken::new(&invalid) {
            Some(token) => rights.answer(&token, &right).await,
            None => Ok(RightsAnswer::Unknown),
        };
        match answer {
            Ok(RightsAnswer::Unknown) => Ok(rights),
            Ok(RightsAnswer::Granted | RightsAnswer::Denied) => Err(CommandError::failed(
                "error: the API server accepts any token, so it cannot tell readers apart",
            )
            .hint("use the address of the API server itself, not that of a proxy with a login of its own")),
            Err(error) => Err(CommandError::failed(error)),
        }
    }
}

impl RightsSource for KubeRights {
    fn answer<'a>(
        &'a self,
        token: &'a ReaderToken,
        right: &'a ReadRight,
    ) -> BoxFuture<'a, Result<RightsAnswer, String>> {
        Box::pin(async move {
            let failed = |error: &dyn std::fmt::Display| format!("error: {error}");
            let request = request(right).map_err(|error| failed(&error))?;
            let client = self.client.with_token(token.expose());
            let client = client.map_err(|error| failed(&error))?;
            match (client.open(&request).await, right) {
                (Ok(_), _) => Ok(RightsAnswer::Granted),
                (Err(RequestError::Api { error, .. }), right) => {
                    match (error.status.code, right) {
                        (401, _) => Ok(RightsAnswer::Unknown),
                        // Nothing has this name: the right to read it is checked first.
                        (404, ReadRight::Logs(_) | ReadRight::Get(_)) => Ok(RightsAnswer::Granted),
                        (403 | 404, _) => Ok(RightsAnswer::Denied),
                        _ => Err(error.to_string()),
                    }
                }
                (Err(error), _) => Err(failed(&error)),
            }
        })
    }
}

/// The read that needs exactly this right. A list and a watch come from the watch cache and have no object.
fn request(right: &ReadRight) -> Result<ApiRequest, InvalidPart> {
    match right {
        ReadRight::List(place) => {
            let resource = &place.resource;
            let path = RequestPath::of(resource, place.namespace.as_deref())?;
            Ok(ApiRequest::new(path)
                .about("list", resource.group_resource())
                .metadata_list()
                .query("limit", "1")
                .query("resourceVersion", "0")
                .query("fieldSelector", &format!("metadata.name={NOBODY}")))
        }
        ReadRight::Watch(place) => {
            let resource = &place.resource;
            let path = RequestPath::of(resource, place.namespace.as_deref())?;
            Ok(ApiRequest::new(path)
                .about("watch", resource.group_resource())
                .identity()
                .query("watch", "true")
                .query("timeoutSeconds", "1")
                .query("resourceVersion", "0")
                .query("fieldSelector", &format!("metadata.name={NOBODY}")))
        }
        ReadRight::Get(place) => {
            let resource = &place.resource;
            let path = RequestPath::of(resource, place.namespace.as_deref())?;
            let path = path.then(PathSegment::Name, NOBODY)?;
            Ok(ApiRequest::new(path).about("get", resource.group_resource()))
        }
        ReadRight::Logs(namespace) => {
            let path = RequestPath::of_group("", "v1")?
                .then(PathSegment::Resource, "namespaces")?
                .then(PathSegment::Namespace, namespace)?
                .then(PathSegment::Resource, "pods")?
                .then(PathSegment::Name, NOBODY)?
                .then(PathSegment::Resource, "log")?;
            Ok(ApiRequest::new(path).about("get", "pods/log"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(right: &ReadRight) -> String {
        let request = request(right).expect("valid parts").to_http();
        request.expect("a request").uri().to_string()
    }

    #[test]
    fn a_right_is_asked_for_on_its_own_path() {
        let pods = well_known_type("", "Pod").expect("known").resource.clone();
        let sets = well_known_type("apps", "Deployment")
            .expect("known")
            .resource
            .clone();
        let list = |resource, namespace: Option<&str>| {
            ReadRight::List(SourcePlace {
                resource,
                namespace: namespace.map(Into::into),
            })
        };
        let query = "?limit=1&resourceVersion=0&fieldSelector=metadata.name%3D-";
        for (right, expect) in [
            (
                list(pods.clone(), Some("shop")),
                format!("/api/v1/namespaces/shop/pods{query}"),
            ),
            (
                list(sets, Some("shop")),
                format!("/apis/apps/v1/namespaces/shop/deployments{query}"),
            ),
            (
                ReadRight::Get(SourcePlace {
                    resource: pods.clone(),
                    namespace: Some("shop".into()),
                }),
                "/api/v1/namespaces/shop/pods/-".to_owned(),
            ),
            (
                ReadRight::Watch(SourcePlace {
                    resource: pods.clone(),
                    namespace: None,
                }),
                "/api/v1/pods?watch=true&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3D-"
                    .to_owned(),
            ),
            (list(pods.clone(), None), format!("/api/v1/pods{query}")),
            (
                ReadRight::Logs("shop".into()),
                "/api/v1/namespaces/shop/pods/-/log".to_owned(),
            ),
        ] {
            assert_eq!(path(&right), expect);
        }
        let outside = ReadRight::Logs("../x".into());
        assert!(request(&outside).is_err());
    }
}
