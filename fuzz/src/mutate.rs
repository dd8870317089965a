//! A mutator for texts of JSON values. It moves, drops and replaces whole values, so that the result is still
//! JSON, and mostly objects that the program has rules for.

use serde_json::{Map, Value};

/// Field names that the rules read.
const FIELDS: &str = "
    addresses annotations apiVersion availableReplicas backoffLimit claimRef completionTime
    completions conditions containerID containerStatuses containers controller creationTimestamp
    currentNumberScheduled currentReplicas currentRevision data deletionGracePeriodSeconds
    deletionTimestamp desiredNumberScheduled disruptionsAllowed endpoints exitCode failed
    finalizers finishedAt generation initContainerStatuses initContainers ip items kind labels
    lastState lastTransitionTime managedFields matchExpressions matchLabels maxUnavailable
    message metadata name namespace nodeName numberAvailable numberReady object
    observedGeneration ownerReferences parallelism partition paused phase podIPs ports
    progressDeadlineSeconds publishNotReadyAddresses ready readyReplicas reason replicas
    resourceVersion restartCount restartPolicy rollingUpdate running selector serving signal spec
    startTime started startedAt state status strategy stringData succeeded suspend targetRef
    template terminated terminating type uid unavailableReplicas updateRevision updateStrategy
    updatedNumberScheduled updatedReplicas volumeName waiting
";

/// Texts that the rules know, and edge cases.
const TEXTS: &str = "
    0 1 -1 100% True False Unknown Ready Available Progressing ReplicaFailure
    ProgressDeadlineExceeded Complete Failed Suspended PodScheduled Initialized ContainersReady
    Established NamesAccepted Stalled Reconciling Pending Running Succeeded Bound Lost
    ImagePullBackOff ErrImagePull CrashLoopBackOff CreateContainerConfigError Completed OOMKilled
    Error Evicted NodeLost Unschedulable OnDelete RollingUpdate LoadBalancer ExternalName
    ClusterIP Never Always web web-1 shop u1 u2 u3 v1 apps/v1 batch/v1 discovery.k8s.io/v1
    policy/v1 apiextensions.k8s.io/v1 example.com/v1 Pod Deployment ReplicaSet StatefulSet
    DaemonSet Job CronJob Service EndpointSlice PersistentVolumeClaim PersistentVolume
    PodDisruptionBudget CustomResourceDefinition ReplicationController Namespace Node ConfigMap
    Secret Event Lease HorizontalPodAutoscaler Ingress PodList List ADDED MODIFIED DELETED
    BOOKMARK ERROR Status Expired 2026-01-02T03:04:05Z 2026-01-02T03:03:05Z 2016-12-31T23:59:60Z
    9999-12-31T23:59:59Z -009999-01-02T01:59:59Z 0000-00-00T00:00:00Z 9223372036854775807
    -9223372036854775808
";

/// Texts that are not words.
const ODD_TEXTS: [&str; 10] = [
    "",
    "\u{1b}[2J",
    "\u{202e}cod",
    "\r",
    "\n",
    "a\nb",
    "\u{0}",
    "\u{feff}",
    "e\u{301}\u{301}",
    "\u{1f469}\u{200d}\u{1f4bb}",
];

/// Changes one value in a text of JSON values. `None` if the text is not JSON, or if the result is longer
/// than `most` bytes.
pub fn mutate(text: &[u8], most: usize, seed: u32) -> Option<Vec<u8>> {
    let values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let mut values = values.collect::<Result<Vec<Value>, _>>().ok()?;
    let mut dice = fastrand::Rng::with_seed(seed.into());
    for _ in 0..=dice.usize(..3) {
        if values.is_empty() {
            values.push(Value::Object(Map::new()));
        }
        let donor = any_part(&values, &mut dice).clone();
        match dice.u8(..8) {
            0 => values.push(donor),
            1 => drop(values.swap_remove(dice.usize(..values.len()))),
            _ => {
                let at = dice.usize(..values.len());
                change(&mut values[at], &donor, &mut dice);
            }
        }
    }
    let mut text = Vec::new();
    for value in &values {
        serde_json::to_writer(&mut text, value).ok()?;
        text.push(b'\n');
    }
    (text.len() <= most).then_some(text)
}

/// A random value inside one of these values.
fn any_part<'v>(values: &'v [Value], dice: &mut fastrand::Rng) -> &'v Value {
    let mut at = &values[dice.usize(..values.len())];
    loop {
        let inside: Vec<&Value> = match at {
            Value::Object(fields) => fields.values().collect(),
            Value::Array(items) => items.iter().collect(),
            _ => return at,
        };
        if inside.is_empty() || dice.u8(..4) == 0 {
            return at;
        }
        at = inside[dice.usize(..inside.len())];
    }
}

/// Descends at random and changes the value it reaches.
fn change(value: &mut Value, donor: &Value, dice: &mut fastrand::Rng) {
    let goes_on = dice.u8(..6) > 0;
    match value {
        Value::Object(fields) if goes_on && !fields.is_empty() => {
            let at = dice.usize(..fields.len());
            let name = fields.keys().nth(at).cloned().unwrap_or_default();
            match dice.u8(..12) {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert(pick(FIELDS, dice), donor.clone())),
                2 => drop(fields.insert(pick(FIELDS, dice), leaf(dice))),
                _ => change(&mut fields[&name], donor, dice),
            }
        }
        Value::Array(items) if goes_on && !items.is_empty() => {
            let at = dice.usize(..items.len());
            match dice.u8(..8) {
                0 => drop(items.swap_remove(at)),
                1 => items.push(items[at].clone()),
                2 => items.push(donor.clone()),
                _ => change(&mut items[at], donor, dice),
            }
        }
        _ if dice.u8(..4) == 0 => *value = donor.clone(),
        _ => *value = leaf(dice),
    }
}

fn leaf(dice: &mut fastrand::Rng) -> Value {
    match dice.u8(..11) {
        0 => Value::Null,
        1 => Value::Bool(dice.bool()),
        2 => Value::from(dice.i64(-2..4)),
        3 => Value::from(i64::MAX),
        4 => Value::from(-1.5e300),
        5 => Value::Array(Vec::new()),
        6 => Value::Object(Map::new()),
        7 => Value::from(ODD_TEXTS[dice.usize(..ODD_TEXTS.len())]),
        _ => Value::from(pick(TEXTS, dice)),
    }
}

fn pick(words: &str, dice: &mut fastrand::Rng) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    words[dice.usize(..words.len())].to_owned()
}
