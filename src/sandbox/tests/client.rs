//! A minimal HTTP/1.1 client that shows the bytes on the wire.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::sandbox::Sandbox;

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// With the last chunk.
    Clean,
    /// The connection was closed before the last chunk.
    Closed,
    /// The connection was reset.
    Reset,
}

/// A connection with one request.
pub(super) struct Exchange {
    stream: TcpStream,
    buffer: Vec<u8>,
    pub(super) ended: Option<Ended>,
    pub(super) head: String,
    pub(super) chunks: Vec<Vec<u8>>,
}

impl Exchange {
    /// Sends a request with these header lines and no body.
    pub(super) async fn send(sandbox: &Sandbox, request: &str) -> Self {
        let mut stream = TcpStream::connect(sandbox.address())
            .await
            .expect("the sandbox listens");
        let request = format!("{request}\r\nhost: sandbox\r\nconnection: close\r\n\r\n");
        stream
            .write_all(request.as_bytes())
            .await
            .expect("the request is sent");
        Self {
            stream,
            buffer: Vec::new(),
            ended: None,
            head: String::new(),
            chunks: Vec::new(),
        }
    }

    /// Sends a GET and reads the head of the answer.
    pub(super) async fn get(sandbox: &Sandbox, path: &str) -> Self {
        let mut exchange = Self::send(sandbox, &format!("GET {path} HTTP/1.1")).await;
        exchange.read_head().await;
        exchange
    }

    pub(super) async fn read_head(&mut self) {
        let end = |buffer: &[u8]| buffer.windows(4).position(|window| window == b"\r\n\r\n");
        while end(&self.buffer).is_none() {
            if !self.fill().await {
                return;
            }
        }
        let at = end(&self.buffer).expect("just found") + 4;
        self.head = String::from_utf8(self.buffer.drain(..at).collect()).expect("ASCII");
    }

    async fn fill(&mut self) -> bool {
        let ended = match self.stream.read_buf(&mut self.buffer).await {
            Ok(0) => Ended::Closed,
            Ok(_) => return true,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ended::Reset,
            Err(error) => panic!("{error}"),
        };
        self.ended = Some(ended);
        false
    }

    /// Reads one more chunk; `None` at any end of the body.
    pub(super) async fn chunk(&mut self) -> Option<Vec<u8>> {
        loop {
            if self.ended.is_some() {
                return None;
            }
            if let Some((size, start)) = chunk_head(&self.buffer)
                && self.buffer.len() >= start + size + 2
            {
                let chunk = self.buffer[start..start + size].to_vec();
                self.buffer.drain(..start + size + 2);
                if size == 0 {
                    self.ended = Some(Ended::Clean);
                    return None;
                }
                self.chunks.push(chunk.clone());
                return Some(chunk);
            }
            self.fill().await;
        }
    }

    /// Reads to the end.
    pub(super) async fn rest(mut self) -> Self {
        while self.chunk().await.is_some() {}
        self
    }

    pub(super) fn code(&self) -> u16 {
        self.head
            .get(9..12)
            .and_then(|code| code.parse().ok())
            .unwrap_or_default()
    }

    pub(super) fn body(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.body()).expect("UTF-8")
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body()).expect("JSON")
    }

    /// The events of a watch, each as `TYPE name resourceVersion`.
    pub(super) fn events(&self) -> Vec<String> {
        self.text().lines().map(event).collect()
    }
}

fn chunk_head(buffer: &[u8]) -> Option<(usize, usize)> {
    let end = buffer.windows(2).position(|window| window == b"\r\n")?;
    let digits = std::str::from_utf8(&buffer[..end]).expect("hexadecimal");
    Some((
        usize::from_str_radix(digits, 16).expect("hexadecimal"),
        end + 2,
    ))
}

/// Formats a line of a watch as `TYPE name resourceVersion`; an ERROR with its code and message.
pub(super) fn event(line: &str) -> String {
    let event: Value = serde_json::from_str(line).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let (kind, object) = (text(&event["type"]), &event["object"]);
    if kind == "ERROR" {
        return format!("ERROR {} {}", object["code"], text(&object["message"]));
    }
    let metadata = &object["metadata"];
    format!(
        "{kind} {} {}",
        text(&metadata["name"]),
        text(&metadata["resourceVersion"])
    )
}

/// Sends a GET and reads the whole answer.
pub(super) async fn get(sandbox: &Sandbox, path: &str) -> Exchange {
    Exchange::get(sandbox, path).await.rest().await
}

/// Sends a GET with an additional header line and reads the whole answer.
pub(super) async fn get_with(sandbox: &Sandbox, path: &str, header: &str) -> Exchange {
    let mut exchange = Exchange::send(sandbox, &format!("GET {path} HTTP/1.1\r\n{header}")).await;
    exchange.read_head().await;
    exchange.rest().await
}
