//! A server that gives any answer a test wants. Unlike the sandbox, it follows no rule of the Kubernetes API
//! or of HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use super::Spy;

/// The answer to one request. The connection closes after it.
pub enum Answer {
    /// These bytes, headers included.
    Whole(Vec<u8>),
    /// Pieces one after the other, until the last one or until the client disconnects.
    Pieces(Box<dyn Iterator<Item = Vec<u8>> + Send>),
}

impl Answer {
    /// A whole answer with this status code and this JSON body.
    pub fn json(code: u16, body: &str) -> Answer {
        let head = format!("HTTP/1.1 {code} X\r\nContent-Type: application/json\r\n");
        let length = body.len();
        Answer::Whole(format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes())
    }

    /// The head of an [`Answer::Pieces`]. [`Answer::piece`] makes the pieces.
    pub fn stream_head() -> Vec<u8> {
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec()
    }

    /// A line as one chunk.
    pub fn piece(line: &str) -> Vec<u8> {
        format!("{:x}\r\n{line}\n\r\n", line.len() + 1).into_bytes()
    }
}

/// A hostile server on a loopback port. It ends with the test's process.
pub struct Hostile {
    url: String,
    kubeconfig: PathBuf,
    targets: Arc<Mutex<Vec<String>>>,
}

impl Hostile {
    /// Starts a server. `answer` gets the path and query of each request and returns its answer.
    pub fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Hostile {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let targets = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), targets.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, seen) = (answer.clone(), seen.clone());
                // The client may disconnect at any time.
                thread::spawn(move || drop(serve(&stream, &*answer, &seen)));
            }
        });
        let name = format!("hostile-{}.json", address.port());
        let kubeconfig = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let url = format!("http://{address}");
        fs::write(&kubeconfig, kubeconfig_of(&url)).unwrap();
        Hostile {
            url,
            kubeconfig,
            targets,
        }
    }

    /// The URL that it listens on: `http://ADDRESS:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The program with this server. Its namespace is `shop`.
    pub fn spy(&self) -> Spy {
        Spy::with_kubeconfig(self.kubeconfig.to_str().unwrap())
    }

    /// The path and query of each request so far.
    pub fn targets(&self) -> Vec<String> {
        self.targets.lock().unwrap().clone()
    }
}

fn kubeconfig_of(server: &str) -> String {
    serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "hostile",
        "clusters": [{"name": "hostile", "cluster": {"server": server}}],
        "users": [{"name": "hostile", "user": {}}],
        "contexts": [{
            "name": "hostile",
            "context": {"cluster": "hostile", "user": "hostile", "namespace": "shop"},
        }],
    })
    .to_string()
}

fn serve(
    stream: &TcpStream,
    answer: &dyn Fn(&str) -> Answer,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line)?;
    }
    seen.lock().unwrap().push(target.clone());
    let mut out = stream;
    match answer(&target) {
        Answer::Whole(bytes) => out.write_all(&bytes),
        Answer::Pieces(pieces) => pieces
            .into_iter()
            .try_for_each(|piece| out.write_all(&piece)),
    }
}
