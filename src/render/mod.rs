//! Turns state into text. Nothing here reads the time, the colour mode or the width, or awaits; only `screen`
//! writes.

pub mod age;
pub mod canvas;
pub mod count;
pub mod diff;
pub mod display;
pub mod graph;
pub mod header_footer;
pub mod json;
pub mod log_text;
pub mod outline;
pub mod pager;
pub mod screen;
pub mod style;
pub mod table;
pub mod text;
pub mod unhealthy;
pub mod unified;
pub mod yaml;
