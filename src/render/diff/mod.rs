//! The views of a diff. `paths`: a line a change, each with its path, what it was and what it is; and
//! [`tree`], the object's own JSON with marks.
//!
//! Everything here is a pure function to lines of text. Cluster text is escaped where a value or a
//! path becomes text, and the values of Secrets never get here.

mod change_type;
mod conditions;
mod containers;
mod counts;
mod created;
mod embedded;
mod excerpt;
mod fit;
mod folds;
mod header;
mod line;
mod lines;
mod painter;
mod selection;
mod shown_changes;
mod tree;
mod value;
mod view;
mod who;

pub use change_type::ChangeType;
pub use counts::{Counts, counts};
pub use created::{created_lines, lifetime};
pub use header::{Header, Quiet, header, quiet_line};
pub use shown_changes::ShownChanges;
pub use tree::{Extent, ObjectStanding, whole_lines};
pub use view::{DiffView, Fold};
pub use who::writer;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
