//! The views of a diff. `paths` shows one line for each change: its path, the old value and the new one.
//! [`tree`] shows the object's own JSON with marks.
//!
//! All functions here are pure and return lines of text. They escape cluster text when a value or a path
//! becomes text. Secret values never reach them.

mod change_type;
mod conditions;
mod containers;
mod created;
mod decisive;
mod embedded;
mod excerpt;
mod fit;
mod folds;
mod header;
mod in_line;
mod line;
mod lines;
mod painter;
mod secret_keys;
mod shown_changes;
mod tree;
mod value;
mod view;
mod who;

pub use change_type::ChangeType;
pub use created::{created_lines, lifetime};
pub use header::{Header, header};
pub use in_line::{ChangeInLine, change_in_line, images_in_line, most_telling_first, path_in_line};
pub use secret_keys::secret_keys_in_line;
pub use shown_changes::ShownChanges;
pub use tree::{Extent, whole_lines};
pub use view::{Counts, DiffView, Fold, counts, selected};
pub use who::{VersionWriter, writer, writer_of};

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod width_tests;
