//! Any bytes as the stream of a log, cut anywhere and read on. The chunks do not matter. Also as lines on a terminal, which
//! obeys none of them.

#![no_main]

use std::sync::Arc;

use bytes::Bytes;
use kubectl_spy::logs::{
    ContainerLogs, Flow, JsonLine, LogContainerRole, LogReader, LogSplitter, ReadOptions, ReadStep,
    SeenInstance, StreamEnd, level_of, timed_line,
};
use kubectl_spy::object::ObjectRef;
use kubectl_spy::render::display::Line;
use kubectl_spy::render::log_text::log_line;
use kubectl_spy::render::style::Styles;
use kubectl_spy::source::ClusterId;
use kubectl_spy::source::log::{LogContainer, LogEvent, LogRequest, LogSince};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [size, cut, log @ ..] = input else { return };
    let chunk = usize::from(*size) + 1;
    let cut = log.len() * usize::from(*cut) / 256;
    let whole = shown(&[log], chunk);
    assert_eq!(whole, shown(&[log], 1 << 20), "the chunks do not matter");
    // A server may send anything after a cut.
    shown(&[&log[..cut], log, log], chunk);
    once(log, cut, chunk);
    for line in &whole {
        level_of(line);
        JsonLine::parse(line);
        let shown = log_line(Styles::PLAIN, [&Line::default(); 2], line[..].into(), |_| None);
        assert!(
            !shown
                .as_str()
                .contains(|c: char| c.is_control() && c != '\t')
        );
    }
});

/// The lines that a reader shows of these answers, one after the other.
fn shown(answers: &[&[u8]], chunk: usize) -> Vec<Bytes> {
    let options = ReadOptions {
        follow: true,
        ..ReadOptions::default()
    };
    let mut reader = LogReader::new(container(), running(), options);
    let mut lines = Vec::new();
    for answer in answers {
        while !matches!(reader.step(), ReadStep::Open(_)) {
            reader.waited();
        }
        read(&mut reader, answer, chunk);
        lines.extend(reader.take_events().filter_map(|event| match event {
            LogEvent::Line(line) => Some(line.text),
            _ => None,
        }));
    }
    lines
}

/// Reads a log without `follow`. Its first answer is cut, and the last line is what follows the last line feed but one.
fn once(log: &[u8], cut: usize, chunk: usize) {
    let mut reader = LogReader::new(container(), running(), ReadOptions::default());
    let mut is_cut = true;
    for _ in 0..100 {
        match reader.step() {
            ReadStep::Open(request) if request.start.tail == Some(1) => {
                let text = log.strip_suffix(b"\n").unwrap_or(log);
                let start = text.iter().rposition(|byte| *byte == b'\n');
                read(&mut reader, &log[start.map_or(0, |at| at + 1)..], chunk);
            }
            ReadStep::Open(_) if std::mem::take(&mut is_cut) => {
                read(&mut reader, &log[..cut], chunk);
            }
            ReadStep::Open(request) => read(&mut reader, &since(log, &request), chunk),
            ReadStep::Done => return,
            ReadStep::Wait(_) => reader.waited(),
            ReadStep::Pause(_) | ReadStep::WaitTurn => {}
        }
    }
    panic!("it reads for ever");
}

/// The lines that a request asks for, as a kubelet filters them.
fn since(log: &[u8], request: &LogRequest) -> Vec<u8> {
    let Some(LogSince::Second(second)) = request.start.since else {
        return log.to_vec();
    };
    let lines = log.split_inclusive(|byte| *byte == b'\n');
    let is_asked =
        |line: &&[u8]| timed_line(line).is_none_or(|(time, _)| time.as_second() >= second);
    lines.filter(is_asked).collect::<Vec<_>>().concat()
}

fn read(reader: &mut LogReader, answer: &[u8], chunk: usize) {
    reader.opened();
    let mut splitter = LogSplitter::default();
    for part in answer.chunks(chunk) {
        splitter.feed(Bytes::copy_from_slice(part));
        while let Some(part) = splitter.part() {
            if reader.line(part) == Flow::Stop {
                return;
            }
        }
    }
    reader.ended(StreamEnd::Clean(splitter.rest()));
}

fn container() -> Arc<LogContainer> {
    let pod = ObjectRef {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: Some("shop".into()),
        name: "web".into(),
        uid: None,
    };
    Arc::new(LogContainer {
        cluster: ClusterId("test".into()),
        pod: Arc::new(pod),
        name: "app".into(),
    })
}

fn running() -> ContainerLogs {
    ContainerLogs {
        name: "app".into(),
        role: LogContainerRole::Main,
        present: Some(SeenInstance {
            id: "c0".into(),
            ..SeenInstance::default()
        }),
        is_running: true,
        is_ready: true,
        last: None,
        waiting: None,
    }
}
