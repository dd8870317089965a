//! Any texts as kubeconfig files give a client or an error, and an error shows no credentials. Texts that
//! name files or credential plugins are refused before a file is opened or a plugin is run. The input is up
//! to three texts with form feeds between them.

#![no_main]

use std::sync::LazyLock;

use kubectl_spy::cluster::{Client, ClusterConfig, Overrides};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
});

/// The text that replaces every credential.
const HIDDEN: &str = "s3cret-v4lue";
const CREDENTIALS: [&str; 4] = [
    "token",
    "password",
    "client-key-data",
    "client-certificate-data",
];

libfuzzer_sys::fuzz_target!(|input: &str| {
    let texts: Vec<&str> = input.splitn(3, '\u{c}').collect();
    let summary = connect(&texts);
    assert_eq!(summary, connect(&texts));
    let hidden: Vec<String> = texts.iter().filter_map(|text| hidden(text)).collect();
    if hidden.len() == texts.len() {
        let summary = connect(&hidden.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!summary.contains(HIDDEN), "{summary}");
    }
});

/// All visible texts of the client, or of the error.
fn connect(texts: &[&str]) -> String {
    let mut summary = String::new();
    for server in [None, Some("https://127.0.0.1:6443".to_owned())] {
        let overrides = Overrides {
            server,
            ..Overrides::default()
        };
        let config = match ClusterConfig::of_texts(texts, &overrides) {
            Ok(config) => config,
            Err(error) => {
                summary += &format!("{error} {error:?}\n");
                continue;
            }
        };
        summary += &format!("{config:?} {} {}", config.server(), config.namespace());
        match RUNTIME.block_on(Client::new(config)) {
            Ok(client) => summary += &format!("{client:?}\n"),
            Err(error) => summary += &format!("{error} {error:?}\n"),
        }
    }
    summary
}

/// A text in which every credential is the hidden one, which occurs in no other place. `None` if the text is
/// not JSON.
fn hidden(text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    if text.contains(HIDDEN) {
        return None;
    }
    hide(&mut value);
    Some(value.to_string())
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if CREDENTIALS.contains(&name.as_str()) => {
                        HIDDEN.clone_into(text);
                    }
                    _ => hide(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        _ => {}
    }
}
