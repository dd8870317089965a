//! The law of Secrets: no value of a Secret, and none at a redacted path, is in any file of a store, however it is coded.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{CONTROLS, NON_ALPHANUMERIC, percent_encode};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::sealer::hex;
use super::*;
use super::{FOREVER, Folder, files, object, redacting_recorder};
use crate::object::{ObjectRef, ResourceVersion, Uid};
use crate::source::{SourceKey, Version, Why};

/// The forms in which the bytes of a value may appear.
fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let hex = hex(value);
    let text = String::from_utf8_lossy(value);
    let escaped = Value::from(&*text).to_string();
    let mut forms = vec![
        value.to_vec(),
        hex.to_uppercase().into_bytes(),
        hex.into_bytes(),
        percent_encode(value, NON_ALPHANUMERIC)
            .to_string()
            .into_bytes(),
        percent_encode(value, CONTROLS).to_string().into_bytes(),
        escaped.as_bytes()[1..escaped.len() - 1].to_vec(),
    ];
    // A value inside a longer text begins at any of three bits.
    for (before, skipped) in [(0, 0), (1, 2), (2, 3)] {
        let padded = [&[0; 2][..before], value].concat();
        let cut = usize::from(padded.len() % 3 != 0);
        for coded in [
            STANDARD_NO_PAD.encode(&padded),
            URL_SAFE_NO_PAD.encode(&padded),
        ] {
            forms.push(coded.as_bytes()[skipped..coded.len() - cut].to_vec());
        }
    }
    forms
}

/// Fails if a text has a value in some form.
fn check(place: &str, text: &[u8], values: &[Vec<u8>]) -> Result<(), TestCaseError> {
    for value in values {
        for form in forms(value) {
            let found = memchr::memmem::find(text, &form);
            prop_assert!(found.is_none(), "{place} has {form:?}");
        }
    }
    Ok(())
}

fn check_files(path: &Path, values: &[Vec<u8>]) -> Result<(), TestCaseError> {
    for entry in fs::read_dir(path).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            check_files(&path, values)?;
        } else {
            let bytes = fs::read(&path).expect("a file");
            check(&path.display().to_string(), &bytes, values)?;
        }
    }
    Ok(())
}

/// The unpacked texts of all versions, because packing may hide a value.
fn check_texts(path: &Path, values: &[Vec<u8>]) -> Result<usize, TestCaseError> {
    let store = Store::open(path).expect("a store");
    let mut versions = 0;
    for event in RecordExport::open(&store.cluster("c1")).expect("files") {
        let ExportedEvent::Version(recorded) = event else {
            continue;
        };
        versions += 1;
        let text = recorded.version.body.text();
        check("a version", text.as_bytes(), values)?;
        // A copy as a text inside a text.
        let doc: Value = serde_json::from_str(&text).expect("JSON");
        for inner in doc["metadata"]["annotations"]
            .as_object()
            .into_iter()
            .flatten()
        {
            check(
                "an annotation",
                inner.1.as_str().unwrap_or("").as_bytes(),
                values,
            )?;
        }
    }
    Ok(versions)
}

fn version(number: usize, object: &Value) -> Arc<Version> {
    let mut object = object.clone();
    let name = object["metadata"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    let kind = object["kind"].as_str().expect("a kind").to_owned();
    let uid = format!("f3b1c2d4-0000-4000-8000-00000000{:04}", name.len());
    object["metadata"]["uid"] = uid.clone().into();
    object["metadata"]["namespace"] = "shop".into();
    object["metadata"]["resourceVersion"] = number.to_string().into();
    Arc::new(Version {
        object: Arc::new(ObjectRef {
            api_version: "v1".into(),
            kind: kind.into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: Some(Uid::new(uid)),
        }),
        version: ResourceVersion::new(number.to_string()),
        body: object.to_string().into(),
    })
}

const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A Secret, as somebody applies it, and a copy of it in an annotation of another object.
fn secrets(value: &[u8]) -> [Value; 2] {
    let text = String::from_utf8_lossy(value);
    let data = json!({"password": STANDARD.encode(value)});
    let manifest = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"},
        "stringData": {"password": text}, "data": data});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db",
        "annotations": {APPLIED: manifest.to_string(), "note": text}}, "data": data});
    let carrier = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "carrier",
        "annotations": {"copy": secret.to_string()}}, "data": {}});
    [secret, carrier]
}

/// A `ConfigMap` with a value at a redacted path, as somebody applies it.
fn redacted(value: &str) -> Value {
    let data = json!({"token": value, "mode": "plain"});
    let list = json!([{"name": "A", "value": value}, {"name": "B", "value": "shown"}]);
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "flags"},
        "data": data, "list": list});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "flags",
        "annotations": {APPLIED: manifest.to_string()}}, "data": data, "list": list})
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_hidden_value_is_in_any_file(
        hidden in prop::collection::vec(prop::collection::vec(any::<u8>(), 9..60), 1..4),
        texts in prop::collection::vec("\\PC{9,40}", 1..4),
    ) {
        let folder = Folder::new();
        let redactions = ["ConfigMap .data.token", ".list[name=A].value"];
        let recorder = redacting_recorder(folder.path(), FOREVER, &redactions);
        let mut objects: Vec<Value> = hidden.iter().flat_map(|value| secrets(value)).collect();
        objects.extend(texts.iter().map(|text| redacted(text)));
        for (number, value) in objects.iter().enumerate() {
            let kind = value["kind"].as_str().expect("a kind");
            let key = Arc::new(SourceKey::all("", kind));
            recorder.record(&key, object(Why::Modified, version(number + 1, value)));
        }
        let mut values = hidden.clone();
        // The lossy text of a value is in the annotations.
        values.extend(hidden.iter().map(|value| String::from_utf8_lossy(value).into_owned().into_bytes()));
        values.extend(texts.iter().map(|text| text.clone().into_bytes()));
        // The log beside the file has what is written so far.
        while recorder.progress().versions < objects.len() as u64 {
            std::thread::yield_now();
        }
        check_files(folder.path(), &values)?;
        recorder.finish().expect("written");
        check_files(folder.path(), &values)?;
        prop_assert_eq!(check_texts(folder.path(), &values)?, objects.len());
    }
}

/// A certificate that was created for tests.
const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBeDCCAR+gAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBBrdWJlY3Rs
LXNweS10ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAbMRkw
FwYDVQQDDBBrdWJlY3RsLXNweS10ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAElmAkwFdHflQ0+kfaBPr+9t1+FYyb8U2CbiwOEmcUCmhGNOreOiMbCTU3IKF1
o9CLMczcangs33yMXao4+ilba6NSMFAwIQYDVR0RBBowGIIWa3ViZXJuZXRlcy5l
eGFtcGxlLmNvbTAMBgNVHRMBAf8EAjAAMB0GA1UdDgQWBBSHjxQ/xgK/pVaowX/N
bPyvpK2eSjAKBggqhkjOPQQDAgNHADBEAiBy5lO5Ckf8j2GPurilLXxv1HmTXqhR
IJLw81G69Cw6mwIgan//7HCIlxhxtghBZPInwdH0lf3OGEnmho7oKRxxPSY=
-----END CERTIFICATE-----
";

#[test]
fn a_public_certificate_stays_and_a_private_key_does_not() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": "tls"},
        "data": {"tls.crt": STANDARD.encode(CERTIFICATE), "tls.key": STANDARD.encode("a private key")}});
    let folder = Folder::new();
    let recorder = redacting_recorder(folder.path(), FOREVER, &[]);
    let key = Arc::new(SourceKey::all("", "Secret"));
    recorder.record(&key, object(Why::Added, version(1, &secret)));
    recorder.finish().expect("written");
    assert_eq!(files(folder.path()).len(), 1);
    let store = Store::open(folder.path()).expect("a store");
    let mut events = RecordExport::open(&store.cluster("c1")).expect("files");
    let Some(ExportedEvent::Version(first)) = events.next() else {
        panic!("a version");
    };
    let text = first.version.body.text();
    assert!(text.contains(&STANDARD.encode(CERTIFICATE)), "{text}");
    assert!(!text.contains(&STANDARD.encode("a private key")), "{text}");
}
