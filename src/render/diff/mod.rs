//! The views of a diff. `paths`: a line a change, each with its path, what it was and what it is; and
//! [`tree`], the object's own JSON with marks.
//!
//! Everything here is a pure function to lines of text. Cluster text is escaped where a value or a
//! path becomes text, and the values of Secrets never get here.

mod change_type;
mod conditions;
mod containers;
mod created;
mod embedded;
mod excerpt;
mod fit;
mod folds;
mod header;
mod line;
mod lines;
mod painter;
mod shown_changes;
mod tree;
mod value;
mod view;
mod who;

pub use change_type::ChangeType;
pub use created::{created_lines, lifetime};
pub use header::{Header, header};
pub use shown_changes::ShownChanges;
pub use tree::{Extent, ObjectStanding, whole_lines};
pub(crate) use value::{plural, thousands};
pub use view::{Counts, DiffView, Fold, counts};
pub use who::writer;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
