//! Tests of the pages of `serve` in a real browser. They need Node and Chromium, and run only with `cargo test --test browser`.
//!
//! Each test starts a sandbox and a server, and runs a script of this directory, which drives the browser. A script asks for a
//! write to the cluster by a line `do: NAME` on its standard output. Screenshots are in `target/browser`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    reason = "tests fail by panicking, read the clock for deadlines, print figures, and are a crate of their own"
)]

mod shop;

#[expect(dead_code, reason = "only tests/it uses some of these")]
#[path = "../support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::cluster::Cluster;
use support::{Running, Spy};

/// The names that Chromium has in distributions.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// The file of the browser: `SPY_BROWSER`, or the first of its names in the path.
fn browser() -> PathBuf {
    if let Some(named) = std::env::var_os("SPY_BROWSER") {
        return named.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut files = BROWSERS
        .iter()
        .flat_map(|name| directories.iter().map(move |in_path| in_path.join(name)));
    let found = files.find(|file| file.is_file());
    found.expect(
        "no Chromium is installed. hint: apt-get install chromium, or set SPY_BROWSER to its file",
    )
}

/// Fails with the command that helps, if a tool is missing.
fn need_tools(scripts: &Path) {
    let node = Command::new("node").arg("--version").output();
    assert!(
        node.is_ok(),
        "Node is not installed. hint: apt-get install nodejs npm"
    );
    let modules = scripts.join("node_modules/playwright-core");
    assert!(
        modules.is_dir(),
        "the packages of the scripts are not installed. hint: npm ci --prefix tests/browser"
    );
}

/// Runs a script over a server of these kinds. `act` makes the writes that the script asks for.
fn run(script: &str, spy: &Spy, args: &[&str], mut act: impl FnMut(&str)) {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    need_tools(&scripts);
    let args = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
    let mut served: Running = spy.start(&args);
    let address = served.until_where("the address", |line| line.starts_with("http://"));
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("browser");
    std::fs::create_dir_all(&shots).unwrap();
    let mut node = Command::new("node")
        .arg(scripts.join(script))
        .env("SPY_BROWSER", browser())
        .env("SPY_ADDRESS", address)
        .env("SPY_NOW", support::cluster::LATER)
        .env("SPY_SHOTS", shots)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    for line in BufReader::new(node.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        match line.strip_prefix("do: ") {
            Some(name) => act(name),
            None => println!("{line}"),
        }
    }
    assert!(node.wait().unwrap().success(), "{script} failed");
}

/// Waits within a test whose thread is the script's.
fn wait_for<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work))
}

/// A script that only reads.
fn nothing(name: &str) {
    panic!("nobody knows how to do {name:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_readable_and_has_nothing_that_axe_finds() {
    let cluster = shop::shop().await;
    run("pages.mjs", &cluster.spy(), &shop::KINDS, nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_stays_text() {
    let cluster = shop::hostile().await;
    run("hostile.mjs", &cluster.spy(), &shop::KINDS, nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_arrives_without_a_reload() {
    let cluster = shop::shop().await;
    run(
        "live.mjs",
        &cluster.spy(),
        &shop::KINDS,
        |name| match name {
            "fail cart" => shop::fail(&cluster, "cart"),
            "delete cart" => cluster.delete("pods", "cart"),
            other => nothing(other),
        },
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_alone_is_enough() {
    let cluster = shop::shop().await;
    run("keyboard.mjs", &cluster.spy(), &shop::KINDS, nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_work_without_script() {
    let cluster = shop::shop().await;
    run("without_script.mjs", &cluster.spy(), &shop::KINDS, nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_shows_states_and_is_moved_by_its_address() {
    let cluster = shop::shop().await;
    run("timeline.mjs", &cluster.spy(), &shop::KINDS, nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_shown_with_its_past() {
    let cluster = shop::shop().await;
    run("object.mjs", &cluster.spy(), &shop::KINDS, nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_clusters_share_a_page_and_none_stops_another() {
    let mut fleet = shop::fleet().await;
    let spy = fleet.spy();
    let args = [&shop::KINDS[..], &["--contexts", "prod-*"]].concat();
    run("clusters.mjs", &spy, &args, |name| match name {
        "fail cart of prod-us" => shop::fail(&fleet.clusters[1], "cart"),
        "fail cart of prod-eu" => shop::fail(&fleet.clusters[0], "cart"),
        "stop prod-us" => wait_for(fleet.clusters[1].sandbox.stop()),
        "restart prod-us" => wait_for(fleet.clusters[1].sandbox.restart()).unwrap(),
        other => nothing(other),
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_of_contexts_stay_text() {
    let fleet = shop::hostile_contexts().await;
    let args = ["pods", "--all-contexts"];
    run("hostile_contexts.mjs", &fleet.spy(), &args, nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_what_his_token_may_read_and_when_it_ends() {
    let cluster = shop::shop_of_alice(&["pods", "configmaps"]).await;
    let set_users = |alice| cluster.sandbox.set_users(shop::readers(alice));
    let args = ["--auth=kube", "pods,cm"];
    run("readers.mjs", &cluster.spy(), &args, |name| match name {
        "narrow alice" => set_users(Some(&["pods"])),
        "forget alice" => set_users(None),
        other => nothing(other),
    });
}

/// `UPDATE=1` replaces the picture of the README by the one that the page has now.
#[tokio::test(flavor = "multi_thread")]
async fn the_readme_has_a_small_picture_of_the_page() {
    let cluster = shop::shop().await;
    run("picture.mjs", &cluster.spy(), &shop::KINDS, nothing);
    let new = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("browser/serve.png");
    let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images/serve.png");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::copy(&new, &shown).unwrap();
    }
    for picture in [new, shown] {
        let bytes = std::fs::metadata(&picture).unwrap().len();
        assert!(
            (1..=150_000).contains(&bytes),
            "{}: {bytes} bytes",
            picture.display()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_pods_are_a_small_page() {
    let cluster = shop::many(10_000).await;
    run("many.mjs", &cluster.spy(), &["pods"], nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_cluster_has_pages_too() {
    let cluster = Cluster::start().await;
    run("empty.mjs", &cluster.spy(), &shop::KINDS, nothing);
}
