//! Any bytes as the stream of a log, cut anywhere and read on. The chunks do not matter. Also as lines on a terminal, which
//! obeys none of them.

#![no_main]

use std::sync::Arc;

use bytes::Bytes;
use kubectl_spy::logs::{
    ChainStart, ContainerLogs, Flow, JsonLine, LogContainerRole, LogReader, LogSplitter,
    ReadOptions, ReadStep, SeenInstance, StreamEnd, level_of,
};
use kubectl_spy::object::ObjectRef;
use kubectl_spy::render::log_text::log_line;
use kubectl_spy::render::style::Styles;
use kubectl_spy::source::log::{LogContainer, LogEvent};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [size, cut, log @ ..] = input else { return };
    let chunk = usize::from(*size) + 1;
    let cut = log.len() * usize::from(*cut) / 256;
    let whole = shown(&[log], chunk);
    assert_eq!(whole, shown(&[log], 1 << 20), "the chunks do not matter");
    // A server may send anything after a cut.
    shown(&[&log[..cut], log, log], chunk);
    for line in &whole {
        level_of(line);
        JsonLine::parse(line);
        let shown = log_line(Styles::PLAIN, "", line[..].into(), |_| None);
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
    let mut reader = LogReader::new(container(), running(), options, ChainStart::Present);
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
            attempt: 0,
            exit: None,
        }),
        is_running: true,
        last: None,
        waiting: None,
    }
}
