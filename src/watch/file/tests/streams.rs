//! Tests of streams, which play while they are read. They run on the wall clock, because a thread reads them.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::watch::file::log::AHEAD;
use crate::watch::tests::Reading;

/// An input that the test writes to.
struct Pipe {
    chunks: Receiver<String>,
    chunk: io::Cursor<Vec<u8>>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.chunk.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.chunks.recv() {
                Ok(chunk) => self.chunk = io::Cursor::new(chunk.into_bytes()),
                Err(_) => return Ok(0),
            }
        }
    }
}

fn pipe() -> (Sender<String>, Box<Pipe>) {
    let (send, chunks) = channel();
    let chunk = io::Cursor::default();
    (send, Box::new(Pipe { chunks, chunk }))
}

/// A stream that begins with `text`, its first source, and the sender for more.
async fn begin(text: &str) -> (Sender<String>, Arc<FileTransport>, Reading) {
    let (send, input) = pipe();
    send.send(text.to_owned()).expect("it reads");
    let file = FileTransport::stream("-", input).await.expect("valid");
    let file = Arc::new(file);
    let source = mux(&file).open(key(file.resources[0].resource.clone()));
    (send, file, source.every(Patience::Pipe))
}

/// Checks the next events.
async fn next(every: &mut Reading, expect: &[&str]) {
    for expect in expect {
        let next = timeout(Duration::from_secs(60), every.next());
        let event = next.await.expect("in time").expect("not over");
        let found = match &event {
            Event::Undecodable { detail } => format!("undecodable {detail}"),
            _ => brief(&event),
        };
        assert_eq!(found, *expect);
    }
}

#[tokio::test]
async fn each_value_is_played_when_it_arrives() {
    let (send, _file, mut every) = begin(&[pod("a", 1, "web"), pod("b", 2, "web")].concat()).await;
    let start = ["connecting", "listed a 1", "listed b 2", "synced 1 (2)"];
    next(&mut every, &start).await;
    next(&mut every, &["live"]).await;
    let event = event("MODIFIED", &pod("a", 3, "web"));
    let (half, rest) = event.split_at(40);
    send.send(half.to_owned()).expect("it reads");
    send.send(rest.to_owned()).expect("it reads");
    next(&mut every, &["modified a 1>3"]).await;
    // An object that arrives for the first time now did not exist at the start.
    send.send(pod("c", 4, "web")).expect("it reads");
    next(&mut every, &["added c 4"]).await;
    send.send(pod("c", 5, "web")).expect("it reads");
    next(&mut every, &["modified c 4>5"]).await;
    drop(send);
    next(&mut every, &["ended"]).await;
    assert!(every.next().await.is_none());
}

#[tokio::test]
async fn a_stream_without_a_pause_equals_a_file() {
    let text = [
        pod("a", 1, "web"),
        event("MODIFIED", &pod("a", 2, "web")),
        r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}"#.to_owned(),
    ]
    .concat();
    let file = FileTransport::stream("-", Box::new(io::Cursor::new(text.clone())));
    let stream = file.await.expect("valid");
    let file = FileTransport::parse("-", &text).expect("valid");
    assert_eq!(stream.resources, file.resources);
    assert_eq!(texts(&stream), texts(&file));
    for text in [
        "",
        "\u{feff}",
        " \n ",
        "a: b",
        "{}",
        "\u{feff}{\n\"a\": }",
        "{\"a\":1",
    ] {
        let file = FileTransport::parse("-", text).map(|file| texts(&file));
        let bytes = Box::new(io::Cursor::new(text.to_owned()));
        let stream = FileTransport::stream("-", bytes).await;
        assert_eq!(stream.map(|file| texts(&file)), file, "{text:?}");
    }
}

#[tokio::test]
async fn yaml_is_read_to_its_end() {
    let (send, input) = pipe();
    let yaml = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
    send.send(yaml.to_owned()).expect("it reads");
    send.send("---\n".to_owned()).expect("it reads");
    send.send(yaml.replace("a}", "b}")).expect("it reads");
    drop(send);
    let file = FileTransport::stream("-", input).await.expect("valid");
    assert_eq!(texts(&file).len(), 2);
}

#[tokio::test]
async fn logs_between_the_values_are_skipped() {
    let about = "logs for container a of pod shop/web ====";
    let log = format!("==== START {about}\nx\n{{\n==== END {about}\n");
    let (first, rest) = log.split_at(40);
    let (send, _file, mut every) = begin(&pod("a", 1, "web")).await;
    next(
        &mut every,
        &["connecting", "listed a 1", "synced 1 (1)", "live"],
    )
    .await;
    send.send(first.to_owned()).expect("it reads");
    send.send(rest.to_owned() + &pod("a", 2, "web"))
        .expect("it reads");
    next(&mut every, &["modified a 1>2"]).await;
    send.send(log.clone() + "1").expect("it reads");
    next(&mut every, &["undecodable -: line 9: not an object"]).await;
}

#[tokio::test]
async fn utf16_is_read_to_its_end() {
    let units = |text: &str| {
        text.encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect::<Vec<u8>>()
    };
    let bytes = [vec![0xfe, 0xff], units(&pod("a", 1, "web"))].concat();
    for size in [1, 2, 3, bytes.len()] {
        let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
        let input: Box<dyn Read + Send> = chunks
            .into_iter()
            .map(<[u8]>::to_vec)
            .fold(Box::new(io::empty()), |all, chunk| {
                Box::new(all.chain(io::Cursor::new(chunk)))
            });
        let file = FileTransport::stream("-", input).await.expect("valid");
        assert_eq!(texts(&file), [pod("a", 1, "web")], "{size}");
    }
}

#[tokio::test]
async fn what_comes_before_an_error_is_shown() {
    for (rest, end) in [
        (
            "\n{\"kind\": oh",
            &[
                "undecodable -: line 2: expected value at column 10",
                "ended",
            ][..],
        ),
        // Half an object that seems to have the next one inside.
        (
            &("\n{\"half\":\n".to_owned()
                + &event("MODIFIED", &pod("a", 2, "web"))
                + &event("MODIFIED", &pod("a", 3, "web"))),
            &[
                "undecodable -: line 6: expected `,` or `}` at column 1",
                "modified a 1>2",
                "modified a 2>3",
                "ended",
            ],
        ),
        // Half an object at the end.
        (
            "\n{\"kind\":",
            &["failed: error: -: line 2: unexpected end of JSON input at column 8"],
        ),
    ] {
        let text = pod("a", 1, "web") + rest;
        let file = FileTransport::stream("-", Box::new(io::Cursor::new(text)));
        let file = Arc::new(file.await.expect("it has an object"));
        let mut every = mux(&file)
            .open(key(file.resources[0].resource.clone()))
            .every(Patience::Pipe);
        let start = ["connecting", "listed a 1", "synced 1 (1)", "live"];
        next(&mut every, &start).await;
        next(&mut every, end).await;
    }
}

/// Each stretch of garbage is one fault, and the next object is read.
#[tokio::test]
async fn garbage_does_not_end_a_stream() {
    for (garbage, error) in [
        ("\n\nx", "line 5: expected value at column 1"),
        ("1", "line 3: not an object"),
        ("{\n}", "line 3: Object 'Kind' is missing"),
        (
            "{\"type\":\"ADDED\"\n{\"type\"",
            "line 4: expected `,` or `}` at column 1",
        ),
        // A JSON log, then other words.
        (
            "{\"level\":\"warn\"}\n[INFO] x\n{\"level\":\"warn\"}\noh\n",
            "line 3: Object 'Kind' is missing",
        ),
        // The first half of an event, which nothing follows for a while.
        (
            "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Po",
            "line 3: control character (\\u0000-\\u001F) found while parsing a string at column 36",
        ),
    ] {
        for pieces in [1, 2, 3, 1000] {
            let (send, _file, mut every) = begin(&pod("a", 1, "web")).await;
            let start = ["connecting", "listed a 1", "synced 1 (1)", "live"];
            next(&mut every, &start).await;
            let text = [
                "\n\n",
                garbage,
                "\n",
                &event("MODIFIED", &pod("a", 2, "web")),
            ]
            .concat();
            let size = text.len().div_ceil(pieces);
            for piece in text.as_bytes().chunks(size) {
                let piece = String::from_utf8(piece.to_vec()).expect("ASCII");
                send.send(piece).expect("it reads");
            }
            next(
                &mut every,
                &[&format!("undecodable -: {error}"), "modified a 1>2"],
            )
            .await;
            // What could be read ends the stretch.
            send.send("oh\n".to_owned() + &event("MODIFIED", &pod("a", 3, "web")))
                .expect("it reads");
            let line = text.matches('\n').count() + 1;
            let again = format!("undecodable -: line {line}: expected value at column 1");
            next(&mut every, &[&again, "modified a 2>3"]).await;
            drop(send);
            next(&mut every, &["ended"]).await;
        }
    }
}

/// A stream that begins with something else is not one of objects.
#[tokio::test]
async fn a_stream_that_begins_with_garbage_fails() {
    let text = "{\"level\":\"info\"}\n".to_owned() + &pod("a", 1, "web");
    let file = FileTransport::stream("-", Box::new(io::Cursor::new(text))).await;
    let error = file.map(|_| ()).expect_err("no object");
    assert_eq!(error.to_string(), "line 1: Object 'Kind' is missing");
}

#[tokio::test]
async fn a_kind_that_nobody_reads_fails_the_sources() {
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}"#;
    let (send, file, mut every) = begin(&pod("a", 1, "web")).await;
    send.send(node.to_owned() + &pod("a", 2, "web"))
        .expect("it reads");
    // Only pods are read.
    let start = ["connecting", "listed a 1", "synced 1 (1)", "live"];
    next(&mut every, &start).await;
    next(&mut every, &["modified a 1>2"]).await;
    file.look_at_all();
    send.send(node.to_owned()).expect("it reads");
    let error = "failed: error: -: line 1: node/n: new kind in the stream; save a stream of several kinds to a file and pass that to --from";
    next(&mut every, &[error]).await;
}

/// Events without end, after a signal from the test.
struct Endless {
    asked: Receiver<()>,
    version: u32,
    rest: io::Cursor<Vec<u8>>,
    /// Closes a channel when it is dropped.
    _held: Sender<()>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.rest.read(buffer)?;
        if read > 0 {
            return Ok(read);
        }
        self.version += 1;
        if self.version == 2 {
            let _or_gone = self.asked.recv();
        }
        let object = pod("a", self.version, &"x".repeat(40_000));
        self.rest = io::Cursor::new(event("MODIFIED", &object).into_bytes());
        self.rest.read(buffer)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_stream_uses_bounded_memory() {
    let (ask, asked) = channel();
    let (held, dropped) = channel();
    let input = Box::new(Endless {
        asked,
        version: 0,
        rest: io::Cursor::default(),
        _held: held,
    });
    let file = Arc::new(FileTransport::stream("-", input).await.expect("valid"));
    let transport: Arc<dyn Transport> = file.clone();
    let options = MuxOptions {
        queue_bytes: 100_000,
        ..MuxOptions::default()
    };
    let mux = Mux::with_options([(ClusterId("file".into()), transport)], clock(), options);
    let source = mux.open(key(file.resources[0].resource.clone()));
    let mut every = source.every(Patience::Pipe);
    next(
        &mut every,
        &["connecting", "listed a 1", "synced 1 (1)", "live"],
    )
    .await;
    ask.send(()).expect("it waits");
    for version in 2..600 {
        let expect = format!("modified a {}>{version}", version - 1);
        next(&mut every, &[&expect]).await;
        let kept = file.log.bytes();
        assert!(kept < AHEAD + 200_000, "{kept}");
    }
    // Nobody reads any more, so the thread ends.
    drop((every, source, mux, file));
    let end = tokio::task::spawn_blocking(move || dropped.recv_timeout(Duration::from_secs(60)));
    let end = end.await.expect("no panic");
    assert_eq!(end, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
}
