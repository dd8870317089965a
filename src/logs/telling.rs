//! The telling line: which of the last lines of a dead program says why it has died.

use std::borrow::Cow;

use super::json::{JsonLine, LogLevel};

/// The words of a line that says why. `panicked` is Rust's.
const WORDS: [&str; 5] = ["error", "panic", "panicked", "fatal", "exception"];

/// The last line that says why a program has died: one with a telling word, or of the level error. Without any, the last line
/// that is not empty. Of a stack trace, the lines of its frames do not count, because they are indented.
///
/// A line that is JSON becomes a sentence. One that ends with a colon has the next line, too.
pub fn telling_line<'l>(lines: &[&'l str]) -> Option<Cow<'l, str>> {
    let is_flush = |line: &str| !line.starts_with([' ', '\t']);
    let find = |is_it: &dyn Fn(&str) -> bool| lines.iter().rposition(|line| is_it(line));
    let found = find(&|line| is_flush(line) && is_telling(line))
        .or_else(|| find(&is_telling))
        .or_else(|| find(&|line| !line.trim().is_empty()))?;
    let line = lines[found].trim();
    if let Some(object) = JsonLine::parse(line.as_bytes()) {
        return Some(object.sentence().map_or(Cow::Borrowed(line), Cow::Owned));
    }
    let next = lines.get(found + 1).map(|next| next.trim());
    let next = next.filter(|next| line.ends_with(':') && !next.is_empty());
    Some(match next {
        Some(next) => Cow::Owned(format!("{line} {next}")),
        None => Cow::Borrowed(line),
    })
}

/// Whether a line says why a program has died. The level of a JSON line decides.
fn is_telling(line: &str) -> bool {
    let level = JsonLine::parse(line.as_bytes()).and_then(|object| object.level());
    match level {
        Some(level) => level == LogLevel::Error,
        None => has_telling_word(line),
    }
}

/// Whether a line has one of the words, in any case, also at the end of a name such as `ValueError`.
fn has_telling_word(line: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = line.split(|c: char| !is_part(c));
    words.any(|word| WORDS.iter().any(|telling| ends_with_word(word, telling)))
}

/// Whether a name is the word, or ends with it: after an underscore, or where a capital begins it.
fn ends_with_word(name: &str, word: &str) -> bool {
    let Some(start) = name.len().checked_sub(word.len()) else {
        return false;
    };
    let Some((before, end)) = name.split_at_checked(start) else {
        return false;
    };
    let begins = before.is_empty() || before.ends_with('_') || end.starts_with(char::is_uppercase);
    begins && end.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(log: &str, expect: &str) {
        let lines: Vec<&str> = log.lines().collect();
        let found = telling_line(&lines);
        assert_eq!(found.as_deref().unwrap_or("-"), expect, "{log}");
    }

    #[test]
    fn the_last_line_with_a_telling_word_says_why() {
        for (log, expect) in [
            ("", "-"),
            ("\n  \n", "-"),
            ("one\ntwo\n\n", "two"),
            ("ERROR no db\nbye", "ERROR no db"),
            ("error a\nFatal: b\nbye\n", "Fatal: b"),
            (
                "x 2 errors, terrorist, panicky",
                "x 2 errors, terrorist, panicky",
            ),
            ("listening\nlevel=error msg=no\nbye", "level=error msg=no"),
            ("db_error=7\nbye", "db_error=7"),
            ("errors=0\nbye", "bye"),
        ] {
            check(log, expect);
        }
    }

    #[test]
    fn a_stack_trace_is_its_message() {
        let go = "panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/error.go:9 +0x1d\nexit status 2";
        let java = "Exception in thread \"main\" java.lang.IllegalStateException: db\n\tat com.shop.Error.of(Error.java:3)\nCaused by: java.net.ConnectException: refused\n\t... 3 more";
        let python = "Traceback (most recent call last):\n  File \"/app/x.py\", line 1\nValueError: no such host\n";
        let node = "/app/index.js:3\nthrow new Error('x')\n^\n\nError: no db\n    at Object.error (/app/index.js:3:7)\n\nNode.js v22.1.0";
        let rust =
            "thread 'main' panicked at src/main.rs:2:5:\nno db\nnote: run with `RUST_BACKTRACE=1`";
        for (log, expect) in [
            (go, "panic: runtime error: index out of range [3]"),
            (java, "Caused by: java.net.ConnectException: refused"),
            (python, "ValueError: no such host"),
            (node, "Error: no db"),
            (rust, "thread 'main' panicked at src/main.rs:2:5: no db"),
            ("  error: indented\nbye", "error: indented"),
            ("fatal:\n", "fatal:"),
        ] {
            check(log, expect);
        }
    }

    #[test]
    fn the_level_of_a_json_line_decides() {
        for (log, expect) in [
            (
                "{\"level\":50,\"msg\":\"no db\"}\n{\"level\":30,\"msg\":\"retry after error\"}",
                "50: no db",
            ),
            (
                "{\"level\":\"info\",\"error\":null}\n{\"code\":7}",
                "{\"code\":7}",
            ),
            ("{\"msg\":\"fatal\"}\nbye", "fatal"),
        ] {
            check(log, expect);
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_telling_line_unless_it_is_empty(lines in prop::collection::vec(".{0,20}", 0..6)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let is_empty = lines.iter().all(|line| line.trim().is_empty());
            prop_assert_eq!(telling_line(&lines).is_none(), is_empty);
        }
    }
}
