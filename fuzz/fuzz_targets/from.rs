//! Any bytes as the standard input of `--from -`. The program reads them to the end and exits, and escapes
//! their text for the terminal. The first byte selects the command.
//!
//! If the first byte is odd, the input is versions of a Secret, whose values must not be printed.

#![no_main]

use kubectl_spy_fuzz::{mutate, run};
use serde_json::{Value, json};

const COMMANDS: &[&[&str]] = &[
    &["changes"],
    &["changes", "--once"],
    &["changes", "-otree"],
    &["changes", "-ofull", "--once"],
    &["changes", "-odiff"],
    &["changes", "-ojson"],
    &["changes", "-oyaml", "--once"],
    &["changes", "-ojson-patch"],
    &["changes", "-omerge-patch"],
    &["changes", "--full", "--no-fold"],
    &["status"],
    &["status", "--once"],
    &["status", "-ojson"],
    &["status", "--once", "-ojson", "--rules=kstatus"],
    &["trace", "deploy/web", "--once"],
    &["trace", "svc/web", "-ojson"],
];

/// The value of the Secret, and its stored form.
const HIDDEN: &str = "s3cret-v4lue";
const STORED: &str = "czNjcmV0LXY0bHVl";

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, input)) = bytes.split_first() else {
        return;
    };
    let command = COMMANDS[usize::from(choice >> 1) % COMMANDS.len()];
    if choice % 2 == 0 {
        check(command, input);
    } else if let Some(secrets) = secrets(input) {
        let printed = check(command, &secrets);
        for hidden in [HIDDEN, STORED] {
            assert!(!printed.contains(hidden), "{printed}");
        }
    }
});

/// Runs a command and returns its output. The size of the output has a bound. It is a large multiple of the
/// input, because each line names its path.
fn check(command: &[&str], input: &[u8]) -> String {
    let ran = run(command.iter().copied().chain(["--from", "-"]), input);
    ran.check();
    let printed = ran.stdout + &ran.stderr;
    assert!(
        printed.len() < 2000 * (input.len() + 100),
        "{}",
        printed.len()
    );
    printed
}

/// Turns the JSON values of a text into versions of one Secret. Every text below `data` and `stringData`
/// becomes the hidden value, which occurs in no other place. `None` if that is impossible.
fn secrets(input: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(input).ok()?;
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut all = Vec::new();
    for value in values {
        let Ok(Value::Object(mut secret)) = value else {
            return None;
        };
        secret.insert("apiVersion".into(), "v1".into());
        secret.insert("kind".into(), "Secret".into());
        let (data, plain) = (secret.remove("data"), secret.remove("stringData"));
        match secret.get_mut("metadata") {
            Some(Value::Object(metadata)) => metadata.insert("name".into(), "web".into()),
            _ => secret.insert("metadata".into(), json!({"name": "web"})),
        };
        let rest = serde_json::to_string(&secret).ok()?;
        if rest.contains(HIDDEN) || rest.contains(STORED) {
            return None;
        }
        for (field, value, hidden) in [("data", data, STORED), ("stringData", plain, HIDDEN)] {
            if let Some(mut value) = value {
                hide(&mut value, hidden);
                secret.insert(field.into(), value);
            }
        }
        serde_json::to_writer(&mut all, &secret).ok()?;
        all.push(b'\n');
    }
    Some(all)
}

fn hide(value: &mut Value, hidden: &str) {
    match value {
        Value::String(text) => hidden.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, hidden)),
        Value::Object(fields) => {
            fields.retain(|name, _| !name.contains(HIDDEN) && !name.contains(STORED));
            fields.values_mut().for_each(|value| hide(value, hidden));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    if seed % 2 == 0 && size > 1 {
        if let Some(text) = mutate::mutate(&data[1..size], most.saturating_sub(1), seed) {
            data[1..=text.len()].copy_from_slice(&text);
            return 1 + text.len();
        }
    }
    libfuzzer_sys::fuzzer_mutate(data, size, most)
});
