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
}
