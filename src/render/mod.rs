//! Pure text: everything that a view is made of. Time, colour and width are handed in, nothing here
//! awaits, and only one file of it writes.

pub mod age;
pub mod canvas;
pub mod count;
pub mod diff;
pub mod display;
pub mod header_footer;
pub mod json;
pub mod outline;
pub mod screen;
pub mod status;
pub mod style;
pub mod table;
pub mod text;
pub mod unified;
pub mod yaml;
