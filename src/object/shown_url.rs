//! A URL as a message shows it: without what may be a password.

/// The URL with `***` in place of what stands before its last `@`. A password may hold any character where
/// somebody forgot to escape it, so that everything up to there goes.
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
    fn logins_are_hidden() {
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
