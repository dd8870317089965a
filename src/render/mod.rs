//! Pure text: everything that a view is made of. Time, colour and width are handed in, nothing here
//! awaits, and [`screen`] alone writes.

pub mod style;
pub mod text;
