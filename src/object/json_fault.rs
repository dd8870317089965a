//! Describes errors in foreign JSON without quoting the text.

use serde_json::error::Category;

/// Describes an error and its position. The parser's own message quotes the text, which may be a Secret.
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
}
