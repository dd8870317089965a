//! Tests of logs as no program should write them.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::json;

use crate::support::hostile::{Answer, Hostile};

/// How many chunks of 1 MiB the line has.
const CHUNKS: usize = 192;

/// A server with the Pod `web`, whose container prints one line of 192 MiB, and another one after it. It then runs on.
fn endless_line() -> Hostile {
    Hostile::start(|target| {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "5"},
            "spec": {"nodeName": "n", "containers": [{"name": "app"}]},
            "status": {"phase": "Running", "containerStatuses": [
                {"name": "app", "containerID": "c0", "restartCount": 0, "state": {"running": {}}, "lastState": {}},
            ]},
        });
        let list = json!({
            "apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [pod],
        });
        let waits = std::iter::from_fn(|| {
            std::thread::park();
            None
        });
        if target.contains("/log?") {
            let chunk = [b"100000\r\n", &vec![b'x'; 1 << 20][..], b"\r\n"].concat();
            let time = "2026-03-02T12:00:00.000000001Z ";
            let start = format!("{:x}\r\n{time}\r\n", time.len()).into_bytes();
            let end = Answer::piece("\n2026-03-02T12:00:00.000000002Z last");
            let line = std::iter::repeat_n(chunk, CHUNKS);
            let pieces = [Answer::stream_head(), start].into_iter().chain(line);
            Answer::Pieces(Box::new(pieces.chain([end]).chain(waits)))
        } else if target.contains("watch=") {
            Answer::Pieces(Box::new([Answer::stream_head()].into_iter().chain(waits)))
        } else {
            Answer::json(200, &list.to_string())
        }
    })
}

/// What the program prints of the long line in this format, up to the line after it, and its peak memory in MiB.
fn printed(format: &str) -> (Vec<u8>, u64) {
    let hostile = endless_line();
    let args = ["logs", "pod/web", "-f", "-o", format];
    let mut child = hostile.spy().spawn_to(Stdio::piped(), &args);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = Vec::new();
    out.read_until(b'\n', &mut line).unwrap();
    let mut last = [0; 4];
    out.read_exact(&mut last).unwrap();
    assert_eq!(&last, b"last");
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.unwrap().trim().trim_end_matches(" kB").parse::<u64>();
    child.kill().unwrap();
    child.wait().unwrap();
    (line, peak.unwrap() >> 10)
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_takes_little_memory() {
    let length = CHUNKS << 20;
    let (line, peak) = printed("raw");
    assert_eq!(line.len(), length + 1);
    assert!(line[..length].iter().all(|byte| *byte == b'x'));
    assert!(peak < 96, "{peak} MiB");
    let (line, peak) = printed("short");
    let rest = format!(" … +{} bytes\n", length - (1 << 20));
    assert_eq!(String::from_utf8_lossy(&line[1 << 20..]), rest);
    assert!(peak < 96, "{peak} MiB");
}
