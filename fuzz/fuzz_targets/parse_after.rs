//! Any text is read the same whatever version came before it. The input is both, with a form feed
//! between them.

#![no_main]

use kubectl_spy::object::{Doc, Kind, ParseError, Value};

#[path = "../../src/object/laws.rs"]
#[expect(dead_code, reason = "each target runs one of the laws")]
mod laws;

libfuzzer_sys::fuzz_target!(|pair: &str| laws::hints_change_nothing_in(pair));
