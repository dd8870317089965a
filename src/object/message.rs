//! Text in messages: counts with their nouns, and foreign text: shortened, without secrets, and with the names that
//! it may have meant.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde_json::error::Category;
use strsim::osa_distance;

/// `1 watch`, `2 watches`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let word = if count == N::from(1) { one } else { many };
    format!("{count} {word}")
}

/// `a, b and 2 more`: at most `most` of these names, and the number of the others.
pub fn listed<N: Display>(names: impl IntoIterator<Item = N>, most: usize) -> String {
    let mut names = names.into_iter();
    let shown = names.by_ref().take(most).map(|name| name.to_string());
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// At most `most` characters of a text, in one line. Line feeds, carriage returns and tabs are escaped, and `…`
/// stands for the rest. The renderer escapes other control characters.
pub fn excerpt(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut chars = text.chars();
    for c in chars.by_ref().take(most) {
        match c {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c => line.push(c),
        }
    }
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

/// Describes an error and its position. The parser's own message quotes the text, which may be a Secret.
pub fn json_fault(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Io | Category::Syntax => "not JSON",
        Category::Data => "a field is missing or of the wrong type",
        Category::Eof => "it ends too early",
    };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

/// The URL with `***` in place of everything before its last `@`. An unescaped password may contain any
/// character, so all of that part is hidden.
pub fn shown_url(url: &str) -> String {
    let Some((login, rest)) = url.rsplit_once('@') else {
        return url.to_owned();
    };
    match login.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://***@{rest}"),
        None => format!("***@{rest}"),
    }
}

/// A text whose URLs have no login and no query string. The text may be one URL, or the message of a program that joins a
/// URL to a path: `/tmp/https:/me:password@example.com`.
pub fn without_secrets(text: &str) -> String {
    let is_between = |letter: char| "'\"<>`".contains(letter) || letter.is_whitespace();
    let words = text.split_inclusive(is_between).map(|word| {
        let (word, end) = word.split_at(word.trim_end_matches(is_between).len());
        format!("{}{end}", word_without_secrets(word))
    });
    words.collect()
}

fn word_without_secrets(word: &str) -> String {
    let (start, rest) = word.split_at(scheme_len(word));
    let (rest, query) = match rest.rsplit_once('@') {
        // A query string with an `@`, or a password with a `?`.
        Some((login, _)) if login.contains('?') => return format!("{start}***"),
        _ => rest.split_once('?').unwrap_or((rest, "")),
    };
    let query = if query.is_empty() {
        &word[start.len() + rest.len()..]
    } else {
        "?***"
    };
    let Some((login, host)) = rest.rsplit_once('@') else {
        return format!("{start}{}{query}", without_half_login(start, rest));
    };
    // Only a password may contain slashes.
    let path = match login.rfind('/') {
        Some(slash) if start.is_empty() && !login.contains(':') => &login[..=slash],
        _ => "",
    };
    format!("{start}{path}***@{host}{query}")
}

/// The length of the text up to the scheme and its slashes. A cleaned path has one slash: `https:/example.com`.
fn scheme_len(word: &str) -> usize {
    word.find(":/").map_or(0, |colon| {
        let slashes = word[colon + 1..].bytes().take_while(|byte| *byte == b'/');
        colon + 1 + slashes.count()
    })
}

/// A host and a path. What looks like a host with a port that is no number is a login whose password has a space or a quote.
fn without_half_login<'a>(start: &str, rest: &'a str) -> &'a str {
    let host = rest.split('/').next().unwrap_or_default();
    let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    match host.rsplit_once(':') {
        Some((_, port)) if !start.is_empty() && !host.ends_with(']') && !is_number(port) => "***",
        _ => rest,
    }
}

/// How many names are suggested.
const OFFERED: usize = 5;

/// The `candidates` that resemble `wanted`: at most five, the nearest first.
///
/// Two names resemble each other if at most a third of the letters of `wanted` must change. Generated names
/// continue after a part that resembles `wanted`; they come last. One letter is too short for that, and nothing resembles an
/// empty text. The case of letters does not matter: the names of objects have no capital ones. If the part ends inside a
/// word, at most a quarter of its letters may differ: `foo` is not near `flowschema`.
pub fn near<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let letters = wanted.chars().count();
    if letters == 0 {
        return Vec::new();
    }
    let allowed = (letters + 1) / 3;
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for candidate in candidates {
        let lower = candidate.to_lowercase();
        let whole = osa_distance(&wanted, &lower);
        if whole <= allowed {
            found.insert(candidate, whole);
            continue;
        }
        let Some((end, _)) = lower.char_indices().nth(letters) else {
            continue;
        };
        let is_inside_word = lower[end..].starts_with(char::is_alphanumeric);
        let allowed_at_start = if is_inside_word { letters / 4 } else { allowed };
        let start = osa_distance(&wanted, &lower[..end]);
        if letters > 1 && start <= allowed_at_start {
            found.insert(candidate, allowed + 1 + start);
        }
    }
    let mut ranked: Vec<(usize, &str)> =
        found.into_iter().map(|(name, rank)| (rank, name)).collect();
    ranked.sort_unstable();
    let names = ranked.into_iter().take(OFFERED);
    names.map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn the_names_beyond_a_number_are_counted() {
        for (names, most, expected) in [
            (&[][..], 3, ""),
            (&["a"], 3, "a"),
            (&["a", "b", "c"], 3, "a, b, c"),
            (&["a", "b", "c", "d", "e"], 3, "a, b, c and 2 more"),
            (&["a", "b"], 1, "a and 1 more"),
        ] {
            assert_eq!(listed(names, most), expected);
        }
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("plain", 10), "plain");
        assert_eq!(excerpt("a\nb\r\n\tc", 10), "a\\nb\\r\\n\\tc");
        assert_eq!(excerpt("éééé", 3), "ééé…");
        assert_eq!(excerpt("", 3), "");
    }

    #[derive(Debug, Deserialize)]
    struct Named {
        #[serde(rename = "name")]
        _name: String,
    }

    fn check(text: &str) -> String {
        json_fault(&serde_json::from_str::<Named>(text).expect_err("refused"))
    }

    #[test]
    fn an_error_names_the_position_and_never_the_text() {
        let wrong = "a field is missing or of the wrong type";
        assert_eq!(check("\"hunter2\""), format!("{wrong} (line 1, column 9)"));
        assert_eq!(
            check("{\n\"name\": [\"hunter2\"]}"),
            format!("{wrong} (line 2, column 8)")
        );
        assert_eq!(
            check("{\"other\": 1}"),
            format!("{wrong} (line 1, column 12)")
        );
        assert_eq!(check("{hunter2}"), "not JSON (line 1, column 2)");
        assert_eq!(
            check("{\"name\": \"hunt"),
            "it ends too early (line 1, column 14)"
        );
    }

    #[test]
    fn passwords_in_urls_are_hidden() {
        for (url, shown) in [
            ("https://example.com:6443/a", "https://example.com:6443/a"),
            ("ftp://u:PASS@x", "ftp://***@x"),
            ("u:PASS@x:80", "***@x:80"),
            ("http://TOKEN@x/y", "http://***@x/y"),
            ("http://u:P/A?S#S@x/y", "http://***@x/y"),
            ("http://u:P@SS@x", "http://***@x"),
            ("", ""),
        ] {
            assert_eq!(shown_url(url), shown, "{url}");
        }
    }

    #[test]
    fn a_message_has_no_login_and_no_query_string() {
        for (text, shown) in [
            (
                "evalsymlink failure on '/tmp/k/https:/me:SECRET@127.0.0.1:1/x.yaml' : lstat",
                "evalsymlink failure on '/tmp/k/https:/***@127.0.0.1:1/x.yaml' : lstat",
            ),
            ("git::https://me:SECRET@h/a", "git::https://***@h/a"),
            ("ssh://git:SECRET@h/a", "ssh://***@h/a"),
            ("https://SECRET@h:8443/a", "https://***@h:8443/a"),
            ("https://h/a?token=SECRET", "https://h/a?***"),
            ("https://h/a?token=SECRET@SECRET", "https://***"),
            ("https://me:SEC?RET@h/a", "https://***"),
            ("github.com/me:SECRET@h/a", "***@h/a"),
            ("/tmp/k/github.com/me:SEC/RET@h/a", "***@h/a"),
            ("/tmp/SECRET@h/a?ref=SECRET", "/tmp/***@h/a?***"),
            ("git@github.com:a/b", "***@github.com:a/b"),
            ("'https://me:SECRET SECRET@h/a'", "'https://*** ***@h/a'"),
            (
                "get https://h:443/a: is it up?",
                "get https://h:443/a: is it up?",
            ),
            (
                "https://[::1]:80/a and https://[::1]",
                "https://[::1]:80/a and https://[::1]",
            ),
            ("dir /a/b.yaml: no such file", "dir /a/b.yaml: no such file"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(text), shown, "{text}");
        }
    }

    #[test]
    fn near_names_come_nearest_first() {
        let names = [
            "web",
            "web-canary",
            "wb",
            "api",
            "job",
            "web-5d4f8c7b9d-mzt4c",
        ];
        assert_eq!(
            near("wbe", names),
            ["wb", "web", "web-5d4f8c7b9d-mzt4c", "web-canary"]
        );
        assert_eq!(
            near("deployemnts", ["deployments", "daemonsets"]),
            ["deployments"]
        );
        assert_eq!(near("wéb", ["wéb-1", "wbé"]), ["wbé", "wéb-1"]);
        assert_eq!(near("WEB-2", ["web-2", "api"]), ["web-2"]);
        assert_eq!(near("zzz", names), Vec::<String>::new());
        assert_eq!(near("x", ["a", "b"]), Vec::<String>::new());
        assert_eq!(near("", ["a", "svc"]), Vec::<String>::new());
        assert_eq!(near("a", ["apiservice"]), Vec::<String>::new());
        assert_eq!(near("aa", ["ab", "ac", "ad", "ae", "af", "ag"]).len(), 5);
        assert_eq!(near("foo", ["flowschema", "foobars"]), ["foobars"]);
    }
}
