//! Tests of every fault, as it appears on the wire. The clock is paused.

use std::io::Read;
use std::time::Duration;

use super::client::{Ended, Exchange, event, get, get_with};
use super::*;

const WATCH: &str =
    "/api/v1/namespaces/shop/configmaps?watch=1&timeoutSeconds=30&resourceVersion=1";
const LIST: &str = "/api/v1/namespaces/shop/configmaps";

/// A sandbox with four writes and a fault for the next request.
async fn faulty(verb: Verb, effect: Effect) -> Sandbox {
    let sandbox = sandbox().await;
    for n in 0..4 {
        put(&sandbox, config_map(&format!("c{n}"), &json!({})));
    }
    sandbox.inject(Fault::on(verb, "configmaps", effect));
    sandbox
}

const ALL: [&str; 4] = ["ADDED c0 2", "ADDED c1 3", "ADDED c2 4", "ADDED c3 5"];

#[tokio::test(start_paused = true)]
async fn watches_end_early_in_every_way() {
    let cases = [
        (Place::BeforeHeaders, End::Dropped, Ended::Closed, 0, ""),
        (Place::BeforeHeaders, End::Reset, Ended::Reset, 0, ""),
        (Place::AfterHeaders, End::Clean, Ended::Clean, 0, ""),
        (Place::AfterEvents(0), End::Reset, Ended::Reset, 0, ""),
        (Place::AfterEvents(2), End::Clean, Ended::Clean, 2, ""),
        (Place::AfterEvents(2), End::Dropped, Ended::Closed, 2, ""),
        (Place::AfterEvents(2), End::Reset, Ended::Reset, 2, ""),
        (
            Place::MidLine(1),
            End::Clean,
            Ended::Clean,
            1,
            "{\"type\":\"ADDED\"",
        ),
        (
            Place::MidLine(1),
            End::Dropped,
            Ended::Closed,
            1,
            "{\"type\":\"ADDED\"",
        ),
        (
            Place::MidLine(1),
            End::Reset,
            Ended::Reset,
            1,
            "{\"type\":\"ADDED\"",
        ),
    ];
    for (at, end, ended, whole, half) in cases {
        let sandbox = faulty(Verb::Watch, Effect::Cut { at, end }).await;
        let answer = get(&sandbox, WATCH).await;
        let text = answer.text();
        let (lines, rest) = text.rsplit_once('\n').unwrap_or(("", &text));
        assert_eq!(
            lines.lines().map(event).collect::<Vec<_>>(),
            ALL[..whole],
            "{at:?} {end:?}"
        );
        assert!(
            rest.starts_with(half) && rest.is_empty() == half.is_empty(),
            "{at:?} {end:?}: {rest}"
        );
        assert_eq!(answer.ended, Some(ended), "{at:?} {end:?}");
        assert_eq!(
            get(&sandbox, WATCH).await.events(),
            ALL,
            "the next request is served"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_keeps_the_connection_open() {
    let places = [
        (Place::BeforeHeaders, 0),
        (Place::AfterHeaders, 0),
        (Place::AfterEvents(2), 2),
        (Place::MidLine(1), 2),
    ];
    for (at, chunks) in places {
        let sandbox = faulty(Verb::Watch, Effect::Stall { at }).await;
        let mut watch = Exchange::send(&sandbox, &format!("GET {WATCH} HTTP/1.1")).await;
        let reading = async {
            watch.read_head().await;
            while watch.chunk().await.is_some() {}
        };
        let hour = Duration::from_secs(3600);
        assert!(tokio::time::timeout(hour, reading).await.is_err(), "{at:?}");
        assert_eq!(
            (watch.head.is_empty(), watch.chunks.len()),
            (at == Place::BeforeHeaders, chunks),
            "{at:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn lists_break_in_the_middle() {
    let whole = get(&faulty(Verb::Watch, Effect::NoBookmarks).await, LIST)
        .await
        .body()
        .len();
    for (end, ended) in [
        (End::Clean, Ended::Clean),
        (End::Dropped, Ended::Closed),
        (End::Reset, Ended::Reset),
    ] {
        let sandbox = faulty(
            Verb::List,
            Effect::Cut {
                at: Place::MidLine(0),
                end,
            },
        )
        .await;
        let answer = get(&sandbox, LIST).await;
        assert_eq!(
            (answer.code(), answer.body().len(), answer.ended),
            (200, whole / 2, Some(ended)),
            "{end:?}"
        );
    }
    let sandbox = faulty(
        Verb::List,
        Effect::Stall {
            at: Place::AfterHeaders,
        },
    )
    .await;
    let list = Exchange::get(&sandbox, LIST).await;
    assert!(
        tokio::time::timeout(Duration::from_secs(3600), list.rest())
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn a_bad_line_replaces_an_event_and_the_stream_continues() {
    let check = |line: &[u8], bad: &BadLine| match bad {
        BadLine::Garbage | BadLine::Truncated => serde_json::from_slice::<Value>(line).is_err(),
        BadLine::NotUtf8 => std::str::from_utf8(line).is_err(),
        BadLine::Long(size) => line.len() >= *size && serde_json::from_slice::<Value>(line).is_ok(),
        BadLine::UnknownType => line.starts_with(br#"{"type":"RENAMED""#),
    };
    let bads = [
        BadLine::Garbage,
        BadLine::Truncated,
        BadLine::NotUtf8,
        BadLine::Long(1 << 20),
        BadLine::UnknownType,
    ];
    for bad in bads {
        let sandbox = faulty(
            Verb::Watch,
            Effect::BadLine {
                after: 1,
                line: bad.clone(),
            },
        )
        .await;
        let body = get(&sandbox, WATCH).await.body();
        let lines: Vec<&[u8]> = body
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .collect();
        assert_eq!(lines.len(), 4, "{bad:?}");
        assert!(check(lines[1], &bad), "{bad:?}");
        let last = std::str::from_utf8(lines[3]).expect("UTF-8");
        assert_eq!(event(last), "ADDED c3 5", "{bad:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn framings_change_the_bytes_but_not_the_events() {
    let framings = [
        (Framing::Crlf, 4),
        (Framing::BlankLines, 4),
        (Framing::ObjectFirst, 4),
        (Framing::Together, 1),
        (Framing::Split(100), 12),
    ];
    for (framing, chunks) in framings {
        let sandbox = faulty(Verb::Watch, Effect::Framing(framing)).await;
        let answer = get(&sandbox, WATCH).await;
        let text = answer.text();
        let events: Vec<String> = text
            .lines()
            .filter(|line| !line.is_empty())
            .map(event)
            .collect();
        assert_eq!(events, ALL, "{framing:?}");
        match framing {
            Framing::Crlf => assert_eq!(text.matches("}\r\n").count(), 4),
            Framing::BlankLines => assert_eq!(text.matches("}\n\n").count(), 4),
            Framing::ObjectFirst => assert!(text.starts_with(r#"{"object":{"#)),
            Framing::Split(size) => assert!(answer.chunks.iter().all(|chunk| chunk.len() <= size)),
            Framing::Together | Framing::Gzip => {}
        }
        assert!(
            answer.chunks.len() >= chunks && (chunks > 4 || answer.chunks.len() == chunks),
            "{framing:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn each_event_can_be_a_gzip_member() {
    let sandbox = faulty(Verb::Watch, Effect::Framing(Framing::Gzip)).await;
    let answer = get_with(&sandbox, WATCH, "accept-encoding: gzip").await;
    assert!(answer.head.contains("content-encoding: gzip"));
    assert!(
        answer
            .chunks
            .iter()
            .all(|chunk| chunk.starts_with(&[0x1f, 0x8b]))
    );
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(answer.body().as_slice())
        .read_to_string(&mut text)
        .expect("gzip");
    assert_eq!(text.lines().map(event).collect::<Vec<_>>(), ALL);
    let sandbox = faulty(Verb::Watch, Effect::Framing(Framing::Gzip)).await;
    assert_eq!(
        get_with(&sandbox, WATCH, "accept-encoding: identity")
            .await
            .events(),
        ALL
    );
}

#[tokio::test(start_paused = true)]
async fn statuses_have_their_bodies_and_retry_headers() {
    for code in [401, 403, 404, 405, 410, 422, 429, 500, 503, 504] {
        let effect = Effect::Status {
            code,
            retry_after: Some(7),
            body: ErrorBody::Status,
        };
        for (verb, path) in [(Verb::List, LIST), (Verb::Watch, WATCH)] {
            let sandbox = faulty(verb, effect.clone()).await;
            let answer = get(&sandbox, path).await;
            assert_eq!(
                (answer.code(), &answer.json()["code"]),
                (code, &json!(code))
            );
            assert!(answer.head.contains("retry-after: 7"));
        }
    }
    let html = Effect::Status {
        code: 500,
        retry_after: None,
        body: ErrorBody::Html,
    };
    let answer = get(&faulty(Verb::List, html).await, LIST).await;
    assert_eq!(
        (answer.code(), answer.text().starts_with("<html>")),
        (500, true)
    );
    let pretty = Effect::Status {
        code: 503,
        retry_after: None,
        body: ErrorBody::PrettyStatus,
    };
    let answer = get(&faulty(Verb::List, pretty).await, LIST).await;
    assert!(answer.text().lines().count() > 5);
    assert_eq!(answer.json()["code"], 503);
}

#[tokio::test(start_paused = true)]
async fn error_events_end_the_stream() {
    for (code, expect) in [
        (
            500,
            "ERROR 500 Internal error occurred: etcdserver: leader changed",
        ),
        (0, "ERROR 0 "),
    ] {
        let sandbox = faulty(Verb::Watch, Effect::ErrorEvent { after: 1, code }).await;
        let answer = get(&sandbox, WATCH).await;
        assert_eq!(answer.events(), ["ADDED c0 2", expect]);
        assert_eq!(answer.ended, Some(Ended::Clean));
    }
}

#[tokio::test(start_paused = true)]
async fn an_expiry_can_appear_in_three_places() {
    let sandbox = faulty(Verb::Watch, Effect::Expire(Expiry::InStream(1))).await;
    let events = get(&sandbox, WATCH).await.events();
    assert_eq!(
        events,
        ["ADDED c0 2", "ERROR 410 too old resource version: 1 (5)"]
    );
    let sandbox = faulty(Verb::Any, Effect::Expire(Expiry::HttpStatus)).await;
    let answer = get(&sandbox, WATCH).await;
    assert_eq!(
        (answer.code(), &answer.json()["reason"]),
        (410, &json!("Expired"))
    );
    let sandbox = sandbox_with_pages().await;
    sandbox.inject(
        Fault::on(Verb::List, "configmaps", Effect::Expire(Expiry::SecondPage)).range(1..=2),
    );
    let first = get(&sandbox, &format!("{LIST}?limit=2")).await.json();
    let token = first["metadata"]["continue"].as_str().expect("more");
    assert_eq!(
        get(&sandbox, &format!("{LIST}?limit=2&continue={token}"))
            .await
            .code(),
        410
    );
}

async fn sandbox_with_pages() -> Sandbox {
    let sandbox = faulty(Verb::Any, Effect::NoBookmarks).await;
    sandbox.clear_faults();
    sandbox
}

#[tokio::test(start_paused = true)]
async fn pages_can_repeat_an_item() {
    let sandbox = sandbox_with_pages().await;
    sandbox.inject(Fault::on(Verb::List, "configmaps", Effect::RepeatAcrossPages).always());
    let first = get(&sandbox, &format!("{LIST}?limit=2")).await.json();
    let token = first["metadata"]["continue"].as_str().expect("more");
    let second = get(&sandbox, &format!("{LIST}?limit=2&continue={token}"))
        .await
        .json();
    assert_eq!(second["items"].as_array().map(Vec::len), Some(3));
    assert_eq!(second["items"][0], first["items"][1]);
}

#[tokio::test(start_paused = true)]
async fn a_resume_can_replay_and_skip() {
    let from =
        |revision: u64| format!("{LIST}?watch=1&timeoutSeconds=9&resourceVersion={revision}");
    let sandbox = faulty(Verb::Watch, Effect::Replay(2)).await;
    assert_eq!(
        get(&sandbox, &from(4)).await.events(),
        ["ADDED c1 3", "ADDED c2 4", "ADDED c3 5"]
    );
    let sandbox = faulty(Verb::Watch, Effect::Skip(2)).await;
    assert_eq!(get(&sandbox, &from(2)).await.events(), ["ADDED c3 5"]);
}

/// The past of the list: the state after the first of the four writes.
const PAST: &str =
    "/api/v1/namespaces/shop/configmaps?resourceVersion=2&resourceVersionMatch=Exact";

/// The names in a list.
fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().into_iter().flatten();
    items
        .filter_map(|item| item["metadata"]["name"].as_str())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_past_can_be_refused_and_the_present_served() {
    for code in [500, 501, 504] {
        let effect = Effect::Status {
            code,
            retry_after: None,
            body: ErrorBody::Html,
        };
        let sandbox = sandbox_with_pages().await;
        sandbox.inject(Fault::on(Verb::Exact, "*", effect).always());
        let codes = [
            get(&sandbox, PAST).await.code(),
            get(&sandbox, LIST).await.code(),
            get(&sandbox, PAST).await.code(),
        ];
        assert_eq!(codes, [code, 200, code]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_present_can_be_served_in_place_of_the_past() {
    let sandbox = sandbox_with_pages().await;
    let past = get(&sandbox, PAST).await.json();
    assert_eq!(
        (names(&past), &past["metadata"]["resourceVersion"]),
        (vec!["c0"], &json!("2"))
    );
    sandbox.inject(Fault::on(Verb::Exact, "*", Effect::PresentInsteadOfPast).always());
    let present = get(&sandbox, PAST).await.json();
    assert_eq!(present, get(&sandbox, LIST).await.json());
    assert_eq!(present["metadata"]["resourceVersion"], "5");
}

#[tokio::test(start_paused = true)]
async fn every_answer_can_begin_later() {
    let latency = Effect::Latency(Duration::from_secs(2));
    let sandbox = sandbox_with_pages().await;
    sandbox.inject(Fault::on(Verb::Any, "*", latency).always());
    for path in [LIST, WATCH, "/apis", "/version"] {
        let start = tokio::time::Instant::now();
        let answer = Exchange::get(&sandbox, path).await;
        assert_eq!((answer.code(), start.elapsed().as_secs()), (200, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn every_nth_request_can_be_hit() {
    let sandbox = sandbox_with_pages().await;
    let busy = Effect::Status {
        code: 429,
        retry_after: Some(1),
        body: ErrorBody::Status,
    };
    sandbox.inject(Fault::on(Verb::Any, "*", busy).every(3));
    let mut codes = Vec::new();
    for path in [LIST, "/apis", WATCH, "/version", LIST, "/api", LIST] {
        codes.push(get(&sandbox, path).await.code());
    }
    assert_eq!(codes, [200, 200, 429, 200, 200, 429, 200]);
}

/// With a prefix, each resourceVersion that leaves the server has it, and the server takes no other.
#[tokio::test(start_paused = true)]
async fn versions_can_be_opaque() {
    let mut options = options();
    options.version_prefix = "v-";
    let sandbox = Sandbox::start(options).await.expect("a free port");
    for n in 0..2 {
        put(&sandbox, config_map(&format!("c{n}"), &json!({})));
    }
    sandbox
        .delete(
            &Target::new("configmaps", "shop", "c0"),
            Deletion::Immediate,
            &tester(),
        )
        .expect("the deletion succeeds");
    let list = get(&sandbox, LIST).await.json();
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    assert_eq!(
        (version(&list), version(&list["items"][0])),
        (json!("v-4"), json!("v-3"))
    );
    let one = get(&sandbox, &format!("{LIST}/c1")).await.json();
    assert_eq!(version(&one), "v-3");
    let table = "accept: application/json;as=Table;g=meta.k8s.io;v=v1";
    let table = get_with(&sandbox, &format!("{LIST}/c1"), table)
        .await
        .json();
    assert_eq!(version(&table), "v-3");
    let from = |version: &str| {
        format!(
            "{LIST}?watch=1&timeoutSeconds=9&allowWatchBookmarks=true&resourceVersion={version}"
        )
    };
    assert_eq!(
        get(&sandbox, &from("v-2")).await.events(),
        ["ADDED c1 v-3", "DELETED c0 v-4", "BOOKMARK - v-4"]
    );
    let past = get(&sandbox, &PAST.replace("=2", "=v-2")).await.json();
    assert_eq!((names(&past), version(&past)), (vec!["c0"], json!("v-2")));
    for path in [&from("2"), PAST] {
        assert_eq!(get(&sandbox, path).await.code(), 400, "{path}");
    }
    let from_any = format!("{LIST}?resourceVersion=0&resourceVersionMatch=NotOlderThan");
    assert_eq!(get(&sandbox, &from_any).await.code(), 200);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_can_be_omitted_and_events_delayed() {
    let marked = format!("{WATCH}&allowWatchBookmarks=true");
    let sandbox = faulty(Verb::Watch, Effect::NoBookmarks).await;
    assert_eq!(get(&sandbox, &marked).await.events(), ALL);
    assert_eq!(get(&sandbox, &marked).await.events().len(), 5);
    let sandbox = faulty(Verb::Watch, Effect::Slow(Duration::from_secs(5))).await;
    let start = tokio::time::Instant::now();
    let mut watch = Exchange::get(&sandbox, WATCH).await;
    for _ in 0..4 {
        watch.chunk().await.expect("an event");
    }
    assert_eq!(start.elapsed().as_secs(), 20);
}

#[tokio::test(start_paused = true)]
async fn faults_hit_the_selected_requests() {
    let sandbox = sandbox_with_pages().await;
    let busy = Effect::Status {
        code: 503,
        retry_after: None,
        body: ErrorBody::Status,
    };
    sandbox.inject(Fault::on(Verb::List, "configmaps", busy.clone()).range(2..=3));
    let mut codes = Vec::new();
    for path in [
        LIST,
        "/api/v1/pods",
        LIST,
        &format!("{LIST}/c0"),
        LIST,
        LIST,
    ] {
        codes.push(get(&sandbox, path).await.code());
    }
    assert_eq!(codes, [200, 200, 503, 200, 503, 200]);
    sandbox.inject(Fault::on(Verb::Any, "*", busy).always());
    for path in [LIST, WATCH, "/apis", "/version"] {
        assert_eq!(get(&sandbox, path).await.code(), 503, "{path}");
    }
    sandbox.clear_faults();
    assert_eq!(get(&sandbox, LIST).await.code(), 200);
}
