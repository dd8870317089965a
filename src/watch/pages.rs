//! Reads the pages of one listing, and ends a listing that is too long.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;

use super::error::SourceError;
use super::transport::{ListPage, Page};
use crate::source::SourceKey;

/// The most objects in one listing. The largest clusters that Kubernetes supports have 150,000 Pods
/// (<https://kubernetes.io/docs/setup/best-practices/cluster-large/>).
const OBJECTS: usize = 1_000_000;
/// The most bytes of JSON in one listing: etcd stores no more for all resources by default
/// (`--quota-backend-bytes`).
const BYTES: usize = 2 << 30;
/// The most empty pages in a row. A server may send an empty page, because it can apply a selector after it has
/// read the page
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks>).
const EMPTY_PAGES: u32 = 1000;

/// The progress through one listing. It fails if a server would keep its client reading forever.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    pub(super) key: &'a SourceKey,
    next: Page,
    /// The hashes of the continue tokens so far. Tokens are not kept, because the server chooses their length.
    tokens: HashSet<u64>,
    hasher: RandomState,
    objects: usize,
    bytes: usize,
    empty: u32,
}

/// What follows a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextPage {
    /// Another page.
    More,
    /// Nothing: the listing is complete.
    End,
}

impl<'a> Pages<'a> {
    /// Starts a listing with `limit` objects per page; 0 reads all in one page.
    pub(super) fn of(key: &'a SourceKey, limit: u32) -> Pages<'a> {
        Pages {
            key,
            next: Page { limit, next: None },
            tokens: HashSet::new(),
            hasher: RandomState::new(),
            objects: 0,
            bytes: 0,
            empty: 0,
        }
    }

    /// The page to request next.
    pub(super) fn wanted(&self) -> Page {
        self.next.clone()
    }

    /// Counts a page, and takes its token. Fails if the listing is too long or makes no progress.
    pub(super) fn take(&mut self, page: &mut ListPage) -> Result<NextPage, SourceError> {
        self.objects += page.items.len();
        self.bytes += page.items.iter().map(Bytes::len).sum::<usize>();
        if self.objects > OBJECTS {
            return Err(self.endless(format_args!("holds more than {OBJECTS} objects")));
        }
        if self.bytes > BYTES {
            return Err(self.endless(format_args!("is longer than {} GiB", BYTES >> 30)));
        }
        self.next.next = page.next.take();
        let Some(token) = &self.next.next else {
            return Ok(NextPage::End);
        };
        if !self.tokens.insert(self.hasher.hash_one(token)) {
            return Err(self.endless(format_args!("has no end: a continue token came twice")));
        }
        self.empty = if page.items.is_empty() {
            self.empty + 1
        } else {
            0
        };
        if self.empty >= EMPTY_PAGES {
            return Err(self.endless(format_args!(
                "has no end: {EMPTY_PAGES} pages in a row held no objects"
            )));
        }
        Ok(NextPage::More)
    }

    fn endless(&self, what: fmt::Arguments<'_>) -> SourceError {
        let resource = self.key.resource.group_resource();
        SourceError::Endless {
            detail: format!("error: {resource}: the server's list {what}").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ResourceVersion;
    use crate::watch::tests::fake::pods;

    /// The result of a listing: its error, or its number of pages.
    fn read(pages: impl IntoIterator<Item = (usize, Option<String>)>) -> Result<usize, String> {
        let key = pods();
        let mut reading = Pages::of(&key, 500);
        for (nth, (objects, token)) in pages.into_iter().enumerate() {
            let mut page = ListPage {
                version: ResourceVersion::new("7"),
                items: vec!["{}".into(); objects],
                next: token.map(Into::into),
            };
            match reading.take(&mut page) {
                Ok(NextPage::More) => assert!(reading.wanted().next.is_some()),
                Ok(NextPage::End) => return Ok(nth + 1),
                Err(error) => return Err(error.to_string()),
            }
        }
        panic!("the listing goes on")
    }

    /// `count` pages of `objects` objects each. Each page but the last has its own token.
    fn pages(count: usize, objects: usize) -> Vec<(usize, Option<String>)> {
        let mut pages: Vec<_> = (1..count)
            .map(|nth| (objects, Some(nth.to_string())))
            .collect();
        pages.push((objects, None));
        pages
    }

    #[test]
    fn a_listing_ends_with_the_page_that_has_no_token() {
        assert_eq!(read(pages(1, 3)), Ok(1));
        assert_eq!(read(pages(300, 500)), Ok(300));
    }

    #[test]
    fn a_repeated_continue_token_is_an_error() {
        let error = "error: pods: the server's list has no end: a continue token came twice";
        let token = |text: &str| (1, Some(text.to_owned()));
        assert_eq!(read([token("a"), token("a")]), Err(error.to_owned()));
        let cycle = ["a", "b", "c", "a"].map(token);
        assert_eq!(read(cycle), Err(error.to_owned()));
    }

    #[test]
    fn too_many_empty_pages_in_a_row_are_an_error() {
        let error =
            "error: pods: the server's list has no end: 1000 pages in a row held no objects";
        assert_eq!(read(pages(1000, 0)), Ok(1000));
        assert_eq!(read(pages(1001, 0)), Err(error.to_owned()));
        let mut filtered = pages(3000, 0);
        for page in filtered.iter_mut().step_by(900) {
            page.0 = 1;
        }
        assert_eq!(read(filtered), Ok(3000));
    }

    #[test]
    fn a_listing_that_is_too_large_is_an_error() {
        let error = "error: pods: the server's list holds more than 1000000 objects";
        assert_eq!(read(pages(10, 100_000)), Ok(10));
        assert_eq!(read(pages(11, 100_000)), Err(error.to_owned()));
        let key = pods();
        let mut reading = Pages::of(&key, 500);
        reading.bytes = BYTES;
        let mut page = ListPage {
            version: ResourceVersion::new("7"),
            items: vec!["{}".into()],
            next: None,
        };
        let error = reading.take(&mut page).expect_err("too long");
        assert_eq!(
            error.to_string(),
            "error: pods: the server's list is longer than 2 GiB"
        );
    }
}
