//! `Terminal`: where a verb's lines, frames and notes go.

use std::io;

use super::outlet::Outlet;
use super::{Context, LookArgs, Note};
use crate::env::Env;
use crate::render::screen::{Screen, Size};
use crate::render::style::Look;
use crate::render::text::escape_line;

/// Standard output, redrawn in place where it is a terminal, and standard error beside it. It owns
/// standard output; errors are still to be told on standard error after it.
pub(crate) struct Terminal<'a> {
    env: &'a mut Env,
    look: LookArgs,
    screen: Screen<Outlet>,
}

/// How a verb's output is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// For people: with a live frame, if standard output is a terminal.
    Text,
    /// For programs: lines alone.
    Lines,
}

impl<'a> Terminal<'a> {
    /// Takes standard output from the environment.
    pub(crate) fn open(context: &'a mut Context<'_>, output: Output) -> Terminal<'a> {
        let stdout = std::mem::take(&mut context.env.stdout);
        let stdout = Outlet::new(stdout.into_writer(), context.env.room.clone());
        let live = output == Output::Text && context.env.is_live();
        let screen = if live {
            Screen::live(stdout)
        } else {
            Screen::append(stdout)
        };
        Terminal {
            env: context.env,
            look: context.look,
            screen,
        }
    }

    /// How text is drawn, at the present width.
    pub(crate) fn look(&self) -> Look {
        self.look.stdout(self.env)
    }

    /// The environment.
    pub(crate) fn env(&self) -> &Env {
        self.env
    }

    /// Whether frames are shown.
    pub(crate) fn is_live(&self) -> bool {
        self.screen.is_live()
    }

    /// Prints lines for good, above the frame.
    pub(crate) fn print(&mut self, lines: &[String]) -> io::Result<()> {
        let (size, styles) = (self.size(), self.look().styles);
        let lines = lines.iter().map(|line| styles.line(line.as_str()));
        self.screen.print_above(&lines.collect::<Vec<_>>(), size)
    }

    /// Shows a frame in place of the last one; nothing where frames are not shown.
    pub(crate) fn draw(&mut self, frame: Vec<String>) -> io::Result<()> {
        let (size, styles) = (self.size(), self.look().styles);
        let frame = frame.into_iter().map(|line| styles.line(line));
        self.screen.draw(frame.collect(), size)
    }

    /// Says something beside the data: above the frame on a terminal, else on standard error.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        if self.is_live() {
            let line = self.look().styles.dim(&escape_line(text));
            return self.print(&[line]);
        }
        let line = self.look.stderr(self.env).line(text);
        self.env.stderr.print(&[line])
    }

    /// Says that a source has come to another state. On a terminal the footer says so.
    pub(crate) fn note(&mut self, note: &Note) -> io::Result<()> {
        if self.is_live() {
            return Ok(());
        }
        let cause = note.cause.as_deref().map(|cause| format!(": {cause}"));
        self.say(&format!(
            "{}: {}{}",
            note.source,
            note.state,
            cause.unwrap_or_default()
        ))
    }

    /// Takes the frame away.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let size = self.size();
        if self.is_live() {
            self.screen.clear(size)?;
        }
        Ok(())
    }

    /// Waits until everything printed so far has been written. Whoever prints on without it, prints into memory.
    pub(crate) async fn written(&mut self) -> io::Result<()> {
        self.screen.out().written().await
    }

    /// The same as long as somebody reads; what a reader leaves unread is dropped.
    pub(crate) async fn written_while_read(&mut self) -> io::Result<()> {
        self.screen.out().written_while_read().await
    }

    /// Leaves the last frame where it is.
    pub(crate) fn release(&mut self) -> io::Result<()> {
        self.screen.release()
    }

    fn size(&self) -> Size {
        self.env.size().unwrap_or(Size {
            columns: 80,
            rows: 24,
        })
    }
}

impl Context<'_> {
    /// Says on standard error what the user may like to know, before there is a terminal.
    pub(crate) fn hint(&mut self, hint: &str) -> io::Result<()> {
        let styles = self.look.stderr(self.env);
        let line = format!("{} {}", styles.warning("hint:"), escape_line(hint));
        self.env.stderr.print(&[styles.line(line)])
    }

    /// Prints lines on standard output, where there is no terminal to open.
    pub(crate) fn print(&mut self, lines: &[String]) -> io::Result<()> {
        let styles = self.look().styles;
        let lines = lines.iter().map(|line| styles.line(line.as_str()));
        self.env.stdout.print(&lines.collect::<Vec<_>>())
    }
}
