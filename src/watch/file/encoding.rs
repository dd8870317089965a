//! The text encodings of files: UTF-8, and UTF-16 with a byte order mark, as Windows PowerShell writes it.

use super::error::FileError;
use super::foreign::foreign_bytes;

/// The byte order marks of UTF-16.
const LITTLE_ENDIAN: &[u8] = &[0xff, 0xfe];
const BIG_ENDIAN: &[u8] = &[0xfe, 0xff];

/// Whether a file begins with a byte order mark of UTF-16, or may do so when it has more than one byte.
pub(super) fn may_be_utf16(bytes: &[u8]) -> bool {
    let is_of =
        |mark: &[u8]| bytes.starts_with(mark) || (!bytes.is_empty() && mark.starts_with(bytes));
    is_of(LITTLE_ENDIAN) || is_of(BIG_ENDIAN)
}

/// The text of a file. Fails if it is a binary file.
pub fn text_of(bytes: Vec<u8>) -> Result<String, FileError> {
    match foreign_bytes(&bytes) {
        // The words of kubectl.
        Some(foreign) => Err(
            FileError::no_object(1, "control characters are not allowed").of_foreign(Some(foreign)),
        ),
        None => Ok(decoded(bytes)),
    }
}

/// A text, decoded. Like kubectl, it replaces what is not valid in the encoding.
fn decoded(bytes: Vec<u8>) -> String {
    let unit: fn([u8; 2]) -> u16 = match &bytes[..] {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => {
            return String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        }
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let letters =
        char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    let half = (!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
    letters.chain(half).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoding_gives_the_same_text() {
        let text = "kind: Pod\r\nname: café ☕ 🦀\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let of = |mark: u16, bytes: fn(u16) -> [u8; 2]| {
            let units = std::iter::once(mark).chain(units.iter().copied());
            decoded(units.flat_map(bytes).collect())
        };
        assert_eq!(of(0xfeff, u16::to_le_bytes), text);
        assert_eq!(of(0xfeff, u16::to_be_bytes), text);
        assert_eq!(decoded(text.into()), text);
    }

    #[test]
    fn what_is_not_valid_is_replaced() {
        assert_eq!(decoded(b"a\xffb".to_vec()), "a\u{fffd}b");
        // Half a surrogate pair, and half a unit.
        assert_eq!(
            decoded(vec![0xff, 0xfe, b'a', 0, 0x3e, 0xd8, b'b', 0, 7]),
            "a\u{fffd}b\u{fffd}"
        );
        assert_eq!(decoded(vec![0xfe, 0xff]), "");
    }
}
