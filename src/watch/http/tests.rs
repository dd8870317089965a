//! The transport against scripted servers.

use std::time::Duration;

use futures::StreamExt;
use proptest::prelude::*;
use tokio::time::Instant;

use super::super::Revision;
use super::*;
use crate::cluster::testing::{Scripted, ScriptedReply, answer, chunked};
use crate::cluster::{ClusterConfig, Limits};
use crate::source::{Scope, Select};
use crate::watch::tests::fake::pods;

fn key(form: Form) -> SourceKey {
    SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: Select::matching(Some("app=web,tier in (a,b)"), Some("metadata.name=web")),
        form,
        ..SourceKey::all("apps", "Deployment")
    }
}

async fn transport(server: &Scripted) -> HttpTransport {
    limited(server, Limits::default()).await
}

async fn limited(server: &Scripted, limits: Limits) -> HttpTransport {
    let config = ClusterConfig::plain(&server.url, "test").expect("a URL");
    let client = Client::with_limits(config, limits).await.expect("a client");
    HttpTransport::new(client)
}

const EMPTY: &str = r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#;

async fn listed(at: At, page: Page, form: Form) -> String {
    let server = Scripted::start([answer(200, "", EMPTY)]).await;
    let transport = transport(&server).await;
    let page = transport.list(&key(form), at, page).await.expect("a page");
    assert_eq!(page.version.as_str(), "7");
    let head = server.heads().remove(0);
    let wanted = match form {
        Form::Full => "accept: application/json\r\n",
        Form::Metadata => "accept: application/json;as=PartialObjectMetadataList;",
        Form::Table => "accept: application/json;as=Table;",
    };
    assert!(head.contains(wanted), "{head}");
    assert!(head.contains("accept-encoding: gzip\r\n"), "{head}");
    let target = server.targets().remove(0);
    let selected = "/apis/apps/v1/namespaces/shop/deployments?labelSelector=app%3Dweb%2Ctier%20in%20%28a%2Cb%29&fieldSelector=metadata.name%3Dweb";
    target.strip_prefix(selected).expect("selectors").to_owned()
}

#[tokio::test]
async fn lists_request_a_version_and_a_page() {
    let page = |limit, next: Option<&str>| Page {
        limit,
        next: next.map(Into::into),
    };
    let exact = At::Exact(Revision::read("12").expect("a revision"));
    assert_eq!(listed(At::Latest, page(0, None), Form::Full).await, "");
    assert_eq!(
        listed(At::Latest, page(500, None), Form::Metadata).await,
        "&limit=500"
    );
    assert_eq!(
        listed(exact.clone(), page(0, None), Form::Full).await,
        "&resourceVersion=12&resourceVersionMatch=Exact"
    );
    assert_eq!(
        listed(exact, page(2, Some("a=/")), Form::Full).await,
        "&limit=2&continue=a%3D%2F",
        "the token of a page holds its version"
    );
}

async fn refused(code: u16, headers: &str) -> SourceError {
    let server = Scripted::start([answer(code, headers, "no"), answer(code, headers, "no")]).await;
    let transport = transport(&server).await;
    let from = ResourceVersion::new("7");
    let key = key(Form::Full);
    let listed = transport.list(&key, At::Latest, Page::default()).await;
    let watched = transport.watch(&key, &from).await;
    let (listed, watched) = (
        listed.expect_err("refused"),
        watched.err().expect("refused"),
    );
    assert_eq!(
        std::mem::discriminant(&listed),
        std::mem::discriminant(&watched)
    );
    watched
}

#[tokio::test]
async fn each_refusal_keeps_the_servers_status() {
    for (code, name) in [
        (400, "Rejected"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotServed"),
        (405, "MethodNotAllowed"),
        (410, "Expired"),
        (422, "Rejected"),
        (429, "Throttled"),
        (500, "Server"),
        (502, "Server"),
        (503, "Throttled"),
        (504, "Throttled"),
        (302, "Server"),
    ] {
        let error = refused(code, "").await;
        let debug = format!("{error:?}");
        assert!(debug.starts_with(name), "{code}: {debug}");
        assert!(debug.contains("verb: \"watch\""), "{debug}");
        assert!(debug.contains("resource: \"deployments.apps\""), "{debug}");
        assert!(debug.contains(&format!("code: {code}")), "{debug}");
    }
    let error = refused(429, "Retry-After: 7\r\n").await;
    let after = Some(Duration::from_secs(7));
    assert!(
        matches!(&error, SourceError::Throttled { after: kept, .. } if *kept == after),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_invalid_list_is_refused() {
    let server = Scripted::start([answer(200, "", "<html>log in</html>")]).await;
    let transport = transport(&server).await;
    let key = key(Form::Full);
    let listed = transport.list(&key, At::Latest, Page::default());
    assert_eq!(
        listed.await.expect_err("no list").to_string(),
        "the server's answer is not a list of deployments.apps: not JSON (line 1, column 1)"
    );
}

/// The lines of a watch that gets `reply`, and its final error.
async fn watched(reply: ScriptedReply, limits: Limits) -> (Vec<String>, Option<SourceError>) {
    let server = Scripted::start([reply]).await;
    let transport = limited(&server, limits).await;
    let from = ResourceVersion::new("7");
    let mut lines = match transport.watch(&key(Form::Metadata), &from).await {
        Ok(lines) => lines,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut texts = Vec::new();
    while let Some(line) = lines.next().await {
        match line {
            Ok(line) => texts.push(String::from_utf8_lossy(&line).into_owned()),
            Err(error) => {
                assert!(lines.next().await.is_none(), "an error is the last item");
                return (texts, Some(error));
            }
        }
    }
    (texts, None)
}

#[tokio::test]
async fn watches_request_bookmarks_and_no_compression() {
    let server = Scripted::start([ScriptedReply::Raw(chunked("{}\n"))]).await;
    let transport = transport(&server).await;
    let from = ResourceVersion::new("7");
    let opened = transport.watch(&key(Form::Metadata), &from).await;
    assert!(opened.is_ok());
    let head = server.heads().remove(0);
    assert!(head.contains("accept-encoding: identity\r\n"), "{head}");
    assert!(
        head.contains("accept: application/json;as=PartialObjectMetadata;"),
        "{head}"
    );
    let target = server.targets().remove(0);
    let (_, asked) = target.split_once("&watch=").expect("a watch");
    let (asked, seconds) = asked.split_once("&timeoutSeconds=").expect("an end");
    assert_eq!(asked, "true&allowWatchBookmarks=true&resourceVersion=7");
    let seconds: u32 = seconds.parse().expect("a number");
    assert!(WATCH_SECONDS.contains(&seconds), "{seconds}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_comes_after_another_one_or_after_a_second() {
    let transport = transport(&Scripted::start([]).await).await;
    let mut taken = Vec::new();
    for _ in 0..AT_ONCE {
        taken.push(transport.turn().await.expect("a turn"));
    }
    let begun = Instant::now();
    assert!(transport.turn().await.is_none());
    assert_eq!(begun.elapsed(), PATIENCE);
    taken.pop();
    assert!(transport.turn().await.is_some());
    assert_eq!(begun.elapsed(), PATIENCE);
}

#[tokio::test]
async fn a_list_takes_a_turn_until_it_ends_and_a_watch_until_it_begins() {
    let lines = ScriptedReply::ThenSilence(chunked("{}\n"));
    let server = Scripted::start([lines, ScriptedReply::ThenSilence(Vec::new())]).await;
    let transport = transport(&server).await;
    let (key, from) = (key(Form::Full), ResourceVersion::new("7"));
    let watch = transport.watch(&key, &from).await;
    assert!(watch.is_ok());
    assert_eq!(transport.turns.available_permits(), AT_ONCE);
    let list = transport.list(&key, At::Latest, Page::default());
    let asked = async {
        while server.heads().len() < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(transport.turns.available_permits(), AT_ONCE - 1);
    };
    tokio::select! {
        _ = list => panic!("nobody answered"),
        () = asked => {}
    }
    assert_eq!(transport.turns.available_permits(), AT_ONCE);
}

#[tokio::test]
async fn each_end_of_a_watch_has_its_error() {
    let answered = |reply| watched(reply, Limits::default());
    let whole = || [chunked("{\"n\":1}\r\n\n{\"n\":2}\n"), b"0\r\n\r\n".to_vec()].concat();
    let lines = ["{\"n\":1}", "{\"n\":2}"];
    let (texts, error) = answered(ScriptedReply::Raw(whole())).await;
    assert_eq!(texts, lines);
    assert_eq!(error, None, "a clean end");

    let half = [chunked("{\"n\":1}\n{\"n\""), b"0\r\n\r\n".to_vec()].concat();
    let (texts, error) = answered(ScriptedReply::Raw(half)).await;
    assert_eq!(texts, ["{\"n\":1}"]);
    let detail = "the watch ended within a line".into();
    assert_eq!(error, Some(SourceError::Cut { detail }));

    let (texts, error) = answered(ScriptedReply::Raw(chunked("{\"n\":1}\n"))).await;
    assert_eq!(texts, ["{\"n\":1}"]);
    assert!(
        matches!(error, Some(SourceError::Cut { .. })),
        "no last chunk: {error:?}"
    );

    let long = format!("{{\"n\":1}}\n{}\n{{\"n\":2}}\n", "x".repeat((16 << 20) + 1));
    let (texts, error) = answered(ScriptedReply::Raw(chunked(&long))).await;
    assert_eq!(texts, ["{\"n\":1}"], "nothing after it");
    let detail = "a watch line is longer than 16 MiB".into();
    assert_eq!(error, Some(SourceError::Decode { detail }));

    let (texts, error) = answered(ScriptedReply::ThenReset(chunked("{\"n\":1}\n"))).await;
    assert!(texts.len() <= 1, "{texts:?}");
    assert!(matches!(error, Some(SourceError::Cut { .. })), "{error:?}");

    let after = Duration::from_millis(200);
    let limits = Limits {
        headers: after,
        ..Limits::default()
    };
    let (_, error) = watched(ScriptedReply::ThenSilence(Vec::new()), limits).await;
    assert_eq!(error, Some(SourceError::Timeout { after }), "no headers");
}

/// The field selector of each request, if any.
fn fields(names: Names, labels: Option<&str>, fields: Option<&str>) -> Vec<String> {
    let target = Target {
        resource: pods().resource,
        namespace: None,
        names,
        labels: labels.map(Into::into),
        fields: fields.map(Into::into),
    };
    let keys = source_keys(&pods().cluster, &target, Form::Full);
    let field = |key: &SourceKey| key.select.field_selector().unwrap_or_default().into_owned();
    keys.iter().map(field).collect()
}

#[test]
fn each_name_has_its_own_request() {
    let names = Names::Named(vec!["web".into(), "a=b,c".into()]);
    assert_eq!(
        fields(names, None, None),
        ["metadata.name=web", r"metadata.name=a\=b\,c"]
    );
    assert_eq!(fields(Names::All, Some("app=web"), None), [""]);
    let node = fields(Names::All, None, Some("spec.nodeName==n1"));
    assert_eq!(node, ["spec.nodeName=n1"]);
}

fn split(chunks: &[&[u8]]) -> (Vec<Vec<u8>>, Option<SourceError>) {
    let mut splitter = LineSplitter::default();
    let mut lines = Vec::new();
    for chunk in chunks {
        splitter.feed(Bytes::copy_from_slice(chunk));
        loop {
            match splitter.line() {
                Ok(Some(line)) => lines.push(line.to_vec()),
                Ok(None) => break,
                Err(error) => return (lines, Some(error)),
            }
        }
    }
    (lines, splitter.end())
}

#[test]
fn line_ends_and_blank_lines_are_dropped() {
    let (lines, error) = split(&[b"a\r\nb\n\n \r\n", b"c", b"d\n"]);
    assert_eq!(lines, [b"a".to_vec(), b"b".to_vec(), b"cd".to_vec()]);
    assert_eq!(error, None);
}

#[test]
fn an_incomplete_last_line_is_a_cut() {
    let (lines, error) = split(&[b"a\nb"]);
    assert_eq!(lines, [b"a".to_vec()]);
    assert!(matches!(error, Some(SourceError::Cut { .. })), "{error:?}");
}

#[test]
fn a_line_above_16_mib_is_refused_early() {
    let mebibyte = vec![b'x'; 1 << 20];
    let mut chunks = vec![&mebibyte[..]; 16];
    chunks.push(b"\n");
    assert_eq!(split(&chunks).0.len(), 1);
    chunks.insert(0, b"x");
    let (lines, error) = split(&chunks);
    assert!(lines.is_empty());
    assert_eq!(
        error.expect("refused").to_string(),
        "a watch line is longer than 16 MiB"
    );
}

proptest! {
    #[test]
    fn chunk_borders_do_not_matter(text in "[ab\r\n]{0,40}", cuts in prop::collection::vec(0_usize..40, 0..6)) {
        let whole = split(&[text.as_bytes()]);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            chunks.push(&text.as_bytes()[from..cut]);
            from = cut;
        }
        prop_assert_eq!(split(&chunks), whole);
    }
}
