//! HTTP/1.1 through the proxy: one request for each connection, and watches line by line.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, BufReader, split};

use super::valve::Valve;
use super::{Context, Stream, Weather, pump};

/// The number of last lines of a watch that may be repeated.
const REMEMBERED: usize = 8;
/// The errors for failed requests, with `Retry-After` in seconds.
const FAILURES: [(&str, Option<u32>); 5] = [
    ("429 Too Many Requests", Some(1)),
    ("429 Too Many Requests", None),
    ("500 Internal Server Error", None),
    ("503 Service Unavailable", Some(1)),
    ("504 Gateway Timeout", None),
];

/// Forwards one request and its answer.
pub(super) async fn relay(client: Box<dyn Stream>, context: &Context) -> io::Result<()> {
    let (from_client, to_client) = split(client);
    let mut from_client = BufReader::new(from_client);
    let head = read_head(&mut from_client).await?;
    let mut down = Valve::towards_client(to_client, context);
    let weather = *context.weather.borrow();
    if let Weather::Failing(one_in) = weather
        && context.dice.one_in(one_in)
    {
        context.count(|struck| struck.failed += 1);
        return down.pass(failure(context).as_bytes()).await;
    }
    let (from_server, to_server) = split(context.sides.connect().await?);
    let mut up = Valve::towards_server(to_server, context);
    up.pass(closing(&head).as_bytes()).await?;
    let is_watch = head
        .lines()
        .next()
        .is_some_and(|line| line.contains("watch=true"));
    let answer = async {
        let mut from_server = BufReader::new(from_server);
        if !is_watch {
            return pump(from_server, down).await;
        }
        let head = read_head(&mut from_server).await?;
        down.pass(head.as_bytes()).await?;
        if !head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked")
        {
            return pump(from_server, down).await;
        }
        Lines::new(from_server).relay(down, context).await
    };
    tokio::select! {
        result = answer => result,
        // A client that needs no more bytes closes the connection.
        result = pump(from_client, up) => result,
    }
}

/// Reads a request or an answer up to its body.
async fn read_head<R: AsyncRead + Unpin>(from: &mut BufReader<R>) -> io::Result<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if from.read_line(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

/// The request with `Connection: close`, so that it is the only one of its connection.
fn closing(head: &str) -> String {
    let mut lines: Vec<&str> = head.trim_end().lines().collect();
    lines.retain(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"))
}

fn failure(context: &Context) -> String {
    let (status, after) = FAILURES[context.dice.roll().usize(..FAILURES.len())];
    let (code, reason) = status.split_once(' ').unwrap();
    let body = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.parse::<u16>().unwrap(),
        "reason": reason.replace(' ', ""), "message": "the fault proxy answers for the server",
    })
    .to_string();
    let after = after.map_or(String::new(), |after| format!("Retry-After: {after}\r\n"));
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{after}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The lines of a watch, without their chunk framing.
struct Lines<R> {
    from: BufReader<R>,
    /// The received part of the next line.
    partial: Vec<u8>,
    last: VecDeque<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(from: BufReader<R>) -> Lines<R> {
        Lines {
            from,
            partial: Vec::new(),
            last: VecDeque::new(),
        }
    }

    /// Passes each line on as a chunk of its own.
    async fn relay<W>(mut self, mut down: Valve<W>, context: &Context) -> io::Result<()>
    where
        W: AsyncWrite + Unpin,
    {
        while let Some(line) = self.next().await? {
            for line in self.made_of(line, context) {
                send(&mut down, &line).await?;
            }
        }
        down.pass(b"0\r\n\r\n").await
    }

    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.partial.drain(..=end).collect()));
            }
            let mut size = String::new();
            self.from.read_line(&mut size).await?;
            let size = usize::from_str_radix(size.trim(), 16)
                .map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))?;
            if size == 0 {
                return Ok(None);
            }
            let begin = self.partial.len();
            self.partial.resize(begin + size + 2, 0);
            self.from.read_exact(&mut self.partial[begin..]).await?;
            self.partial.truncate(begin + size);
        }
    }

    /// The lines that the client gets in place of this line.
    fn made_of(&mut self, line: Vec<u8>, context: &Context) -> Vec<Vec<u8>> {
        let weather = *context.weather.borrow();
        if let Weather::Garbling(one_in) = weather
            && context.dice.one_in(one_in)
        {
            context.count(|struck| struck.garbled += 1);
            let half = [&line[..line.len() / 2], b"\n"].concat();
            return vec![half];
        }
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back(line.clone());
        if let Weather::Repeating(one_in) = weather
            && context.dice.one_in(one_in)
        {
            context.count(|struck| struck.repeated += 1);
            let from = context.dice.roll().usize(..self.last.len());
            return std::iter::once(line)
                .chain(self.last.iter().skip(from).cloned())
                .collect();
        }
        vec![line]
    }
}

async fn send<W: AsyncWrite + Unpin>(down: &mut Valve<W>, line: &[u8]) -> io::Result<()> {
    let head = format!("{:x}\r\n", line.len());
    down.pass(&[head.as_bytes(), line, b"\r\n"].concat()).await
}
