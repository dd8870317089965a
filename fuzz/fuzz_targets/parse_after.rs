//! Any text gives the same document, whatever version was read before it. The input is both texts, with a
//! form feed between them.

#![no_main]

use kubectl_spy::object::{Doc, Kind, ParseError, Value};

#[path = "../../src/object/laws.rs"]
#[expect(dead_code, reason = "each target checks one of the laws")]
mod laws;

libfuzzer_sys::fuzz_target!(|pair: &str| laws::hints_change_nothing_in(pair));
