//! What `serve` costs in a namespace of 10,000 Pods: its memory, the time of a list from memory beside the API server's, the
//! first page, and 1,000 readers of its events under writes.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue};
use kube::Client;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::load::{NAMESPACE, request};
use crate::process::{Used, beside, settled, spawn};
use crate::shop;

/// How often each request is measured. The median time counts.
const RUNS: usize = 11;

const READERS: usize = 1_000;

/// The writes: 100 a second for 15 seconds.
const WRITES: usize = 1_500;
const EVERY: Duration = Duration::from_millis(10);

/// A running `kubectl spy serve` that answers only its owner.
struct Server {
    child: Child,
    /// It ends when nobody can read its output.
    _output: BufReader<ChildStdout>,
    /// Its port on this machine.
    port: u16,
    token: String,
}

/// Measures everything and prints it.
pub(crate) async fn measure(client: &Client, spy: &str) {
    shop::create(client).await;
    let server = Server::start(spy).await;
    let started = settled(server.child.id()).await;
    println!(
        "10,000 Pods: CPU to start {:.0} ms, {}",
        started.as_secs_f64() * 1e3,
        server.memory()
    );
    lists(client, &server).await;
    first_page(&server).await;
    // Without readers, the same writes show what the cluster itself costs.
    for readers in [0, READERS] {
        let read = Arc::new(AtomicUsize::new(0));
        let open = server.readers(readers, &read).await;
        println!("{readers} readers: {}", server.memory());
        under_annotations(client, &server).await;
        under_states(client, &server, &read).await;
        drop(open);
    }
    server.stop();
    crate::load::delete(client).await;
}

/// A list of all Pods from memory beside the same list from the API server, by the same client. The API server encrypts, which
/// `serve` does not on an address of the same machine.
async fn lists(client: &Client, server: &Server) {
    let ours = server.client();
    let (mut from_memory, mut from_server) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        for (client, times) in [(client, &mut from_server), (&ours, &mut from_memory)] {
            let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
            let request = http::Request::get(path).body(Vec::new()).unwrap();
            let started = Instant::now();
            let text = client.request_text(request).await.unwrap();
            times.push(started.elapsed());
            assert!(text.len() > 10_000_000, "{} bytes", text.len());
        }
    }
    let (ours, theirs) = (millis(from_memory), millis(from_server));
    println!(
        "list of all Pods: {}; {}",
        beside(ours, theirs, "ms"),
        server.memory()
    );
}

/// The page of what is not well, and what it loads.
async fn first_page(server: &Server) {
    let mut times = Vec::new();
    let mut page = Vec::new();
    for _ in 0..RUNS {
        let started = Instant::now();
        page = server.get("/").await;
        times.push(started.elapsed());
    }
    println!("first page: {:.1} ms, {} bytes", millis(times), page.len());
}

/// CPU time while Pods change whose state does not.
async fn under_annotations(client: &Client, server: &Server) {
    let pods = shop::pod_names(client, "").await;
    let before = settled(server.child.id()).await;
    let started = Instant::now();
    for count in 0..WRITES {
        let next = Instant::now() + EVERY;
        shop::annotate(
            client,
            &pods[count % pods.len()],
            &format!("{started:?} {count}"),
        )
        .await;
        tokio::time::sleep_until(next.into()).await;
    }
    let cpu = server.cpu_since(before, started);
    println!("  {WRITES} changes without a new state: {cpu}");
}

/// CPU time while `ConfigMaps` come and go, which each reader is told.
async fn under_states(client: &Client, server: &Server, read: &AtomicUsize) {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let before = settled(server.child.id()).await;
    let (bytes_before, started) = (read.load(Ordering::Relaxed), Instant::now());
    for count in 0..WRITES / 2 {
        for method in ["POST", "DELETE"] {
            let next = Instant::now() + EVERY;
            let name = format!("y-{count}");
            let (path, body) = match method {
                "POST" => (path.clone(), json!({ "metadata": { "name": name } })),
                _ => (format!("{path}/{name}"), json!({})),
            };
            request(client, method, &path, body).await;
            tokio::time::sleep_until(next.into()).await;
        }
    }
    let cpu = server.cpu_since(before, started);
    let bytes = read.load(Ordering::Relaxed) - bytes_before;
    println!(
        "  {WRITES} new states: {cpu}; {:.1} MiB read; {}",
        f64::from(u32::try_from(bytes >> 10).unwrap()) / 1024.0,
        server.memory()
    );
}

impl Server {
    /// Starts the server, and waits until it has read the cluster.
    async fn start(spy: &str) -> Server {
        let args = [
            "serve",
            "po,deploy,rs,svc,cm",
            "-n",
            NAMESPACE,
            "--no-store",
            "--api=kubernetes",
            "--listen=127.0.0.1:0",
        ];
        let (mut child, _) = spawn(spy, &args);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        // The line ends with http://127.0.0.1:PORT/?t=TOKEN.
        let address = line.trim().rsplit_once("http://127.0.0.1:").unwrap().1;
        let (port, token) = address.split_once("/?t=").unwrap();
        let server = Server {
            child,
            _output: output,
            port: port.parse().unwrap(),
            token: token.to_owned(),
        };
        while !server.get("/readyz").await.starts_with(b"HTTP/1.1 200") {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        server
    }

    /// A client of the server, as for an API server.
    fn client(&self) -> Client {
        let mut config =
            kube::Config::new(format!("http://127.0.0.1:{}", self.port).parse().unwrap());
        let token = HeaderValue::from_str(&format!("Bearer {}", self.token)).unwrap();
        config
            .headers
            .push((HeaderName::from_static("authorization"), token));
        Client::try_from(config).unwrap()
    }

    /// The connection of a request, which is sent.
    async fn send(&self, path: &str, end: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let (port, token) = (self.port, &self.token);
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nConnection: {end}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    /// A whole answer, with its head.
    async fn get(&self, path: &str) -> Vec<u8> {
        let mut answer = Vec::new();
        let mut stream = self.send(path, "close").await;
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    }

    /// Readers of the events of `ConfigMaps`, which have read the present state. They count what they read.
    async fn readers(&self, count: usize, read: &Arc<AtomicUsize>) -> JoinSet<()> {
        let mut open = JoinSet::new();
        for _ in 0..count {
            let path = format!("/spy/v1/events?object=cm&namespace={NAMESPACE}");
            let mut stream = self.send(&path, "keep-alive").await;
            let mut bytes = vec![0; 16_384];
            let mut begun = Vec::new();
            while !begun.windows(13).any(|part| part == b"event: synced") {
                let count = stream.read(&mut bytes).await.unwrap();
                assert!(count > 0, "{}", String::from_utf8_lossy(&begun));
                begun.extend_from_slice(&bytes[..count]);
            }
            let read = Arc::clone(read);
            open.spawn(async move {
                while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                    read.fetch_add(count, Ordering::Relaxed);
                }
            });
        }
        open
    }

    fn memory(&self) -> String {
        let used = Used::by(self.child.id()).unwrap();
        format!(
            "RSS {:.1} MiB, at most {:.1} MiB",
            used.rss_mib(),
            used.peak_mib()
        )
    }

    fn cpu_since(&self, before: Duration, started: Instant) -> String {
        let cpu = Used::by(self.child.id())
            .unwrap()
            .cpu
            .saturating_sub(before);
        let share = cpu.as_secs_f64() / started.elapsed().as_secs_f64();
        format!(
            "CPU {:.0} ms, {:.1} % of a core",
            cpu.as_secs_f64() * 1e3,
            share * 100.0
        )
    }

    fn stop(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The median, in milliseconds.
fn millis(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}
