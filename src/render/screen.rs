//! Writes views: redraws a frame in place on a terminal, or appends lines to a pipe. It accepts display text
//! only.
//!
//! Frames are drawn inline, below the user's earlier output, and the last frame stays on the screen. The
//! cursor rests in the first column below the frame. To redraw, it moves up by the rows that the last frame
//! takes in the terminal's present width: a terminal that became narrower has wrapped the lines. Then it
//! writes each line over the old one, and clears the remaining rows only at the end. Terminals copy rows that
//! are cleared from the top row on into the scrollback.

use std::fmt;
use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::Command;
use crossterm::cursor::{Hide, MoveUp, Show};
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};

use super::display::{Line, LinePage, cut_line, joined};
use super::text;

/// The size of a terminal, in character cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

impl Size {
    /// The width limit of a frame: one column less than the terminal, so that no line wraps.
    pub fn frame_columns(self) -> usize {
        self.columns.saturating_sub(1).max(1)
    }

    /// The height limit of a frame. It leaves one row for the cursor and one for the user's last line.
    pub fn frame_rows(self) -> usize {
        self.rows.saturating_sub(2).max(1)
    }
}

/// The output of a verb. Write errors are returned unchanged. A closed pipe is [`io::ErrorKind::BrokenPipe`],
/// which ends a verb successfully.
#[derive(Debug)]
pub struct Screen<W: Write> {
    /// The writer.
    pub out: W,
    mode: Mode,
    frame: Vec<Line<'static>>,
    drawn: Option<Drawn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Live,
    Append,
}

/// The frame on the terminal.
#[derive(Debug)]
struct Drawn {
    size: Size,
    widths: Vec<usize>,
}

/// Whether a live screen has hidden the cursor. The panic hook has no other access to the screen.
static CURSOR_IS_HIDDEN: AtomicBool = AtomicBool::new(false);

/// Installs a panic hook that shows the cursor again before the panic message, however the process then ends.
/// A second call has no effect.
pub fn restore_cursor_on_panic() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if CURSOR_IS_HIDDEN.swap(false, Ordering::Relaxed) {
                let mut text = String::new();
                push(&mut text, EndSynchronizedUpdate);
                push(&mut text, Show);
                // There is no way to recover a terminal that is gone.
                let _ = write_through(&mut io::stdout(), &text);
            }
            report(panic);
        }));
    });
}

impl<W: Write> Screen<W> {
    /// A screen on a terminal, which redraws frames in place.
    pub fn live(out: W) -> Screen<W> {
        Screen::new(out, Mode::Live)
    }

    /// A screen on a pipe, a file or a dumb terminal. It appends lines and shows no frames.
    pub fn append(out: W) -> Screen<W> {
        Screen::new(out, Mode::Append)
    }

    fn new(out: W, mode: Mode) -> Screen<W> {
        Screen {
            out,
            mode,
            frame: Vec::new(),
            drawn: None,
        }
    }

    /// Whether frames are shown.
    pub fn is_live(&self) -> bool {
        self.mode == Mode::Live
    }

    /// Shows `frame` in place of the last one; writes nothing if nothing changed. A frame that is too large
    /// is cut: its first lines and its last line are kept.
    pub fn draw(&mut self, frame: Vec<Line<'static>>, size: Size) -> io::Result<()> {
        let is_shown = |drawn: &Drawn| drawn.size == size && self.frame == frame;
        if self.mode == Mode::Append || self.drawn.as_ref().is_some_and(is_shown) {
            return Ok(());
        }
        self.frame = frame;
        self.paint(&[], size)
    }

    /// Prints lines permanently, above the frame, which stays last on the screen. The lines may have any
    /// length.
    pub fn print_above(&mut self, lines: &[Line<'_>], size: Size) -> io::Result<()> {
        match self.mode {
            Mode::Live => self.paint(lines, size),
            Mode::Append => write_through(&mut self.out, &joined(lines)),
        }
    }

    /// Appends a page. A screen with frames shows none.
    pub fn print_page(&mut self, page: &LinePage) -> io::Result<()> {
        debug_assert_eq!(self.mode, Mode::Append, "pages and frames do not mix");
        self.out.write_all(page.bytes())?;
        self.out.flush()
    }

    /// Removes the frame and shows the cursor, so that another program can use the terminal (a credential
    /// plugin that asks for a password). The next [`Screen::draw`] starts there.
    pub fn clear(&mut self, size: Size) -> io::Result<()> {
        let mut text = String::new();
        let height = self.go_to_top(&mut text, size);
        erase(&mut text, height);
        write_through(&mut self.out, &text)?;
        self.release()
    }

    /// Leaves the frame permanently and shows the cursor below it: at the end, or before the process is
    /// suspended (`SIGTSTP`). The next [`Screen::draw`] starts below.
    pub fn release(&mut self) -> io::Result<()> {
        if self.drawn.take().is_none() {
            return Ok(());
        }
        // On Ctrl-C a terminal drops output that it has not shown yet, so the end of a frame may be lost.
        let mut text = String::new();
        push(&mut text, EndSynchronizedUpdate);
        push(&mut text, Show);
        CURSOR_IS_HIDDEN.store(false, Ordering::Relaxed);
        write_through(&mut self.out, &text)
    }

    /// Draws the lines `above`, then the frame.
    fn paint(&mut self, above: &[Line<'_>], size: Size) -> io::Result<()> {
        let mut text = String::new();
        push(&mut text, BeginSynchronizedUpdate);
        push(&mut text, Hide);
        let height = self.go_to_top(&mut text, size);
        // A terminal that wrapped the last frame remembers the wrapped lines. It would join them when it
        // grows again, unless they were erased from their first column on.
        if self.drawn.as_ref().is_some_and(|drawn| drawn.size != size) {
            erase(&mut text, height);
        }
        for line in above {
            push_line(&mut text, line.as_str(), size);
        }
        let lines = clamp(&self.frame, size);
        for line in &lines {
            push_line(&mut text, line, size);
        }
        push(&mut text, Clear(ClearType::FromCursorDown));
        push(&mut text, EndSynchronizedUpdate);
        CURSOR_IS_HIDDEN.store(true, Ordering::Relaxed);
        self.drawn = Some(Drawn {
            size,
            widths: lines.iter().map(|line| text::width(line)).collect(),
        });
        write_through(&mut self.out, &text)
    }

    /// Moves to the first row of the drawn frame. Returns the number of its rows that are still on the
    /// screen.
    fn go_to_top(&self, text: &mut String, size: Size) -> usize {
        let columns = size.columns.max(1);
        let widths = self.drawn.iter().flat_map(|drawn| &drawn.widths);
        let height: usize = widths.map(|width| width.div_ceil(columns).max(1)).sum();
        let height = height.min(size.rows.saturating_sub(1));
        text.push('\r');
        push_up(text, height);
        height
    }
}

/// Shows the cursor again, however a live view ends.
impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        // There is no way to recover a terminal that is gone.
        let _ = self.release();
    }
}

/// The part of a frame that fits: its first lines, and its last line, which shows how current the view is.
fn clamp(frame: &[Line<'_>], size: Size) -> Vec<String> {
    let surplus = frame.len().saturating_sub(size.frame_rows());
    let cut_from = frame.len().saturating_sub(surplus + 1);
    let (first, rest) = frame.split_at(cut_from);
    let last = &rest[surplus.min(rest.len())..];
    let lines = first.iter().chain(last);
    lines
        .map(|line| cut_line(line.as_str(), size.frame_columns(), "").into_owned())
        .collect()
}

/// Writes a line over the old one. A line that exactly fills its last row leaves no rest to clear. Clearing
/// there would delete its last character.
fn push_line(text: &mut String, line: &str, size: Size) {
    text.push_str(line);
    let width = text::width(line);
    if width == 0 || !width.is_multiple_of(size.columns.max(1)) {
        push(text, Clear(ClearType::UntilNewLine));
    }
    text.push_str("\r\n");
}

/// Clears this row and the rows below it, and returns to it.
fn erase(text: &mut String, rows: usize) {
    for _ in 0..rows {
        push(text, Clear(ClearType::UntilNewLine));
        text.push_str("\r\n");
    }
    push_up(text, rows);
}

/// Moves up. The check is needed because terminals read a move by zero as a move by one.
fn push_up(text: &mut String, rows: usize) {
    if rows > 0 {
        push(text, MoveUp(u16::try_from(rows).unwrap_or(u16::MAX)));
    }
}

fn push(text: &mut impl fmt::Write, command: impl Command) {
    command.write_ansi(text).expect("a String takes any text");
}

fn write_through(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests;
