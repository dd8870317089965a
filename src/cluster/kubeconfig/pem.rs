//! Reads certificates from base64 and PEM texts.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Decodes standard base64, and ignores white space in it. `None` if it is not base64.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let packed: String = text.split_ascii_whitespace().collect();
    BASE64_STANDARD.decode(packed).ok()
}

/// Encodes as standard base64.
pub(crate) fn to_base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The DER form of each certificate in a PEM text. `None` if a block is invalid, or if there is no certificate.
pub(super) fn certificates(pem: &str) -> Option<Vec<Vec<u8>>> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let found = pem
        .split(BEGIN)
        .skip(1)
        .map(|block| from_base64(block.split_once(END)?.0))
        .collect::<Option<Vec<_>>>()?;
    Some(found).filter(|found| !found.is_empty())
}
