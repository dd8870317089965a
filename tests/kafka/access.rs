//! Who gets in and who does not: TLS, SASL and the rights to a topic. One of the topics has `CloudEvents`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

use jiff::Timestamp;
use serde_json::Value;

use crate::broker::{
    AUDITOR, Broker, GUEST, ONLOOKER, READER, TopicLog, User, WRITER, certificates,
};
use crate::support::{Ran, Spy};
use crate::{OBJECTS, PARTITIONS, PATIENCE, Recorded, TOPIC};

const EVENTS: &str = "spy.events";
const WRONG: User = User {
    password: "wrong-pass-word",
    ..WRITER
};

impl Recorded {
    /// The keys of `kafka` that let a user in, with the files that they name.
    fn login(&self, user: User, authority: Option<&str>) -> String {
        let User {
            name,
            mechanism,
            password,
        } = user;
        let file = |kind, text| fs::write(self.path(&format!("{name}.{kind}")), text).unwrap();
        file("user", format!("{name}\n"));
        file("password", format!("{password}\n"));
        let trust = authority.map_or(String::new(), |file| {
            fs::copy(certificates().join(file), self.path(file)).unwrap();
            format!("caFile: {file}, ")
        });
        format!(
            "{trust}sasl: {{mechanism: {mechanism}, userFile: {name}.user, passwordFile: {name}.password}}"
        )
    }

    /// The arguments that read a topic into the store `copy`, as a user.
    fn reading(&self, broker: &Broker, topic: &str, access: &str) -> [String; 8] {
        let (copy, file) = (self.path("copy"), self.path("access.yaml"));
        let _left_over = fs::remove_dir_all(&copy);
        fs::write(&file, format!("{{{access}}}")).unwrap();
        let url = format!("kafka://{}/{topic}", broker.tls_address());
        let [record, from, kafka, store] =
            ["record", "--from", "--kafka", "--store"].map(str::to_owned);
        [
            record,
            from,
            url,
            kafka,
            file,
            store,
            copy,
            "--once".to_owned(),
        ]
    }

    /// Reads a topic into the store `copy`, as a user.
    fn read(&self, broker: &Broker, topic: &str, access: &str) -> Ran {
        let args = self.reading(broker, topic, access);
        // The certificates of the system.
        let trusted = certificates().join("broker.pem");
        let spy = Spy::alone().var("SSL_CERT_FILE", trusted.to_str().unwrap());
        spy.run(&args.each_ref().map(String::as_str))
    }
}

/// What the server says about each sink that gets nothing.
const REFUSALS: [&str; 8] = [
    "stranger: the broker has a certificate of an unknown authority",
    "naked: the broker closes the connection: its port may need `tls`",
    "wrapped: the broker ends the TLS handshake: its port may have no TLS",
    "nobody: the broker closes the connection: it may need a login (`sasl`)",
    "early: the broker expects no login on this port (IllegalSaslState)",
    "onlooker: the user may not do this with the topic (TopicAuthorizationFailed)",
    "guest: the brokers have no topic spy.versions, or the user may not see it",
    "late: the broker refuses the user, the password or the mechanism (SaslAuthenticationFailed)",
];

/// The sinks of [`REFUSALS`], and one that gets events. The password of `late` can be corrected.
fn sinks(cluster: &Recorded, broker: &Broker) -> String {
    let (open, secure) = (broker.address(), broker.tls_address());
    let login = |user| cluster.login(user, Some("broker.pem"));
    let (right, naked) = (login(WRITER), cluster.login(WRITER, None));
    let late = User {
        name: "late",
        ..WRONG
    };
    let sinks = [
        sink(
            "stranger",
            &secure,
            &cluster.login(WRITER, Some("stranger.pem")),
        ),
        sink("naked", &secure, &naked),
        sink("wrapped", &open, "caFile: broker.pem"),
        sink("nobody", &secure, "caFile: broker.pem"),
        sink("early", &open, &naked),
        sink("onlooker", &secure, &login(ONLOOKER)),
        sink("guest", &secure, &login(GUEST)),
        sink("late", &secure, &login(late)),
        format!(
            "- name: events\n  format: cloudevents\n  \
             kafka: {{brokers: [\"{secure}\"], topic: {EVENTS}, {right}}}\n"
        ),
    ];
    fs::write(cluster.path("late.user"), WRITER.name).unwrap();
    sinks.concat()
}

fn sink(name: &str, address: &str, keys: &str) -> String {
    format!("- name: {name}\n  kafka: {{brokers: [\"{address}\"], topic: {TOPIC}, {keys}}}\n")
}

/// Waits until a topic has this many messages with a value.
async fn until_values(log: &mut TopicLog, count: usize) {
    let deadline = Instant::now() + PATIENCE;
    while log.records().filter(|it| it.value.is_some()).count() < count {
        assert!(Instant::now() < deadline, "{count}");
        log.read_on().await;
    }
}

fn no_password(text: &str) {
    for user in [WRITER, READER, AUDITOR, ONLOOKER, GUEST, WRONG] {
        assert!(!text.contains(user.password), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_gets_in_and_each_refusal_names_its_cause() {
    let broker = Broker::start("access");
    let mut log = broker.create(TOPIC, PARTITIONS).await;
    let mut events = broker.create(EVENTS, PARTITIONS).await;
    let mut showing = broker.show(TOPIC);
    let cluster = Recorded::start().await;
    cluster.populate();
    let store = cluster.path("store");
    let redact = [
        "--redact",
        "ConfigMap .data.token",
        "--redact",
        "cm .data.pin",
    ];
    let what = ["record", "cm,secret", "-n", "shop", "--store", &store];
    let mut recorder = cluster.spy.start(&[&what[..], &redact].concat());
    recorder.until("recording");
    assert!(showing.wait().unwrap().success());

    let mut serve = cluster.serve(&sinks(&cluster, &broker));
    serve.until_each(&REFUSALS);
    until_values(&mut events, OBJECTS + 1).await;
    recorder.interrupt();
    let all = cluster.versions("store").len();
    until_values(&mut events, all).await;
    fs::write(cluster.path("late.password"), WRITER.password).unwrap();
    serve.hang_up();
    until_values(&mut log, all).await;
    let ended = serve.interrupt();
    no_password(&ended.transcript());
    check_events(&events);
    read_back(&cluster, &broker);
}

/// Every message is an event in binary mode: <https://github.com/cloudevents/spec>, its binding of Kafka.
fn check_events(log: &TopicLog) {
    let (mut known, mut types) = (BTreeMap::new(), BTreeSet::new());
    for record in log.records() {
        let text = |name: &str| {
            let value = record.headers.get(name)?;
            Some(String::from_utf8(value.clone()).unwrap())
        };
        let attribute = |name: &str| text(&format!("ce_{name}")).unwrap();
        assert_eq!(attribute("specversion"), "1.0");
        let (source, id) = (attribute("source"), attribute("id"));
        assert!(
            source.starts_with("/clusters/") && !id.is_empty(),
            "{source} {id}"
        );
        // Each arrives at least once.
        let first = known.entry((source, id)).or_insert(&record.value);
        assert_eq!(*first, &record.value);
        let time = attribute("time");
        assert!(time.contains('T') && time.ends_with('Z'), "{time}");
        assert!(time.parse::<Timestamp>().is_ok(), "{time}");
        types.insert(attribute("type"));
        // Only a value has a type of content.
        let content = record.value.as_ref().map(|value| {
            let object: Value = serde_json::from_slice(value).unwrap();
            assert!(object["metadata"]["uid"].is_string());
            "application/json".to_owned()
        });
        assert_eq!(text("content-type"), content);
        for (name, value) in &record.headers {
            let own = name.strip_prefix("ce_").unwrap_or(name);
            let is_name = |own: &str| {
                own.bytes()
                    .all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9'))
            };
            assert!(own == "content-type" || is_name(own), "{name}");
            let value = std::str::from_utf8(value).unwrap();
            assert!(!value.contains(char::is_control), "{name}: {value:?}");
        }
    }
    for name in ["begin", "version", "mark"] {
        assert!(
            types.contains(&format!("io.kubectl-spy.{name}")),
            "{types:?}"
        );
    }
}

/// Reads both topics, each as another user, and as those who may not.
fn read_back(cluster: &Recorded, broker: &Broker) {
    let system = format!("tls: true, {}", cluster.login(AUDITOR, None));
    for (topic, access) in [
        (TOPIC, cluster.login(READER, Some("broker.pem"))),
        (EVENTS, system),
    ] {
        let ran = cluster.read(broker, topic, &access);
        assert!(ran.status.success(), "{}", ran.transcript());
        no_password(&ran.transcript());
        let copied = cluster.versions("copy");
        assert!(cluster.versions("store") == copied, "{copied:#?}");
    }
    for (user, authority, expect) in [
        (WRONG, "broker.pem", "the broker refuses the user"),
        (
            READER,
            "stranger.pem",
            "a certificate of an unknown authority",
        ),
        (
            ONLOOKER,
            "broker.pem",
            "the user may not do this with the topic",
        ),
        (GUEST, "broker.pem", "or the user may not see it"),
    ] {
        let ran = cluster.read(broker, TOPIC, &cluster.login(user, Some(authority)));
        let error = format!("error: kafka://{}/{TOPIC}: ", broker.tls_address());
        let said = ran.stderr.lines().find(|line| line.starts_with(&error));
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        assert!(
            said.is_some_and(|line| line.contains(expect)),
            "{}",
            ran.transcript()
        );
        no_password(&ran.transcript());
    }
    // Without `--once`, it is tried again, which is told once.
    let args = cluster.reading(broker, TOPIC, &cluster.login(WRONG, Some("broker.pem")));
    let [args @ .., _once] = args.each_ref().map(String::as_str);
    let mut waiting = Spy::alone().start(&args);
    waiting.until("the broker refuses the user, the password or the mechanism");
    let ended = waiting.interrupt();
    assert!(
        ended.stderr.contains("; retrying"),
        "{}",
        ended.transcript()
    );
    no_password(&ended.transcript());
}
