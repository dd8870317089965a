//! Shortens foreign text for messages.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("plain", 10), "plain");
        assert_eq!(excerpt("a\nb\r\n\tc", 10), "a\\nb\\r\\n\\tc");
        assert_eq!(excerpt("éééé", 3), "ééé…");
        assert_eq!(excerpt("", 3), "");
    }
}
