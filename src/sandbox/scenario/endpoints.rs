//! The `EndpointSlice` controller: one slice for each Service, and one endpoint for each Pod with an address.

use serde_json::{Value, json};

use super::build::owned_by;
use super::pods::is_ready;
use super::world::{CONTROLLER, World, name_of};
use crate::sandbox::WriteError;

impl World<'_> {
    pub(super) fn sync_endpoints(&mut self) -> Result<(), WriteError> {
        for service in self.sandbox.list("services", self.namespace) {
            self.sync_slice(&service)?;
        }
        Ok(())
    }

    fn sync_slice(&mut self, service: &Value) -> Result<(), WriteError> {
        let endpoints = self.endpoints(service);
        let is_of_service = |slice: &Value| {
            slice["metadata"]["labels"]["kubernetes.io/service-name"] == service["metadata"]["name"]
        };
        match self
            .select("endpointslices", is_of_service)
            .into_iter()
            .next()
        {
            Some(slice) if slice["endpoints"] == endpoints => {}
            Some(mut slice) => {
                slice["endpoints"] = endpoints;
                slice["metadata"]["annotations"]["endpoints.kubernetes.io/last-change-trigger-time"] =
                    self.time();
                self.update(slice, CONTROLLER, "")?;
            }
            None => {
                let slice = self.slice(service, &endpoints);
                self.create(slice, CONTROLLER)?;
            }
        }
        Ok(())
    }

    fn slice(&self, service: &Value, endpoints: &Value) -> Value {
        let name = name_of(service);
        let mut labels = service["metadata"]["labels"].clone();
        labels["endpointslice.kubernetes.io/managed-by"] = json!("endpointslice-controller.k8s.io");
        labels["kubernetes.io/service-name"] = json!(name);
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {
                "generateName": format!("{name}-"), "namespace": self.namespace, "labels": labels,
                "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": self.time()},
                "ownerReferences": owned_by(service),
            },
            "addressType": "IPv4", "endpoints": endpoints,
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        })
    }

    /// The endpoints for the Pods that a Service selects, by name.
    fn endpoints(&self, service: &Value) -> Value {
        let selector = service["spec"]["selector"].as_object();
        let is_selected = |pod: &Value| {
            let labels = &pod["metadata"]["labels"];
            selector
                .is_some_and(|selector| selector.iter().all(|(key, value)| labels[key] == *value))
        };
        let is_there = |pod: &Value| {
            pod["status"]["podIP"].is_string()
                && pod["status"]["phase"] != "Succeeded"
                && pod["status"]["phase"] != "Failed"
        };
        let pods = self.select("pods", |pod| is_selected(pod) && is_there(pod));
        Value::Array(pods.iter().map(|pod| self.endpoint(pod)).collect())
    }

    fn endpoint(&self, pod: &Value) -> Value {
        let is_terminating = pod["metadata"]["deletionTimestamp"].is_string();
        let is_serving = is_ready(pod);
        json!({
            "addresses": [pod["status"]["podIP"]], "nodeName": pod["spec"]["nodeName"],
            "conditions": {
                "ready": is_serving && !is_terminating, "serving": is_serving, "terminating": is_terminating,
            },
            "targetRef": {
                "kind": "Pod", "namespace": self.namespace, "name": pod["metadata"]["name"],
                "uid": pod["metadata"]["uid"],
            },
        })
    }
}
