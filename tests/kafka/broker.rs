//! A real Kafka for one test: a node of its own, from the jars that Maven fetches.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rskafka::BackoffConfig;
use rskafka::client::partition::{PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use rskafka::record::Record;

const VERSION: &str = "4.1.1";
/// How long a broker may take to start. It reads its log after a kill, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(180);
/// What a broker takes at most, in bytes.
pub const LARGEST: usize = 100_000;

/// The password of the key store. Nobody but the broker reads it.
const STORE_PASSWORD: &str = "changeit";

/// The users, and how each proves its password.
pub const WRITER: User = User::new("writer", "SCRAM-SHA-512", "512 pass=word");
pub const READER: User = User::new("reader", "PLAIN", "plain-pass-word");
pub const AUDITOR: User = User::new("auditor", "SCRAM-SHA-256", "256-pass-word");
/// It may see the topics that [`Broker::show`] names, and do nothing with them.
pub const ONLOOKER: User = User::new("onlooker", "SCRAM-SHA-512", "onlooking-pass-word");
/// It may do nothing at all.
pub const GUEST: User = User::new("guest", "SCRAM-SHA-512", "guest-pass-word");

/// A user of the listener with TLS.
#[derive(Clone, Copy, Debug)]
pub struct User {
    pub name: &'static str,
    pub mechanism: &'static str,
    pub password: &'static str,
}

impl User {
    const fn new(name: &'static str, mechanism: &'static str, password: &'static str) -> User {
        User {
            name,
            mechanism,
            password,
        }
    }
}

/// A broker that the test starts, kills and starts again. One port is open to all; the other asks for TLS and a user.
pub struct Broker {
    folder: PathBuf,
    port: u16,
    tls_port: u16,
    process: Child,
}

impl Broker {
    /// Starts a broker without topics.
    pub fn start(label: &str) -> Broker {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kafka-{label}"));
        let _left_over = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let [port, other, tls_port] = free_ports();
        let settings = format!(
            "process.roles=broker,controller\nnode.id=1\n\
             controller.quorum.voters=1@127.0.0.1:{other}\n\
             listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{other},SASL_SSL://127.0.0.1:{tls_port}\n\
             controller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\n\
             listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL\n\
             offsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\n\
             transaction.state.log.min.isr=1\nauto.create.topics.enable=false\n\
             message.max.bytes={LARGEST}\nlog.dirs={}\n{}",
            folder.join("data").display(),
            access_settings()
        );
        fs::write(folder.join("server.properties"), settings).unwrap();
        let mut format = java(&folder, "kafka.tools.StorageTool");
        format.args([
            "format",
            "-t",
            "MkU3OEVBNTcwNTJENDM2Qg",
            "-c",
            "server.properties",
        ]);
        for User {
            name,
            mechanism,
            password,
        } in [WRITER, AUDITOR, ONLOOKER, GUEST]
        {
            let user = format!("{mechanism}=[name=\"{name}\",password=\"{password}\"]");
            format.args(["--add-scram", &user]);
        }
        let formatted = format.output().unwrap();
        assert!(formatted.status.success(), "{formatted:?}");
        let process = run(&folder);
        Broker {
            folder,
            port,
            tls_port,
            process,
        }
    }

    /// `HOST:PORT` of the listener that is open to all.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// `HOST:PORT` of the listener with TLS and users.
    pub fn tls_address(&self) -> String {
        format!("127.0.0.1:{}", self.tls_port)
    }

    /// Lets [`ONLOOKER`] see a topic. The process works on while the test does other things.
    pub fn show(&self, topic: &str) -> Child {
        let mut command = java(&self.folder, "org.apache.kafka.tools.AclCommand");
        command
            .args(["--bootstrap-server", &self.address(), "--add"])
            .args(["--allow-principal", &format!("User:{}", ONLOOKER.name)])
            .args(["--operation", "Describe", "--topic", topic])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Kills it with SIGKILL.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again, over what it has written.
    pub fn start_again(&mut self) {
        self.process = run(&self.folder);
    }

    async fn client(&self) -> Client {
        let backoff_config = BackoffConfig {
            max_backoff: Duration::from_secs(1),
            ..BackoffConfig::default()
        };
        let builder = ClientBuilder::new(vec![self.address()]);
        builder
            .backoff_config(backoff_config)
            .build()
            .await
            .unwrap()
    }

    /// Creates a topic, and reads it.
    pub async fn create(&self, topic: &str, partitions: i32) -> TopicLog {
        let client = self.client().await;
        let controller = client.controller_client().unwrap();
        let deadline = Instant::now() + PATIENCE;
        // The controller may still be electing itself.
        while let Err(error) = controller.create_topic(topic, partitions, 1, 5_000).await {
            assert!(Instant::now() < deadline, "{error}");
        }
        let mut log = TopicLog {
            partitions: Vec::new(),
        };
        for partition in 0..partitions {
            let retry = UnknownTopicHandling::Retry;
            let client = client
                .partition_client(topic, partition, retry)
                .await
                .unwrap();
            log.partitions.push((client, Vec::new()));
        }
        log
    }
}

/// Everything in a topic, by partition.
pub struct TopicLog {
    partitions: Vec<(PartitionClient, Vec<Record>)>,
}

impl TopicLog {
    /// Reads what has come since the last call. It waits for a moment if there is nothing.
    pub async fn read_on(&mut self) {
        for (client, records) in &mut self.partitions {
            let next = i64::try_from(records.len()).unwrap();
            let (new, _) = client.fetch_records(next, 1..1 << 20, 300).await.unwrap();
            records.extend(new.into_iter().map(|it| it.record));
        }
    }

    /// The messages, those of each partition in order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.partitions.iter().flat_map(|(_, records)| records)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _ended = self.process.wait();
        let _gone = fs::remove_dir_all(&self.folder);
    }
}

/// Starts the broker, and waits until it says that it has started.
fn run(folder: &Path) -> Child {
    let mut command = java(folder, "kafka.Kafka");
    command
        .arg("server.properties")
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut process = command.spawn().unwrap();
    let mut output = process.stdout.take().unwrap();
    let (send, started) = channel();
    std::thread::spawn(move || {
        let (mut said, mut part) = (Vec::new(), [0; 4096]);
        let mut has_started = false;
        while let Ok(length @ 1..) = output.read(&mut part) {
            if has_started {
                continue;
            }
            said.extend_from_slice(&part[..length]);
            has_started = String::from_utf8_lossy(&said).contains("Kafka Server started");
            if has_started {
                let _late = send.send(());
            }
        }
    });
    if started.recv_timeout(PATIENCE).is_err() {
        process.kill().unwrap();
        panic!("the broker does not start");
    }
    process
}

/// A Java program of Kafka, with little memory.
fn java(folder: &Path, class: &str) -> Command {
    let mut command = Command::new("java");
    let small = [
        "-Xmx256m",
        "-Xms128m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Dorg.apache.logging.log4j.level=INFO",
    ];
    let jars = format!("{}/*", jars().display());
    command.args(small).args(["-cp", &jars, class]);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// What the listener with TLS needs, and who may do what.
fn access_settings() -> String {
    let scram = ["scram-sha-256", "scram-sha-512"].map(|mechanism| {
        format!(
            "listener.name.sasl_ssl.{mechanism}.sasl.jaas.config=\
             org.apache.kafka.common.security.scram.ScramLoginModule required;\n"
        )
    });
    format!(
        "ssl.keystore.type=PKCS12\nssl.keystore.location={}\nssl.keystore.password={STORE_PASSWORD}\n\
         sasl.enabled.mechanisms=SCRAM-SHA-512,SCRAM-SHA-256,PLAIN\n{}\
         listener.name.sasl_ssl.plain.sasl.jaas.config=\
         org.apache.kafka.common.security.plain.PlainLoginModule required user_{}=\"{}\";\n\
         authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n\
         super.users=User:ANONYMOUS;User:{};User:{};User:{}\n",
        certificates().join("broker.p12").display(),
        scram.concat(),
        READER.name,
        READER.password,
        WRITER.name,
        READER.name,
        AUDITOR.name
    )
}

/// The directory with the certificates: `broker.pem` of the broker, and `stranger.pem` of nobody.
pub fn certificates() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kafka-certificates");
        let _left_over = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for name in ["broker", "stranger"] {
            let (store, certificate) = (format!("{name}.p12"), format!("{name}.pem"));
            let created = [
                "-genkeypair",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=kafka",
                "-ext",
                "SAN=ip:127.0.0.1",
            ];
            let exported = ["-exportcert", "-rfc", "-file", &certificate];
            for args in [&created[..], &exported] {
                let mut command = Command::new("keytool");
                command
                    .args(args)
                    .args(["-alias", name, "-storetype", "PKCS12"])
                    .args(["-keystore", &store, "-storepass", STORE_PASSWORD]);
                let ran = command.current_dir(&folder).output();
                let ran = ran.expect("keytool runs: apt-get install default-jre-headless");
                assert!(ran.status.success(), "{ran:?}");
            }
        }
        folder
    })
}

/// The directory with the jars. Maven fetches them once.
fn jars() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(fetched_jars)
}

fn fetched_jars() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kafka-jars-{VERSION}"));
    let done = folder.join("complete");
    if !done.exists() {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("pom.xml"), pom()).unwrap();
        let fetch = Command::new("mvn")
            .args([
                "-q",
                "-B",
                "dependency:copy-dependencies",
                "-DincludeScope=runtime",
            ])
            .arg(format!("-DoutputDirectory={}", folder.display()))
            .current_dir(&folder)
            .output();
        let fetched = fetch.expect("mvn runs: apt-get install maven default-jre-headless");
        assert!(fetched.status.success(), "{fetched:?}");
        fs::write(done, "").unwrap();
    }
    folder
}

fn pom() -> String {
    let dependency = |group: &str, name: &str, version: &str| {
        format!(
            "<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"
        )
    };
    let dependencies = [
        dependency("org.apache.kafka", "kafka_2.13", VERSION),
        dependency("org.apache.kafka", "kafka-tools", VERSION),
        dependency("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.1"),
    ];
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>test</artifactId>\
         <version>1</version><dependencies>{}</dependencies></project>",
        dependencies.concat()
    )
}

fn free_ports() -> [u16; 3] {
    let open = [0; 3].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
    open.map(|listener| listener.local_addr().unwrap().port())
}
