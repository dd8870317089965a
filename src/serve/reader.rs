//! `WebReader`: who sent a request, and the Kubernetes token that shows it. The token of a reader is kept only while a request or
//! a stream of his is open.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use ring::digest::{SHA256, digest};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

/// Who sent a request.
#[derive(Clone, Debug)]
pub enum WebReader {
    /// The user who started the server, and may read what the server reads.
    Owner,
    /// A user of the cluster.
    User(ReaderToken),
}

/// The Kubernetes token of a reader. Nothing prints it.
#[derive(Clone)]
pub struct ReaderToken {
    text: SecretString,
    hash: TokenHash,
    holder: TokenHash,
}

/// The SHA-256 of a token, or of who holds it: what stays in memory after a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

impl fmt::Debug for ReaderToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReaderToken")
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash")
    }
}

impl WebReader {
    /// Who holds the places of this reader; `None` for the owner. He is the only reader of a server, so all places are for him.
    pub fn holder(&self) -> Option<TokenHash> {
        match self {
            WebReader::Owner => None,
            WebReader::User(token) => Some(token.holder()),
        }
    }
}

impl ReaderToken {
    /// The token with this text; `None` if it cannot be one: RFC 6750 has letters, digits and `-._~+/=`.
    pub fn new(text: &str) -> Option<ReaderToken> {
        let is_allowed = |c: u8| c.is_ascii_alphanumeric() || b"-._~+/=".contains(&c);
        if text.is_empty() || !text.bytes().all(is_allowed) {
            return None;
        }
        let hash = TokenHash::of(text)?;
        // A space is in no token.
        let holder = Claims::of(text).map(|it| format!("{} {}", it.iss, it.sub));
        Some(ReaderToken {
            text: text.into(),
            hash,
            holder: holder.map_or(Some(hash), |holder| TokenHash::of(&holder))?,
        })
    }

    /// The token of a request: `Bearer TOKEN`, or the password of `Basic`, which a browser asks its user for. The name beside
    /// the password may be any. `None` without a token, and with several.
    pub fn of(headers: &HeaderMap) -> Option<ReaderToken> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return None;
        };
        let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
        if scheme.eq_ignore_ascii_case("bearer") {
            return ReaderToken::new(rest.trim());
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let decoded = STANDARD.decode(rest.trim()).ok()?;
        let decoded = String::from_utf8(decoded).ok()?;
        ReaderToken::new(decoded.split_once(':')?.1.trim())
    }

    /// The text, for the header of a request to the API server.
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }

    /// What stands for the token in memory.
    pub fn hash(&self) -> TokenHash {
        self.hash
    }

    /// What stands for the reader: all tokens of a `ServiceAccount` are his. It counts only once the API server has accepted the token.
    pub fn holder(&self) -> TokenHash {
        self.holder
    }
}

impl TokenHash {
    fn of(text: &str) -> Option<TokenHash> {
        let hash = digest(&SHA256, text.as_bytes());
        <[u8; 32]>::try_from(hash.as_ref()).ok().map(TokenHash)
    }
}

/// What a JSON Web Token says about its holder (<https://www.rfc-editor.org/rfc/rfc7519#section-4.1>). The API server checks its
/// signature.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
}

impl Claims {
    /// `None` for a token of another form.
    fn of(token: &str) -> Option<Claims> {
        let mut parts = token.split('.');
        let (Some(_), Some(claims), Some(_), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return None;
        };
        let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
        serde_json::from_slice(&claims).ok()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn token(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(
                AUTHORIZATION,
                HeaderValue::from_str(value).expect("a value"),
            );
        }
        ReaderToken::of(&headers).map(|token| token.expose().to_owned())
    }

    #[test]
    fn a_token_is_a_bearer_token_or_a_password() {
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        for (values, expect) in [
            (vec!["Bearer abc.d-e_f"], Some("abc.d-e_f")),
            (vec!["bearer  abc "], Some("abc")),
            (vec![&*basic("any:abc")], Some("abc")),
            (vec![&*basic(":abc")], Some("abc")),
            (vec![&*basic("any:abc:d")], None),
            (vec![&*basic("abc")], None),
            (vec![&*basic("any:")], None),
            (vec!["Basic ???"], None),
            (vec!["Bearer a b"], None),
            (vec!["Bearer a\tb"], None),
            (vec!["Bearer "], None),
            (vec!["Digest abc"], None),
            (vec!["Bearer abc", "Bearer abc"], None),
            (vec![], None),
        ] {
            assert_eq!(token(&values).as_deref(), expect, "{values:?}");
        }
    }

    #[test]
    fn the_tokens_of_one_account_have_one_holder() {
        let holder = |claims: &str, signature: &str| {
            let claims = URL_SAFE_NO_PAD.encode(claims);
            let token = ReaderToken::new(&format!("e30.{claims}.{signature}"));
            token.expect("a token").holder()
        };
        let me = r#"{"iss":"a","sub":"system:serviceaccount:shop:me","exp":1}"#;
        let later = r#"{"iss":"a","sub":"system:serviceaccount:shop:me","exp":2}"#;
        assert!(holder(me, "x") == holder(later, "y"));
        for other in [
            r#"{"iss":"a","sub":"system:serviceaccount:shop:you"}"#,
            r#"{"iss":"b","sub":"system:serviceaccount:shop:me"}"#,
        ] {
            assert!(holder(me, "x") != holder(other, "x"), "{other}");
        }
        // Anything else stands for itself.
        for text in [
            "opaque",
            "a.b",
            "a.b.c",
            "e30.e30.x",
            "e30.bnVsbA.x",
            "a.b.c.d",
        ] {
            let token = ReaderToken::new(text).expect("a token");
            assert!(token.holder() == token.hash(), "{text}");
        }
    }

    #[test]
    fn no_text_shows_a_token() {
        let token = ReaderToken::new("t0p-secret").expect("a token");
        let texts = format!(
            "{token:?} {:?} {:?}",
            token.hash(),
            WebReader::User(token.clone())
        );
        assert_eq!(texts, "ReaderToken TokenHash User(ReaderToken)");
    }
}
