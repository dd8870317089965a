//! `Faults`: the values of a text that cannot be read. The others are read all the same.

use super::error::FileError;
use super::foreign::{foreign_line, foreign_text};

/// How many faults of one text are kept. The others are counted.
const KEPT: usize = 5;

/// The faults of a text, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    first: Vec<FileError>,
    count: usize,
    has_other: bool,
}

impl Faults {
    /// Adds a fault.
    pub(super) fn add(&mut self, fault: FileError) {
        self.count += 1;
        self.has_other |= !fault.is_no_object;
        if self.first.len() < KEPT {
            self.first.push(fault);
        }
    }

    /// Adds a syntax error of a text.
    pub(super) fn add_syntax(&mut self, fault: FileError, text: &str) {
        // Only a fault that is kept is worth the search for its line.
        let line = (self.first.len() < KEPT).then(|| text.lines().nth(fault.line - 1));
        self.add(fault.of_foreign(line.flatten().and_then(foreign_line)));
    }

    /// The first faults.
    pub fn first(&self) -> &[FileError] {
        &self.first
    }

    /// How many there are besides the first ones.
    pub fn more(&self) -> usize {
        self.count - self.first.len()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether nothing is broken: each fault is a whole value that is no object.
    pub fn are_no_objects(&self) -> bool {
        !self.has_other
    }

    /// The same faults of a text without objects, with what the text is instead.
    pub(super) fn of_text(mut self, text: &str) -> Faults {
        if let Some(first) = self.first.first_mut() {
            first.foreign = foreign_text(text).or(first.foreign);
        }
        self
    }

    /// The first fault, if there is any.
    pub(super) fn into_result(self) -> Result<(), FileError> {
        self.first.into_iter().next().map_or(Ok(()), Err)
    }
}
