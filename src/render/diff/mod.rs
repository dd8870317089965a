//! The views of a diff. `paths` shows one line for each change: its path, the old value and the new one.
//! [`tree`] shows the object's own JSON with marks.
//!
//! All functions here are pure and return lines of text. They escape cluster text when a value or a path
//! becomes text. Secret values never reach them.

mod change_line;
mod created;
mod diff_line;
mod header;
mod hunks;
mod in_line;
#[cfg(test)]
mod laws;
mod lines;
mod painter;
mod shown_changes;
mod states;
#[cfg(test)]
mod tests;
mod tree;
mod value;
mod view;
mod who;
#[cfg(test)]
mod width_tests;

pub use created::{created_lines, lifetime, secret_keys_in_line};
pub use header::{ChangeType, Header, header};
pub use in_line::{ChangeInLine, change_in_line, images_in_line, most_telling_first, path_in_line};
pub use shown_changes::ShownChanges;
pub use tree::{Extent, tree_lines, whole_lines};
pub use view::{ChangeCounts, DiffView, Fold, counts, selected};
pub use who::shorter_forms;
