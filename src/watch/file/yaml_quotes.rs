//! Quoted YAML texts whose lines are indented less than the text demands. go-yaml, and so kubectl, reads them.

use std::borrow::Cow;

use serde_saphyr::Error;

use super::yaml_error::cause;

/// How many bytes a document may be read again for its quoted texts.
const REREAD: usize = 8 << 20;

/// What the parser says about such a line.
const TOO_SHALLOW: &str = "invalid indentation in multiline quoted scalar";

/// Reads a document, with the lines of its quoted texts indented as far as the parser demands. The space before such a line
/// is no part of the text.
pub(super) fn read<T>(
    document: &str,
    parse: impl Fn(&str) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut text = Cow::Borrowed(document);
    let mut left = REREAD;
    loop {
        let error = match parse(&text) {
            Err(error) => error,
            read => return read,
        };
        let row = shallow_row(&error).filter(|_| left >= text.len());
        let Some(deeper) = row.and_then(|row| indented(&text, row)) else {
            return Err(error);
        };
        left -= text.len();
        text = Cow::Owned(deeper);
    }
}

/// The line of a quoted text that is not indented enough, counted from 1.
fn shallow_row(error: &Error) -> Option<usize> {
    match cause(error) {
        Error::ExternalMessage { msg, location, .. } if msg.starts_with(TOO_SHALLOW) => {
            usize::try_from(location.line()).ok()
        }
        _ => None,
    }
}

/// The document with the lines of a quoted text indented, from this line to the next quotation mark. The text does not end
/// before that mark, so no other line is touched.
fn indented(document: &str, row: usize) -> Option<String> {
    let lines: Vec<&str> = document.split_inclusive('\n').collect();
    let (before, inside) = lines.split_at_checked(row.checked_sub(1)?)?;
    let last = inside.iter().position(|line| line.contains(['"', '\'']))?;
    let depth = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let deepest = lines.iter().map(depth).max().unwrap_or_default();
    let mut text = before.concat();
    for (at, line) in inside.iter().enumerate() {
        if at <= last {
            text.extend(std::iter::repeat_n(' ', deepest + 1));
        }
        text.push_str(line);
    }
    Some(text)
}
