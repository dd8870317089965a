//! Base64, as Secrets write what they hold.

/// Decodes standard base64 (RFC 4648 §4) with padding, as Go's encoding/json writes bytes. Line ends
/// are passed over, as Go does.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !b"\r\n".contains(byte))
        .collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let padding = digits
        .iter()
        .rev()
        .take_while(|byte| **byte == b'=')
        .count();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3);
    for (index, group) in digits.chunks(4).enumerate() {
        let last = (index + 1) * 4 == digits.len();
        let mut bits = 0_u32;
        for (place, &digit) in group.iter().enumerate() {
            let value = if last && place + padding >= 4 {
                0
            } else {
                sextet(digit)?
            };
            bits = bits << 6 | u32::from(value);
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    if padding > 2 {
        return None;
    }
    bytes.truncate(bytes.len() - padding);
    Some(bytes)
}

fn sextet(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_standard_form_is_decoded() {
        let cases = [
            ("", Some("")),
            ("YQ==", Some("a")),
            ("YWI=", Some("ab")),
            ("YWJj", Some("abc")),
            ("YWJj\r\nZA==", Some("abcd")),
            ("YWJ", None),
            ("Y===", None),
            ("====", None),
            ("YQ==YQ==", None),
            ("YW-_", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                decode(text).as_deref(),
                expected.map(str::as_bytes),
                "{text:?}"
            );
        }
    }
}
