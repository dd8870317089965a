//! Durations in Go's syntax, as in flags and in objects.

use std::time::Duration;

/// Parses a duration in Go's syntax (`1m30s`, `1.5h`, `0`), without a sign.
pub fn parse_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ns" => 1e-9,
            // The micro sign, and the Greek letter.
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        rest = &rest[letters..];
        total = total.checked_add(Duration::try_from_secs_f64(amount * unit).ok()?)?;
    }
    Some(total).filter(|_| !text.is_empty())
}
