//! A proxy on loopback between the program and an API server. A test makes it stall, slow, cut and reset
//! connections, repeat and damage the lines of watches, and answer requests with errors.

mod http;
mod valve;
mod weather;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use futures::future::BoxFuture;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

use valve::Valve;
pub use weather::{End, Protocol, Struck, Weather};

/// A stream of bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Opens a connection before the proxy reads it: returns the connection itself, or the stream inside its TLS.
pub type Open =
    Arc<dyn Fn(TcpStream) -> BoxFuture<'static, io::Result<Box<dyn Stream>>> + Send + Sync>;

/// The address of the server, and the way to open connections on both sides.
#[derive(Clone)]
pub struct Sides {
    pub server: SocketAddr,
    pub to_server: Open,
    pub from_client: Open,
}

impl Sides {
    /// Leaves connections as they are.
    pub fn plain(server: SocketAddr) -> Sides {
        let open: Open = Arc::new(|tcp| Box::pin(async { Ok(Box::new(tcp) as Box<dyn Stream>) }));
        Sides {
            server,
            to_server: open.clone(),
            from_client: open,
        }
    }

    async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        let tcp = TcpStream::connect(self.server).await?;
        tcp.set_nodelay(true)?;
        (self.to_server)(tcp).await
    }
}

/// A running proxy. Dropping it ends it and its connections.
pub struct FaultProxy {
    address: SocketAddr,
    weather: watch::Sender<Weather>,
    ends: watch::Sender<Option<End>>,
    struck: Arc<Tally>,
    _runs: oneshot::Sender<()>,
}

/// The parts of the proxy that each connection uses.
#[derive(Clone)]
struct Context {
    protocol: Protocol,
    sides: Sides,
    weather: watch::Receiver<Weather>,
    struck: Arc<Tally>,
    dice: Dice,
}

#[derive(Default)]
struct Tally {
    counts: Mutex<Struck>,
    more: Condvar,
}

/// Draws the same numbers for a seed, however many connections are open at once.
#[derive(Clone)]
struct Dice {
    seed: u64,
    drawn: Arc<AtomicU64>,
}

impl Dice {
    fn roll(&self) -> fastrand::Rng {
        let nth = self.drawn.fetch_add(1, Ordering::Relaxed);
        fastrand::Rng::with_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(nth))
    }

    fn one_in(&self, many: u32) -> bool {
        self.roll().u32(..many) == 0
    }
}

impl FaultProxy {
    /// Starts a proxy for a server, in fair weather.
    pub fn start(protocol: Protocol, sides: Sides, seed: u64) -> FaultProxy {
        let (weather, current) = watch::channel(Weather::Fair);
        let (ends, end) = watch::channel(None);
        let (runs, until) = oneshot::channel::<()>();
        let struck = Arc::new(Tally::default());
        let context = Context {
            protocol,
            sides,
            weather: current,
            struck: struck.clone(),
            dice: Dice {
                seed,
                drawn: Arc::default(),
            },
        };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_all().build().unwrap().block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = accept(listener, context, end) => {}
                    _ = until => {}
                }
            });
        });
        FaultProxy {
            address,
            weather,
            ends,
            struck,
            _runs: runs,
        }
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the weather for all connections, including open ones.
    pub fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }

    /// Ends all open connections.
    pub fn end_all(&self, end: End) {
        self.ends.send_replace(Some(end));
    }

    /// The number of strikes of each fault so far.
    pub fn struck(&self) -> Struck {
        *self.struck.counts.lock().unwrap()
    }

    /// Waits until this holds for the strikes so far. Returns whether that happened in time.
    pub fn until(&self, patience: Duration, holds: impl Fn(&Struck) -> bool) -> bool {
        let counts = self.struck.counts.lock().unwrap();
        let more = &self.struck.more;
        let waits = |struck: &mut Struck| !holds(struck);
        let (_counts, waited) = more.wait_timeout_while(counts, patience, waits).unwrap();
        !waited.timed_out()
    }
}

async fn accept(listener: TcpListener, context: Context, end: watch::Receiver<Option<End>>) {
    loop {
        let Ok((client, _)) = listener.accept().await else {
            continue;
        };
        let (context, mut end) = (context.clone(), end.clone());
        end.mark_unchanged();
        tokio::spawn(async move {
            // The client may have disconnected already.
            let _ = serve(client, context, end).await;
        });
    }
}

impl Context {
    fn count(&self, add: impl FnOnce(&mut Struck)) {
        add(&mut self.struck.counts.lock().unwrap());
        self.struck.more.notify_all();
    }
}

/// Serves one connection until either side or the test ends it.
async fn serve(
    client: TcpStream,
    context: Context,
    mut end: watch::Receiver<Option<End>>,
) -> io::Result<()> {
    context.count(|struck| struck.connections += 1);
    client.set_nodelay(true)?;
    let client = client.into_std()?;
    // This handle ends the connection, whoever owns the other handle.
    let socket = client.try_clone()?;
    let ended = if *context.weather.borrow() == Weather::Refusing {
        context.count(|struck| struck.refused += 1);
        Some(End::Reset)
    } else {
        let client = TcpStream::from_std(client)?;
        tokio::select! {
            // Either side may disconnect at any time; the other side then sees the end.
            _ = relay(client, &context) => None,
            changed = end.changed() => {
                changed.map_err(|_| io::ErrorKind::BrokenPipe)?;
                context.count(|struck| struck.ended += 1);
                *end.borrow()
            }
        }
    };
    if ended == Some(End::Reset) {
        // The close that follows sends an RST.
        SockRef::from(&socket).set_linger(Some(Duration::ZERO))?;
    }
    Ok(())
}

async fn relay(client: TcpStream, context: &Context) -> io::Result<()> {
    let client = (context.sides.from_client)(client).await?;
    match context.protocol {
        Protocol::Http => http::relay(client, context).await,
        Protocol::Bytes => {
            let (from_server, to_server) = split(context.sides.connect().await?);
            let (from_client, to_client) = split(client);
            let up = Valve::towards_server(to_server, context);
            let down = Valve::towards_client(to_client, context);
            tokio::select! {
                result = pump(from_client, up) => result,
                result = pump(from_server, down) => result,
            }
        }
    }
}

/// Passes all bytes on.
async fn pump<R, W>(mut from: R, mut to: Valve<W>) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut piece = vec![0; 16 << 10];
    loop {
        match from.read(&mut piece).await? {
            0 => return Ok(()),
            read => to.pass(&piece[..read]).await?,
        }
    }
}
