//! Reads the logs of containers without a gap: which instances there are, how to read on after a cut, and in which order
//! to show the lines.
//!
//! It is pure. [`LogReader`] says which request is next, and takes the lines, the ends of answers and the states of the
//! Pod. `watch` sends the requests.

mod admission;
mod answer_end;
mod chain;
mod container_reading;
mod end_check;
mod filter;
mod instances;
mod json;
mod long_line;
mod merge;
mod read_step;
mod reader;
mod reading;
mod resume;
mod splitter;
mod strays;
mod tail;
mod telling;
#[cfg(test)]
mod tests;
mod timed_line;
mod window;

pub use admission::{Admission, LogNode};
pub use end_check::{LastLine, NewestLine};
pub use filter::ContainerFilter;
pub use instances::{ContainerLogs, LogContainerRole, LogPlace, PodLogs, SeenInstance};
pub use json::{JsonLine, LogLevel, level_of};
pub use merge::Merge;
pub use read_step::{Flow, ReadInstances, ReadOptions, ReadStep, StreamEnd};
pub use reader::LogReader;
pub use splitter::{LinePart, LogSplitter};
pub use telling::telling_line;
pub use timed_line::timed_line;
pub use window::{OrderWindow, OrderedItem};
