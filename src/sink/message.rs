//! The body of a message and its signature.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use ring::hmac::{HMAC_SHA256, Key, sign};
use serde::Serialize;
use serde_json::value::RawValue;

use super::template::TextTemplate;
use super::transition::Delivery;
use crate::render::age::rfc3339_millis;
use crate::render::json::{VERSION, line};
use crate::status::Status;

/// What the key file of a [Standard Webhook](https://www.standardwebhooks.com) begins with.
const CODED: &str = "whsec_";

/// A change of state, as docs/schema/transition.json describes it.
#[derive(Serialize)]
struct TransitionRecord<'d> {
    v: u32,
    /// The same in each attempt.
    id: &'d str,
    time: String,
    /// Null for a new object.
    from: Option<&'static str>,
    to: &'static str,
    /// The record of `status -o json`.
    object: Box<RawValue>,
}

/// A message of chat programs.
#[derive(Serialize)]
struct TextRecord<'t> {
    text: &'t str,
}

/// The body of a message: the record of the change, or a text about it.
pub(super) fn body(delivery: &Delivery, template: Option<&TextTemplate>) -> String {
    if let Some(template) = template {
        let text = template.fill(delivery);
        return line(&TextRecord { text: &text });
    }
    line(&TransitionRecord {
        v: VERSION,
        id: &delivery.id,
        time: rfc3339_millis(delivery.time),
        from: delivery.from.map(Status::as_str),
        to: delivery.to.as_str(),
        object: RawValue::from_string(delivery.record.clone()).unwrap_or_default(),
    })
}

/// The key that both sides of a webhook know.
#[derive(Clone)]
pub struct SigningKey(Key);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    /// The key in a file: its bytes without the last line feed. A text that begins with `whsec_` is base64. `None` for an
    /// empty key.
    pub fn parse(file: &[u8]) -> Option<SigningKey> {
        let text = file.strip_suffix(b"\n").unwrap_or(file);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let coded = text.strip_prefix(CODED.as_bytes());
        let bytes = match coded {
            Some(coded) => STANDARD.decode(coded).ok()?,
            None => text.to_vec(),
        };
        (!bytes.is_empty()).then(|| SigningKey(Key::new(HMAC_SHA256, &bytes)))
    }

    /// The signature of a message at this time, in the form of a Standard Webhook: `v1,` and the base64 of the HMAC-SHA256 of
    /// `ID.SECONDS.BODY`.
    pub(super) fn sign(&self, id: &str, time: Timestamp, body: &str) -> String {
        let signed = format!("{id}.{}.{body}", time.as_second());
        let tag = sign(&self.0, signed.as_bytes());
        format!("v1,{}", STANDARD.encode(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of <https://github.com/standard-webhooks/standard-webhooks>.
    #[test]
    fn a_signature_is_that_of_a_standard_webhook() {
        let key = SigningKey::parse(b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").expect("a key");
        let time = Timestamp::from_second(1_614_265_330).expect("a time");
        let signed = key.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            time,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_key_is_the_bytes_of_its_file() {
        let sign =
            |file: &[u8]| Some(SigningKey::parse(file)?.sign("1", Timestamp::UNIX_EPOCH, ""));
        assert_eq!(sign(b"secret\r\n"), sign(b"secret"));
        assert_ne!(sign(b"secret "), sign(b"secret"));
        for empty in [&b""[..], b"\n", b"whsec_", b"whsec_no base64"] {
            assert_eq!(sign(empty), None, "{empty:?}");
        }
    }
}
