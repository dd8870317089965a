//! What is wrong with a JSON text from outside, in words that hold nothing of it.

use serde_json::error::Category;

/// Says what is wrong and where. The parser's own message quotes the text, which may be a Secret.
pub fn json_fault(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Io | Category::Syntax => "not JSON",
        Category::Data => "a field is missing or of the wrong type",
        Category::Eof => "it ends too early",
    };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Named {
        #[serde(rename = "name")]
        _name: String,
    }

    fn check(text: &str) -> String {
        json_fault(&serde_json::from_str::<Named>(text).expect_err("refused"))
    }

    #[test]
    fn a_fault_says_where_and_never_what_stands_there() {
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
}
