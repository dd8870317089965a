//! Which log a request gets, by the status of the Pod, as the kubelet decides (`validateContainerLogStatus`).

use serde_json::Value;

use super::LogOptions;
use crate::sandbox::status::ApiFailure;
use crate::sandbox::store::text;

/// The lists of containers in a Pod, and of their statuses.
const LISTS: [(&str, &str); 3] = [
    ("containers", "containerStatuses"),
    ("initContainers", "initContainerStatuses"),
    ("ephemeralContainers", "ephemeralContainerStatuses"),
];

/// The name of the container that a request is about.
pub(in crate::sandbox) fn container_of(
    pod: &Value,
    options: &LogOptions,
) -> Result<String, ApiFailure> {
    let pod_name = text(&pod["metadata"]["name"]);
    let names = |list: &str| -> Vec<String> {
        let containers = pod["spec"][list].as_array().into_iter().flatten();
        containers
            .map(|container| text(&container["name"]).to_owned())
            .collect()
    };
    match (&options.container, &names("containers")[..]) {
        (None, [only]) => Ok(only.clone()),
        (None, main) => Err(ApiFailure::bad_request(format!(
            "a container name must be specified for pod {pod_name}, choose one of: [{}]",
            main.join(" ")
        ))),
        (Some(name), _) => {
            let is_there = LISTS.iter().any(|(list, _)| names(list).contains(name));
            is_there.then(|| name.clone()).ok_or_else(|| {
                ApiFailure::bad_request(format!("container {name} is not valid for pod {pod_name}"))
            })
        }
    }
}

/// The ID of the instance whose log a request gets.
pub(in crate::sandbox) fn instance_of(
    pod: &Value,
    container: &str,
    previous: bool,
) -> Result<String, ApiFailure> {
    let pod_name = text(&pod["metadata"]["name"]);
    let bad = |text: String| Err(ApiFailure::bad_request(text));
    let about = format!("container \"{container}\" in pod \"{pod_name}\"");
    let statuses = LISTS
        .iter()
        .flat_map(|(_, list)| pod["status"][list].as_array().into_iter().flatten());
    let mut statuses = statuses.filter(|status| text(&status["name"]) == container);
    let Some(status) = statuses.next() else {
        return bad(format!("{about} is not available"));
    };
    let last = text(&status["lastState"]["terminated"]["containerID"]);
    let state = &status["state"];
    if previous {
        if last.is_empty() {
            return bad(format!("previous terminated {about} not found"));
        }
        return Ok(last.to_owned());
    }
    if state["running"].is_object() {
        return Ok(text(&status["containerID"]).to_owned());
    }
    let ended = text(&state["terminated"]["containerID"]);
    let id = if ended.is_empty() { last } else { ended };
    if !id.is_empty() {
        return Ok(id.to_owned());
    }
    if state["terminated"].is_object() {
        return bad(format!("{about} is terminated"));
    }
    bad(match text(&state["waiting"]["reason"]) {
        "" => format!("{about} is waiting to start - no logs yet"),
        "ErrImagePull" => format!("{about} is waiting to start: image can't be pulled"),
        "ImagePullBackOff" => {
            format!("{about} is waiting to start: trying and failing to pull image")
        }
        reason => format!("{about} is waiting to start: {reason}"),
    })
}
