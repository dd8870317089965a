//! `LineStyle`: how times and names are written in lines.

use std::sync::Arc;

use jiff::Timestamp;

use crate::env::Env;
use crate::object::ObjectRef;
use crate::render::age;
use crate::render::style::Look;
use crate::render::text::{escape_line, fits};

/// How times and names are written in lines.
#[derive(Clone, Copy)]
pub(crate) struct LineStyle<'s> {
    pub(crate) look: Look,
    pub(crate) env: &'s Env,
    /// The namespace that lines need not name.
    pub(crate) namespace: Option<&'s Arc<str>>,
}

impl LineStyle<'_> {
    /// A time for a line.
    pub(crate) fn clock(&self, time: Timestamp) -> String {
        clock(time, self.look, self.env)
    }

    /// The name of an object, with the flag for its namespace if lines must name it.
    pub(crate) fn name(&self, object: &ObjectRef) -> String {
        let name = escape_line(&object.to_string()).into_owned();
        match self.place(object) {
            Some(place) => format!("{name}  {place}"),
            None => name,
        }
    }

    /// The flag for the object's namespace, such as `-n shop`. `None` if lines need not name it.
    pub(crate) fn place(&self, object: &ObjectRef) -> Option<String> {
        let namespace = object.namespace.as_ref()?;
        (Some(namespace) != self.namespace).then(|| format!("-n {}", escape_line(namespace)))
    }

    /// Whether display text has room on a line.
    pub(crate) fn fits(&self, text: &str) -> bool {
        self.look.width.is_none_or(|columns| fits(text, columns))
    }
}

/// A time for the output: with the date, unless there is a terminal.
pub(crate) fn clock(time: Timestamp, look: Look, env: &Env) -> String {
    match look.width {
        Some(_) => age::clock(time, &env.zone),
        None => age::rfc3339_millis(time),
    }
}
