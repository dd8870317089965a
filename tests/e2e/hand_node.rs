//! A node whose Pods the test plays: it writes the states that a kubelet would write, and what the containers print. The
//! control plane's log endpoint (`controlplane/kubelet`) serves these logs, with the faults that the test asks for.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::controlplane::ControlPlane;
use super::truth::api::Api;

/// How API servers talk with the log endpoint of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http1,
    Http2,
}

/// A node with the label `hand=true`, which kwok leaves alone. No scheduler places Pods there.
pub struct HandNode<'p> {
    plane: &'p ControlPlane,
    name: String,
    api: Api,
    runtime: Runtime,
}

/// The answer to a request for a log.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// The log, or the message of a `Status`.
    pub text: String,
}

/// What the log endpoint counts.
#[derive(Debug, PartialEq, Eq)]
pub struct Streams {
    /// How many are open.
    pub open: usize,
    /// How many there have been.
    pub requests: usize,
}

impl<'p> HandNode<'p> {
    /// Creates a node.
    pub fn new(plane: &'p ControlPlane, name: &str, protocol: Protocol) -> HandNode<'p> {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let api = runtime.block_on(Api::new(plane.admin()));
        let node = HandNode {
            plane,
            name: name.to_owned(),
            api,
            runtime,
        };
        let object = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"hand": "true"}},
            "spec": {"unschedulable": true},
        });
        node.create("/api/v1/nodes", &object);
        node.listens_on(plane.kubelet(protocol).port());
        node
    }

    /// Writes at which port API servers find the log endpoint of the node.
    pub fn listens_on(&self, port: u16) {
        let path = format!("/api/v1/nodes/{}/status", self.name);
        let status = json!({"status": {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }});
        self.patch(&path, &status);
    }

    /// Creates a Pod on the node with containers of these names. It has no state yet.
    pub fn pod(&self, name: &str, containers: &[&str]) -> HandPod<'_> {
        self.pod_with(name, containers, json!({"nodeName": self.name}))
    }

    /// The same with these fields of its spec.
    pub fn pod_with(&self, name: &str, containers: &[&str], spec: Value) -> HandPod<'_> {
        let mut spec = spec;
        let of = containers.iter();
        let of = of.map(|name| json!({"name": name, "image": format!("{name}:1")}));
        spec["containers"] = of.collect();
        let containers = containers.iter();
        let containers = containers.map(|name| HandContainer::new(name, Role::Main));
        self.create_pod(name, spec, containers.collect())
    }

    /// Creates a Pod on the node with init containers and sidecars, too.
    pub fn pod_of(&self, name: &str, containers: &[(&str, Role)]) -> HandPod<'_> {
        let mut spec = json!({"nodeName": self.name, "containers": [], "initContainers": []});
        for (name, role) in containers {
            let mut container = json!({"name": name, "image": format!("{name}:1")});
            if *role == Role::Sidecar {
                container["restartPolicy"] = "Always".into();
            }
            let list = match role {
                Role::Main => "containers",
                Role::Init | Role::Sidecar => "initContainers",
                Role::Ephemeral => panic!("the API server refuses it"),
            };
            spec[list].as_array_mut().unwrap().push(container);
        }
        let containers = containers.iter();
        let containers = containers.map(|(name, role)| HandContainer::new(name, *role));
        self.create_pod(name, spec, containers.collect())
    }

    fn create_pod(
        &self,
        name: &str,
        mut spec: Value,
        containers: Vec<HandContainer>,
    ) -> HandPod<'_> {
        spec["terminationGracePeriodSeconds"] = json!(0);
        let object = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": name}},
            "spec": spec,
        });
        let created = self.create(PODS, &object);
        let uid = created["metadata"]["uid"].as_str().unwrap();
        HandPod {
            node: self,
            name: name.to_owned(),
            uid: uid.to_owned(),
            containers,
        }
    }

    /// Asks for a log, as any client: `p1/log?container=app`. A log that does not end is read for a moment.
    pub fn log(&self, request: &str) -> Answer {
        self.log_as(&self.api.0, request)
    }

    /// The same by another client.
    pub fn log_as(&self, client: &Client, request: &str) -> Answer {
        let request = Request::get(format!("{PODS}/{request}"));
        let request = request.body(Body::empty()).unwrap();
        self.runtime.block_on(async {
            let (head, mut body) = client.send(request).await.unwrap().into_parts();
            let mut text = Vec::new();
            let read = async {
                while let Some(frame) = body.frame().await {
                    text.extend_from_slice(frame.unwrap().data_ref().unwrap());
                }
            };
            let _follows = tokio::time::timeout(Duration::from_secs(2), read).await;
            let text = String::from_utf8(text).unwrap();
            let status = head.status.as_u16();
            let words: Option<Value> = serde_json::from_str(&text).ok().filter(|_| status != 200);
            let message = words.and_then(|status| Some(status["message"].as_str()?.to_owned()));
            Answer {
                status,
                text: message.unwrap_or(text),
            }
        })
    }

    /// Follows the log of a Pod with one container.
    pub fn follow(&self, pod: &str) -> Following<'_> {
        let request = Request::get(format!("{PODS}/{pod}/log?follow=true"));
        let request = request.body(Body::empty()).unwrap();
        let answer = self.runtime.block_on(self.api.0.send(request)).unwrap();
        assert_eq!(answer.status(), 200);
        Following {
            node: self,
            body: answer.into_body(),
        }
    }

    /// A client with another kubeconfig.
    pub fn client(&self, kubeconfig: &str) -> Client {
        self.runtime.block_on(Api::new(kubeconfig)).0
    }

    /// Asks the log endpoint for a fault: `/cut?match=p1`. The top of `kubelet/faults.go` lists them all.
    pub fn ask(&self, request: &str) -> String {
        control(self.plane.kubelet_control(), "POST", request)
    }

    /// The streams for logs whose `namespace/pod/container` has this part.
    pub fn streams(&self, part: &str) -> Streams {
        let request = format!("/streams?match={part}");
        let text = control(self.plane.kubelet_control(), "GET", &request);
        let count = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
        };
        Streams {
            open: count("open ").unwrap(),
            requests: count("requests ").unwrap(),
        }
    }

    fn create(&self, path: &str, object: &Value) -> Value {
        self.runtime
            .block_on(self.api.create(path, object))
            .unwrap()
    }

    fn patch(&self, path: &str, body: &Value) {
        self.runtime.block_on(self.api.patch(path, body)).unwrap();
    }
}

const PODS: &str = "/api/v1/namespaces/default/pods";

/// A log that a client follows.
pub struct Following<'n> {
    node: &'n HandNode<'n>,
    body: Body,
}

impl Following<'_> {
    /// Reads until the text ends with this; returns the text.
    pub fn until(&mut self, end: &str) -> String {
        self.read(|text| text.ends_with(end))
    }

    /// Reads until the stream ends; returns the text. An end by an error fails the test.
    pub fn rest(&mut self) -> String {
        self.read(|_| false)
    }

    fn read(&mut self, is_enough: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        let reading = async {
            while !is_enough(&text) {
                let Some(frame) = self.body.frame().await else {
                    break;
                };
                text += std::str::from_utf8(frame.unwrap().data_ref().unwrap()).unwrap();
            }
        };
        let limit = Duration::from_secs(20);
        let read = async { tokio::time::timeout(limit, reading).await };
        let is_read = self.node.runtime.block_on(read).is_ok();
        assert!(is_read, "not within 20 s, after {text:?}");
        text
    }
}

/// A Pod whose states the test writes.
pub struct HandPod<'n> {
    node: &'n HandNode<'n>,
    pub name: String,
    uid: String,
    containers: Vec<HandContainer>,
}

/// What kind of container it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Main,
    Init,
    Sidecar,
    Ephemeral,
}

impl Role {
    /// The list of the status that has its state.
    fn statuses(self) -> &'static str {
        match self {
            Role::Main => "containerStatuses",
            Role::Init | Role::Sidecar => "initContainerStatuses",
            Role::Ephemeral => "ephemeralContainerStatuses",
        }
    }
}

/// The state of a container, as a kubelet knows it.
struct HandContainer {
    name: String,
    role: Role,
    /// Its present instance; `None` before the first.
    attempt: Option<u32>,
    state: Value,
    last: Value,
    /// Whether its probes succeed while it runs.
    is_ready: bool,
}

impl HandContainer {
    fn new(name: &str, role: Role) -> HandContainer {
        HandContainer {
            name: name.to_owned(),
            role,
            attempt: None,
            state: json!({"waiting": {"reason": "ContainerCreating"}}),
            last: json!({}),
            is_ready: true,
        }
    }

    fn is_running(&self) -> bool {
        self.state.get("running").is_some()
    }

    /// Whether it works, or has done its work.
    fn is_well(&self) -> bool {
        match self.role {
            Role::Init => self.state["terminated"]["exitCode"].as_i64() == Some(0),
            Role::Main | Role::Sidecar | Role::Ephemeral => self.is_running() && self.is_ready,
        }
    }

    /// Moves the end of the present instance, if it has ended, to the last one.
    fn leave(&mut self) {
        if self.state.get("terminated").is_some() {
            self.last = std::mem::take(&mut self.state);
        }
    }
}

impl HandPod<'_> {
    /// Starts an instance of a container. The end of one that still runs is not seen in any version.
    pub fn start(&mut self, container: &str) {
        self.prepare(container);
        self.of(container).state = json!({"running": {"startedAt": now()}});
        self.write();
    }

    /// Starts an instance that has ended before any version shows it.
    pub fn start_and_exit(&mut self, container: &str, code: i64, lines: &[&str]) {
        self.prepare(container);
        self.print(container, lines);
        self.exit(container, code);
    }

    /// Ends the present instance.
    pub fn exit(&mut self, container: &str, code: i64) {
        let reason = if code == 0 { "Completed" } else { "Error" };
        self.exit_as(container, code, reason);
    }

    /// Ends the present instance for this reason.
    pub fn exit_as(&mut self, container: &str, code: i64, reason: &str) {
        let mut end = self.end(container, code);
        end["reason"] = reason.into();
        self.of(container).state = json!({"terminated": end});
        self.write();
    }

    /// The container waits for this reason.
    pub fn wait(&mut self, container: &str, reason: &str) {
        let of = self.of(container);
        of.leave();
        of.state = json!({"waiting": {"reason": reason}});
        self.write();
    }

    /// The probes of a container succeed from now on, or fail.
    pub fn set_ready(&mut self, container: &str, is_ready: bool) {
        self.of(container).is_ready = is_ready;
        self.write();
    }

    /// The present instance prints lines.
    pub fn print(&self, container: &str, lines: &[&str]) {
        let lines = lines.iter().map(|text| cri(Timestamp::now(), 'F', text));
        self.append(container, &lines.collect::<String>());
    }

    /// Adds text to the log of the present instance: whole lines in the CRI format, or parts of one.
    pub fn append(&self, container: &str, text: &str) {
        let path = self.log_file(container);
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Rotates the log of the present instance, as a kubelet does.
    pub fn rotate(&self, container: &str) {
        let path = self.log_file(container);
        fs::rename(&path, path.with_extension("log.1")).unwrap();
        fs::write(path, "").unwrap();
    }

    /// The log of the present instance.
    pub fn log_file(&self, container: &str) -> PathBuf {
        let of = self.containers.iter().find(|of| of.name == container);
        self.file(container, of.unwrap().attempt.unwrap())
    }

    /// Removes the present instance from the container runtime, whose log then cannot be found.
    pub fn forget(&self, container: &str) {
        let of = self.containers.iter().find(|of| of.name == container);
        let id = self.id(container, of.unwrap().attempt.unwrap());
        fs::remove_file(self.link(container, &id)).unwrap();
    }

    /// Adds an ephemeral container, as `kubectl debug` does. It has no state yet.
    pub fn debug(&mut self, name: &str) {
        let container = json!({"name": name, "image": format!("{name}:1")});
        let path = format!("{PODS}/{}/ephemeralcontainers", self.name);
        let body = json!({"spec": {"ephemeralContainers": [container]}});
        self.node.patch(&path, &body);
        self.containers
            .push(HandContainer::new(name, Role::Ephemeral));
    }

    /// Deletes the Pod at once.
    pub fn delete(self) {
        let node = self.node;
        let path = format!("{PODS}/{}?gracePeriodSeconds=0", self.name);
        let request = Request::delete(path).body(Vec::new()).unwrap();
        let deleted = node.api.0.request::<Value>(request);
        node.runtime.block_on(deleted).unwrap();
    }

    /// Makes the next instance of a container, with an empty log.
    fn prepare(&mut self, container: &str) {
        let unseen = self.of(container).is_running();
        let end = unseen.then(|| self.end(container, 137));
        let of = self.of(container);
        of.leave();
        if let Some(end) = end {
            of.last = json!({"terminated": end});
        }
        let attempt = of.attempt.map_or(0, |attempt| attempt + 1);
        of.attempt = Some(attempt);
        let (file, id) = (self.file(container, attempt), self.id(container, attempt));
        let link = self.link(container, &id);
        for path in [&file, &link] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        fs::write(&file, "").unwrap();
        symlink(&file, link).unwrap();
    }

    /// The state of the present instance when it has ended.
    fn end(&self, container: &str, code: i64) -> Value {
        let of = self.containers.iter().find(|of| of.name == container);
        let attempt = of.unwrap().attempt.unwrap();
        let reason = if code == 0 { "Completed" } else { "Error" };
        json!({
            "exitCode": code, "reason": reason, "startedAt": now(), "finishedAt": now(),
            "containerID": self.id(container, attempt),
        })
    }

    fn of(&mut self, container: &str) -> &mut HandContainer {
        let mut containers = self.containers.iter_mut();
        containers.find(|of| of.name == container).unwrap()
    }

    /// Writes the status of the Pod.
    fn write(&self) {
        let mut status = json!({"phase": self.phase(), "hostIP": "127.0.0.1"});
        for of in &self.containers {
            let id = of.attempt.map(|attempt| self.id(&of.name, attempt));
            let statuses = &mut status[of.role.statuses()];
            if statuses.is_null() {
                *statuses = json!([]);
            }
            statuses.as_array_mut().unwrap().push(json!({
                "name": of.name, "image": format!("{}:1", of.name), "imageID": "",
                "containerID": id.unwrap_or_default(), "restartCount": of.attempt.unwrap_or(0),
                "ready": of.is_well(), "started": of.is_running(),
                "state": of.state, "lastState": of.last,
            }));
        }
        let mut needed = self.containers.iter();
        let are_ready = needed.all(|of| of.role == Role::Ephemeral || of.is_well());
        let ready = if are_ready { "True" } else { "False" };
        let condition = |kind| json!({"type": kind, "status": ready, "lastTransitionTime": now()});
        status["conditions"] = json!([condition("Ready"), condition("ContainersReady")]);
        let status = json!({"status": status});
        self.node
            .patch(&format!("{PODS}/{}/status", self.name), &status);
    }

    fn phase(&self) -> &'static str {
        let code = |of: &HandContainer| of.state["terminated"]["exitCode"].as_i64();
        let containers = self.containers.iter();
        let mut containers = containers.filter(|of| of.role == Role::Main);
        if containers.clone().all(|of| code(of) == Some(0)) {
            "Succeeded"
        } else if containers.all(|of| of.attempt.is_none()) {
            "Pending"
        } else {
            "Running"
        }
    }

    fn id(&self, container: &str, attempt: u32) -> String {
        let of = |at: &HandContainer| at.name == container;
        let index = self.containers.iter().position(of).unwrap();
        let uid = self.uid.replace('-', "");
        format!("containerd://{uid}{index:016x}{attempt:016x}")
    }

    fn file(&self, container: &str, attempt: u32) -> PathBuf {
        let pod = format!("default_{}_{}", self.name, self.uid);
        let pods = self.node.plane.containers().join("pods");
        pods.join(pod)
            .join(container)
            .join(format!("{attempt}.log"))
    }

    fn link(&self, container: &str, id: &str) -> PathBuf {
        let id = id.strip_prefix("containerd://").unwrap();
        let name = format!("{}_default_{container}-{id}.log", self.name);
        self.node.plane.containers().join("containers").join(name)
    }
}

/// A line, or with `P` a part of a line, in the CRI format.
pub fn cri(at: Timestamp, tag: char, text: &str) -> String {
    format!(
        "{} stdout {tag} {text}\n",
        at.strftime("%Y-%m-%dT%H:%M:%S.%9fZ")
    )
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Sends a request without a body over plain HTTP; returns the body of the answer.
fn control(address: SocketAddr, method: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("{method} {request} HTTP/1.0\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{method} {request}: {answer}");
    body.to_owned()
}
