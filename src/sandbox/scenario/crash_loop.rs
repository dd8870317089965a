//! The kubelet and a program that panics at its start: restarts, each after a longer pause.

use serde_json::json;

use super::kubelet::{CRASH, image, instance, living, report_pod, set_container, wait};
use super::world::{Task, World};
use crate::sandbox::WriteError;
use crate::sandbox::store::{number, text};

/// What the program prints before it exits.
const PANIC: [&str; 4] = [
    "panic: open /etc/web/config.yaml: no such file or directory",
    "goroutine 1 [running]:",
    "main.main()",
    "\t/src/main.go:41 +0x1d",
];
/// The exit code of a panic in Go.
const EXIT: i64 = 2;
/// How soon the kubelet sees that a container has ended, in milliseconds.
const SEEN: i64 = 1000;
/// The first pause before a restart, as in the kubelet. Each further one is twice as long.
const PAUSE: i64 = 10_000;
/// The number of restarts after which the scenario leaves the Pod alone.
const MAX_RESTARTS: i64 = 6;

pub(super) fn crash(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = living(world, name) else {
        return Ok(());
    };
    let container = &pod["status"]["containerStatuses"][0];
    let state = json!({"terminated": {
        "exitCode": EXIT, "reason": "Error", "startedAt": container["state"]["running"]["startedAt"],
        "finishedAt": world.time(), "containerID": container["containerID"],
    }});
    let id = text(&container["containerID"]);
    for line in PANIC {
        world.print(id, line);
    }
    let restarts = number(container, "/restartCount");
    set_container(&mut pod, &state);
    let next = match restarts {
        0 => Task::Restart(name.to_owned()),
        _ => Task::CrashBackOff(name.to_owned()),
    };
    world.plan(SEEN, next);
    report_pod(world, pod)
}

/// Reports `CrashLoopBackOff` and plans the next start.
pub(super) fn back_off(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = living(world, name) else {
        return Ok(());
    };
    let container = &mut pod["status"]["containerStatuses"][0];
    container["lastState"] = container["state"].clone();
    let restarts = number(container, "/restartCount");
    let pause = PAUSE << (restarts - 1).clamp(0, 4);
    let message = format!(
        "back-off {}s restarting failed container={} pod={name}_{}",
        pause / 1000,
        text(&container["name"]),
        world.namespace,
    );
    wait(&mut pod, "CrashLoopBackOff", Some(&message));
    if restarts < MAX_RESTARTS {
        world.plan(pause, Task::Restart(name.to_owned()));
    }
    report_pod(world, pod)
}

pub(super) fn restart(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = living(world, name) else {
        return Ok(());
    };
    let restarts = number(&pod, "/status/containerStatuses/0/restartCount") + 1;
    let id = instance(name, restarts.unsigned_abs());
    let container = &mut pod["status"]["containerStatuses"][0];
    if container["state"]["terminated"].is_object() {
        container["lastState"] = container["state"].clone();
    }
    container["restartCount"] = json!(restarts);
    container["containerID"] = json!(id);
    set_container(&mut pod, &json!({"running": {"startedAt": world.time()}}));
    pod["status"]["containerStatuses"][0]["started"] = json!(true);
    let image = image(&pod);
    let version = image.rsplit_once(':').map_or("", |(_, version)| version);
    world.print(&id, &format!("starting {version}"));
    world.plan(CRASH, Task::Crash(name.to_owned()));
    report_pod(world, pod)
}
