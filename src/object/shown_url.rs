//! Hides the password in a URL, for messages.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
