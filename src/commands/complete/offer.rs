//! `Offers`: the answer to a shell, in the protocol of cobra's `__complete`
//! (<https://github.com/spf13/cobra/blob/v1.10.1/site/content/completions/_index.md>): a line for each value, then a directive.

use super::line::TypedPart;
use crate::render::text::escape_line;

/// One value that the word may become.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Offer {
    /// The whole word; after `--flag=`, the whole value.
    pub(super) value: String,
    /// A few words about it; may be empty.
    about: String,
}

/// What the shell does with the offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Directive {
    /// A word is complete: a space follows it.
    #[default]
    Words,
    /// A word continues: no space follows it.
    Parts,
    /// The shell itself completes file names.
    Files,
    /// The shell itself completes names of directories.
    Directories,
}

/// Everything that the word may become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offers {
    list: Vec<Offer>,
    directive: Directive,
}

impl Offer {
    /// Offers a word.
    pub(super) fn new(value: impl Into<String>, about: impl Into<String>) -> Offer {
        Offer {
            value: value.into(),
            about: about.into(),
        }
    }
}

impl Directive {
    /// cobra's numbers: 2 adds no space, 4 completes no files, 16 completes directories.
    fn number(self) -> u8 {
        match self {
            Directive::Words => 4,
            Directive::Parts => 6,
            Directive::Files => 0,
            Directive::Directories => 16,
        }
    }
}

impl Offers {
    /// The offers that begin with the text of a word, after the part of the word that stays.
    pub(super) fn of(list: Vec<Offer>, word: TypedPart<'_>) -> Offers {
        let fitting = list.into_iter();
        let fitting = fitting.filter(|offer| offer.value.starts_with(word.text()));
        let whole = |offer: Offer| Offer {
            value: format!("{}{}", word.kept(), offer.value),
            ..offer
        };
        Offers {
            list: fitting.map(whole).collect(),
            directive: Directive::Words,
        }
    }

    /// The same offers, each with this text after it.
    pub(super) fn followed_by(mut self, text: &str) -> Offers {
        for offer in &mut self.list {
            offer.value.push_str(text);
        }
        self
    }

    /// The same offers and another one.
    pub(super) fn with(mut self, offer: Option<Offer>) -> Offers {
        self.list.extend(offer);
        self
    }

    /// The same offers, for words that may continue.
    pub(super) fn continued(self) -> Offers {
        Offers {
            directive: Directive::Parts,
            ..self
        }
    }

    /// Offers nothing of our own.
    pub(super) fn by_shell(directive: Directive) -> Offers {
        Offers {
            list: Vec::new(),
            directive,
        }
    }

    /// Whether there is no offer.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The lines for the shell, sorted by value. Some shells insert a value as it is, so a value that a shell would
    /// not read as one plain word is left out: names may come from a hostile cluster.
    pub(super) fn lines(mut self) -> Vec<String> {
        self.list.retain(|offer| is_plain_word(&offer.value));
        self.list.sort();
        self.list.dedup_by(|next, kept| next.value == kept.value);
        let ends_open = |offer: &Offer| offer.value.ends_with(['=', '/', ':']);
        if self.directive == Directive::Words
            && !self.list.is_empty()
            && self.list.iter().all(ends_open)
        {
            self.directive = Directive::Parts;
        }
        let line = |offer: &Offer| match escape_line(&offer.about) {
            about if about.is_empty() => offer.value.clone(),
            about => format!("{}\t{about}", offer.value),
        };
        let mut lines: Vec<String> = self.list.iter().map(line).collect();
        lines.push(format!(":{}", self.directive.number()));
        lines
    }
}

/// Whether a shell takes a text as one word, and runs nothing in it. Brackets, quotes and `*` of paths are allowed:
/// at worst the shell removes them.
fn is_plain_word(text: &str) -> bool {
    let runs = |letter: char| "$`'\\;&|<>(){}!?#".contains(letter);
    let is_space = |letter: char| letter.is_whitespace() || letter.is_control();
    escape_line(text) == text && !text.chars().any(|letter| runs(letter) || is_space(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(list: Vec<Offer>) -> Offers {
        Offers::of(list, TypedPart::whole(""))
    }

    #[test]
    fn the_lines_are_cobras() {
        let list = vec![
            Offer::new("web", "2/2\t41d"),
            Offer::new("api", ""),
            Offer::new("web", "twice"),
        ];
        let lines = offered(list.clone()).lines();
        assert_eq!(lines, ["api", "web\t2/2\\t41d", ":4"]);
        assert_eq!(offered(list.clone()).continued().lines()[2], ":6");
        let word = TypedPart::whole("deploy/w").keeping(7);
        assert_eq!(
            Offers::of(list, word).lines(),
            ["deploy/web\t2/2\\t41d", ":4"]
        );
        assert_eq!(Offers::by_shell(Directive::Files).lines(), [":0"]);
        assert_eq!(Offers::by_shell(Directive::Directories).lines(), [":16"]);
    }

    #[test]
    fn a_space_follows_unless_every_offer_continues() {
        let key = || Offer::new("condition=", "");
        assert_eq!(offered(vec![key()]).lines(), ["condition=", ":6"]);
        let lines = offered(vec![key(), Offer::new("current", "")]).lines();
        assert_eq!(lines[2], ":4");
        assert_eq!(offered(Vec::new()).lines(), [":4"]);
    }

    #[test]
    fn no_shell_runs_an_offer() {
        for hostile in [
            "$(reboot)",
            "`reboot`",
            "a;b",
            "a b",
            "a\tb",
            "a\nb",
            "a|b",
            "a&b",
            "a>b",
            "\u{1b}[2J",
            "'a",
            "a\\b",
            "\u{202e}a",
        ] {
            let offers = offered(vec![Offer::new(hostile, "")]);
            assert_eq!(offers.lines(), [":4"], "{hostile:?}");
        }
        for plain in [
            "web-5d4f.b9d",
            "system:node",
            "a@b.c/d",
            ".spec.containers[name=app].image",
            r#".metadata.labels["a/b"]"#,
        ] {
            let offers = offered(vec![Offer::new(plain, "")]);
            assert_eq!(offers.lines(), [plain, ":4"]);
        }
    }
}
