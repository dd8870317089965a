//! Foreign text as a message quotes it.

/// At most `most` characters of a text, in one line: line feeds, carriage returns and tabs are spelled
/// out, and `…` stands for the rest. What a terminal obeys is left for the renderer to make visible.
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
    fn a_text_becomes_one_short_line() {
        assert_eq!(excerpt("plain", 10), "plain");
        assert_eq!(excerpt("a\nb\r\n\tc", 10), "a\\nb\\r\\n\\tc");
        assert_eq!(excerpt("éééé", 3), "ééé…");
        assert_eq!(excerpt("", 3), "");
    }
}
