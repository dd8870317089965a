//! Turns state into text. Nothing here reads the time, the colour mode or the width, or awaits; only `screen`
//! writes.

pub mod age;
pub mod canvas;
pub mod count;
pub mod diff;
pub mod display;
pub mod dot;
pub mod header_footer;
pub mod json;
pub mod mermaid;
pub mod names;
pub mod outline;
pub mod pager;
mod plain_scalar;
pub mod screen;
pub mod status;
pub mod style;
pub mod table;
pub mod text;
pub mod unified;
pub mod wrap;
pub mod yaml;
