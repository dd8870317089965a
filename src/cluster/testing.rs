//! A server for tests that answers each request with the next reply of a script.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The reply to one request. The connection ends with it.
pub(crate) enum ScriptedReply {
    /// These bytes, then a clean end of the connection.
    Raw(Vec<u8>),
    /// These bytes, before the client has sent anything.
    Unasked(Vec<u8>),
    /// These bytes, then silence.
    ThenSilence(Vec<u8>),
    /// These bytes, then a reset of the connection.
    ThenReset(Vec<u8>),
}

/// A complete response with a length.
pub(crate) fn answer(code: u16, headers: &str, body: &str) -> ScriptedReply {
    let length = body.len();
    ScriptedReply::Raw(
        format!("HTTP/1.1 {code} X\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
            .into_bytes(),
    )
}

/// The bytes of a response without a length, as a server sends a watch: `body`, in one chunk.
pub(crate) fn chunked(body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n")
        .into_bytes()
}

/// A running server. Dropping it stops it.
pub(crate) struct Scripted {
    pub(crate) url: String,
    heads: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Scripted {
    /// Starts a server with one reply per request. It closes further connections at once.
    pub(crate) async fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let mut replies: Vec<ScriptedReply> = replies.into_iter().collect();
        replies.reverse();
        let mut tasks = JoinSet::new();
        let seen = heads.clone();
        tasks.spawn(async move {
            let mut held = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                if let Some(reply) = replies.pop() {
                    held.spawn(serve(stream, reply, seen.clone()));
                }
            }
        });
        Scripted {
            url,
            heads,
            _tasks: tasks,
        }
    }

    /// The heads of the requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("whole").clone()
    }

    /// The targets of the requests so far: path and query.
    pub(crate) fn targets(&self) -> Vec<String> {
        let target = |head: &String| head.split(' ').nth(1).unwrap_or_default().to_owned();
        self.heads().iter().map(target).collect()
    }
}

async fn serve(mut stream: TcpStream, reply: ScriptedReply, heads: Arc<Mutex<Vec<String>>>) {
    if let ScriptedReply::Unasked(bytes) = &reply {
        stream.write_all(bytes).await.expect("a reader");
    }
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    heads
        .lock()
        .expect("whole")
        .push(String::from_utf8_lossy(&head).into_owned());
    let (ScriptedReply::Raw(bytes)
    | ScriptedReply::ThenSilence(bytes)
    | ScriptedReply::ThenReset(bytes)) = &reply
    else {
        return;
    };
    stream.write_all(bytes).await.expect("a reader");
    match reply {
        ScriptedReply::Raw(_) | ScriptedReply::Unasked(_) => {
            stream.shutdown().await.unwrap_or_default();
        }
        ScriptedReply::ThenSilence(_) => std::future::pending().await,
        ScriptedReply::ThenReset(_) => stream.set_zero_linger().expect("an open socket"),
    }
}
