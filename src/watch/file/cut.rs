//! The whole items of a JSON list whose text is cut off.

/// The list with its whole items alone; `None` if it has none. A place in it is the same place in the text.
pub(super) fn items_before_cut(text: &str) -> Option<String> {
    let (end, closing) = last_item(text)?;
    Some(format!("{}{closing}", &text[..end]))
}

/// Where the last whole item of the list ends, and what closes the list.
fn last_item(text: &str) -> Option<(usize, &'static str)> {
    let (closing, depth) = match text.as_bytes().first()? {
        b'{' => ("]}", 2),
        b'[' => ("]", 1),
        _ => return None,
    };
    let mut open: Vec<u8> = Vec::new();
    let mut end = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => {
                open.pop();
                if byte == b'}' && open.len() == depth && open.last() == Some(&b'[') {
                    end = Some((at + 1, closing));
                }
            }
            _ => {}
        }
    }
    // Another list may have begun, such as the owners in the metadata of the list.
    end.filter(|_| open.len() >= depth && open[depth - 1] == b'[')
}

/// Skips the rest of a string.
fn skip_string(bytes: &mut impl Iterator<Item = (usize, u8)>) {
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_items_are_kept() {
        for (text, kept) in [
            (
                r#"{"items":[{"a":[{"b":1}]},{"c":"}]"},{"d":[{}"#,
                r#"{"items":[{"a":[{"b":1}]},{"c":"}]"}]}"#,
            ),
            (r#"[{"a":1},{"b":"\"]"#, r#"[{"a":1}]"#),
            (
                r#"{"kind":"List","items":[{"a":1}"#,
                r#"{"kind":"List","items":[{"a":1}]}"#,
            ),
            // The first item, or another field than the items, is cut off.
            (r#"{"items":[{"a":[{"b":1}]"#, ""),
            (r#"{"a":[{"b":1}],"c":{"d"#, ""),
            (r#"{"a":{"b":1"#, ""),
            ("{", ""),
            ("", ""),
        ] {
            assert_eq!(items_before_cut(text).unwrap_or_default(), kept, "{text}");
        }
    }
}
