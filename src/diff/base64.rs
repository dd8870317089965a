//! Decodes base64 as Kubernetes decodes the data of Secrets.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Standard base64 (RFC 4648 §4) with padding, as Go's encoding/json reads and writes bytes. Like Go, it
/// ignores the unused bits of the last digit.
const GO: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Decodes the base64 text of a Secret's value. Like Go, it skips line ends.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    GO.decode(text.replace(['\r', '\n'], "")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_standard_form_is_decoded() {
        let cases = [
            ("", Some("")),
            ("YQ==", Some("a")),
            ("YR==", Some("a")),
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
