//! What the page has besides its text: the script, the style, and the policy that allows no others. The script is compressed once,
//! and browsers know it by its hash.

use std::io::Write;
use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use http::{HeaderMap, StatusCode};
use ring::digest::{SHA256, digest};

/// The script of the page. Without it, the page is as it was when it was loaded.
pub(in crate::serve) static SCRIPT: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::new(include_str!("page.js"), "text/javascript; charset=utf-8"));

/// The style, which is part of each page.
pub(super) const STYLE: &str = include_str!("page.css");

/// What the page may load and run: our script, our style, and data from this server.
pub(in crate::serve) static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
    format!(
        "default-src 'none'; script-src 'self'; style-src 'sha256-{style}'; img-src data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
});

/// A file that never changes while the server runs.
pub(in crate::serve) struct StaticFile {
    pub(super) text: &'static str,
    content: &'static str,
    /// Compressed; empty if that failed.
    gzip: Vec<u8>,
    /// Its name for a browser: the hash of its text.
    tag: String,
}

impl StaticFile {
    fn new(text: &'static str, content: &'static str) -> StaticFile {
        let hash = digest(&SHA256, text.as_bytes());
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let written = encoder.write_all(text.as_bytes());
        let gzip = written.and_then(|()| encoder.finish()).unwrap_or_default();
        StaticFile {
            text,
            content,
            gzip,
            tag: format!("\"{}\"", URL_SAFE_NO_PAD.encode(&hash.as_ref()[..12])),
        }
    }

    /// The file; only its name, if the browser has it.
    pub(in crate::serve) fn answer(&self, asked: &HeaderMap) -> Response {
        // A browser keeps it, and asks each time whether it is still the same.
        let known = [
            (ETAG, &*self.tag),
            (CACHE_CONTROL, "private, no-cache"),
            (VARY, "accept-encoding"),
        ];
        let has = |name, value: &str| {
            let mut values = asked.get_all(name).iter();
            values.any(|given| given.to_str().is_ok_and(|given| given.contains(value)))
        };
        if has(IF_NONE_MATCH, &self.tag) {
            return (StatusCode::NOT_MODIFIED, known).into_response();
        }
        let content = [(CONTENT_TYPE, self.content)];
        if has(ACCEPT_ENCODING, "gzip") && !self.gzip.is_empty() {
            let encoded = [(CONTENT_ENCODING, "gzip")];
            return (known, content, encoded, self.gzip.clone()).into_response();
        }
        (known, content, self.text).into_response()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use http::HeaderValue;

    use super::*;

    fn asked(name: http::HeaderName, value: &str) -> HeaderMap {
        let value = HeaderValue::from_str(value).expect("a value");
        HeaderMap::from_iter([(name, value)])
    }

    #[test]
    fn a_browser_that_has_the_file_gets_only_its_name() {
        let first = SCRIPT.answer(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[ETAG].to_str().expect("ASCII");
        let again = SCRIPT.answer(&asked(IF_NONE_MATCH, tag));
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        let other = SCRIPT.answer(&asked(IF_NONE_MATCH, "\"other\""));
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[test]
    fn the_compressed_file_is_the_same() {
        let answer = SCRIPT.answer(&asked(ACCEPT_ENCODING, "br, gzip"));
        assert_eq!(answer.headers()[CONTENT_ENCODING], "gzip");
        let mut text = String::new();
        let read = GzDecoder::new(&*SCRIPT.gzip).read_to_string(&mut text);
        assert_eq!(
            (read.expect("gzip"), &*text),
            (SCRIPT.text.len(), SCRIPT.text)
        );
        assert!(SCRIPT.gzip.len() * 2 < SCRIPT.text.len());
        let plain = SCRIPT.answer(&asked(ACCEPT_ENCODING, "identity"));
        assert!(!plain.headers().contains_key(CONTENT_ENCODING));
    }
}
