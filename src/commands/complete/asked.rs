//! `Asked`: what belongs at the cursor.

use clap::Arg;

/// What belongs at the cursor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'l> {
    /// Nothing that is known.
    Nothing,
    /// A command, or the scenario of `demo`.
    Command(WordPart<'l>),
    /// A flag.
    Flag(WordPart<'l>),
    /// The value of a flag, or of a word that is no object.
    Value(&'l Arg, WordPart<'l>),
    /// A TYPE, or one more in a list.
    Type(WordPart<'l>),
    /// The TYPE of one more TYPE/NAME.
    TypeOfPair(WordPart<'l>),
    /// The name of a Helm release.
    Release(WordPart<'l>),
    /// A NAME of these types, which are separated by commas.
    Name(&'l str, WordPart<'l>),
}

/// A word: a part that stays, and the text that becomes an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordPart<'l> {
    word: &'l str,
    /// Where the text begins.
    at: usize,
}

impl<'l> WordPart<'l> {
    /// All of a word may change.
    pub(super) fn whole(word: &'l str) -> WordPart<'l> {
        WordPart { word, at: 0 }
    }

    /// The same word, of whose text another `bytes` stay.
    pub(super) fn keeping(self, bytes: usize) -> WordPart<'l> {
        let at = self.at + bytes;
        WordPart { at, ..self }
    }

    /// The last item of a text with commas.
    pub(super) fn last_item(self) -> WordPart<'l> {
        let comma = self.text().rfind(',');
        self.keeping(comma.map_or(0, |comma| comma + 1))
    }

    /// The part that stays: `deploy/`, `app=web,`.
    pub(super) fn kept(self) -> &'l str {
        &self.word[..self.at]
    }

    /// The beginning of each offer.
    pub(super) fn text(self) -> &'l str {
        &self.word[self.at..]
    }

    /// The items of a list that stay.
    pub(super) fn listed(self) -> impl Iterator<Item = &'l str> {
        self.kept().split(',').filter(|item| !item.is_empty())
    }
}
