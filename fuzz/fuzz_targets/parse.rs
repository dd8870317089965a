//! Any text is accepted, rejected and decoded as by `serde_json`.

#![no_main]

use kubectl_spy::object::{Doc, Kind, ParseError, Value};

#[path = "../../src/object/laws.rs"]
#[expect(dead_code, reason = "each target checks one of the laws")]
mod laws;

libfuzzer_sys::fuzz_target!(|text: &str| laws::reads_as_serde_json_does(text));
