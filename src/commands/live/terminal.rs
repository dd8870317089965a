//! `Terminal`: the output of a verb: lines, frames and notes.

use std::io;

use jiff::Timestamp;

use crate::commands::{Context, LookArgs, Note};
use crate::env::{Env, QueuedStream, shifted};
use crate::render::canvas::{Canvas, ExitKey};
use crate::render::display::{Line, LinePage};
use crate::render::pager::{Pager, Turn};
use crate::render::screen::{Screen, Size};
use crate::render::style::{Look, Role, Styles};
use crate::render::text::{Text, wrap};

/// Standard output and standard error. On a terminal it redraws frames in place.
///
/// It owns standard output, but only borrows standard error: `cli` prints errors there after it.
pub(crate) struct Terminal<'a> {
    env: &'a mut Env,
    look: LookArgs,
    screen: Screen<QueuedStream>,
    /// How the user ends the view.
    pub(crate) exit_key: ExitKey,
    pager: Pager,
    /// How many lines it has printed on both streams.
    pub(crate) printed: u64,
}

/// Who reads the output of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// People: with a live frame, if standard output is a terminal.
    Text,
    /// Programs: lines only.
    Lines,
}

impl<'a> Terminal<'a> {
    /// Takes standard output from the environment.
    pub(crate) fn open(context: &'a mut Context<'_>, output: Output) -> Terminal<'a> {
        let stdout = std::mem::take(&mut context.env.stdout);
        let stdout = QueuedStream::of_data(stdout.into_writer(), context.env.room.clone());
        let live = output == Output::Text && context.env.is_live();
        if live && context.env.stderr_tty {
            context.env.requests.hold();
        }
        let screen = if live {
            Screen::live(stdout)
        } else {
            Screen::append(stdout)
        };
        Terminal {
            env: context.env,
            look: context.look,
            screen,
            exit_key: ExitKey::default(),
            pager: Pager::default(),
            printed: 0,
        }
    }

    /// How to draw text at the present width.
    pub(crate) fn look(&self) -> Look {
        self.look.stdout(self.env)
    }

    /// The canvas of a view that is printed once.
    pub(crate) fn canvas(&self) -> Canvas {
        Canvas::unbounded(self.look(), self.env.now())
    }

    /// The canvas of a frame, whose view started at this time of this machine's clock. Of a frame whose pages the user turns,
    /// every line is needed.
    pub(crate) fn frame_canvas(&self, started: Timestamp) -> Canvas {
        let rows = self.env.size().map(Size::frame_rows);
        Canvas {
            started: Some(shifted(started, (self.env.ahead)())),
            rows: rows.filter(|_| !self.pager.is_open()),
            exit_key: self.exit_key,
            ..self.canvas()
        }
    }

    /// The environment.
    pub(crate) fn env(&self) -> &Env {
        self.env
    }

    /// Whether it shows frames.
    pub(crate) fn is_live(&self) -> bool {
        self.screen.is_live()
    }

    /// Prints lines above the frame. They stay in the scrollback.
    pub(crate) fn print(&mut self, lines: impl IntoIterator<Item: Into<Text>>) -> io::Result<()> {
        let (size, styles) = (self.size(), self.look().styles);
        let lines: Vec<Line<'_>> = lines.into_iter().map(|line| styles.text(line)).collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.printed += lines.len() as u64;
        self.screen.print_above(&lines, size)
    }

    /// Prints a page of lines. It needs a view without frames.
    pub(crate) fn print_page(&mut self, page: &LinePage) -> io::Result<()> {
        if page.is_empty() {
            return Ok(());
        }
        self.screen.print_page(page)
    }

    /// Prints lines that are not data on standard error.
    pub(crate) fn notify_lines(&mut self, lines: impl IntoIterator<Item: Into<Text>>) {
        let styles = self.look.stderr(self.env);
        let lines = lines.into_iter().map(|line| styles.text(line));
        let _closed_pipe = self.env.stderr.print(&lines.collect::<Vec<_>>());
    }

    /// Prints a page of lines that are not data: above the frame, if standard error is the same terminal, or on standard error.
    pub(crate) fn notify_page(&mut self, page: &LinePage) -> io::Result<()> {
        if page.is_empty() {
            return Ok(());
        }
        let lines = page.lines();
        self.printed += lines.len() as u64;
        if self.shows_notes_above() {
            let size = self.size();
            return self.screen.print_above(&lines, size);
        }
        let _closed_pipe = self.env.stderr.print(&lines);
        Ok(())
    }

    /// Prints a line that is not data, where [`Terminal::notify_page`] does.
    pub(crate) fn notify_text(&mut self, text: Text) -> io::Result<()> {
        if self.shows_notes_above() {
            return self.print([text]);
        }
        self.notify_lines([text]);
        Ok(())
    }

    /// How to paint lines that are not data.
    pub(crate) fn note_styles(&self) -> Styles {
        if self.shows_notes_above() {
            self.look().styles
        } else {
            self.look.stderr(self.env)
        }
    }

    fn shows_notes_above(&self) -> bool {
        self.is_live() && self.env.stderr_tty
    }

    /// Replaces the frame. Does nothing unless [`Terminal::is_live`].
    pub(crate) fn draw(&mut self, frame: Vec<Text>) -> io::Result<()> {
        let (size, styles) = (self.size(), self.look().styles);
        let frame = self.pager.page(frame, size.frame_rows()).into_iter();
        let frame = frame.map(|line| styles.text(line));
        self.screen.draw(frame.collect(), size)
    }

    /// Turns the pages of the frame.
    pub(crate) fn turn(&mut self, turns: &[Turn]) {
        for turn in turns {
            self.pager.turn(*turn);
        }
    }

    /// Prints a message that is not data: above the frame, or on standard error if there is no frame. A standard error that
    /// nobody reads changes nothing.
    pub(crate) fn notify(&mut self, text: &str) -> io::Result<()> {
        if self.is_live() {
            let text = Text::from(text);
            let lines = wrap(text.as_str(), self.size().columns, usize::MAX);
            return self.print(lines.into_iter().map(Text::dim));
        }
        self.printed += 1;
        let line = Line::plain(text);
        let _closed_pipe = self.env.stderr.print(&[line]);
        Ok(())
    }

    /// Prints a message that is not data, if there is one.
    pub(crate) fn notify_if(&mut self, text: Option<String>) -> io::Result<()> {
        text.map_or(Ok(()), |text| self.notify(&text))
    }

    /// Prints the new state of a source. Does nothing with a frame, whose footer shows the state.
    pub(crate) fn note(&mut self, note: &Note) -> io::Result<()> {
        if self.is_live() {
            return Ok(());
        }
        let cause = note.cause.as_deref().map(|cause| format!(": {cause}"));
        self.notify(&format!(
            "{}: {}{}",
            note.source,
            note.state,
            cause.unwrap_or_default()
        ))
    }

    /// Erases the frame.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let size = self.size();
        if self.is_live() {
            self.screen.clear(size)?;
        }
        Ok(())
    }

    /// Waits until all printed text is written. Text that is printed before that piles up in memory.
    pub(crate) async fn wait_until_written(&mut self) -> io::Result<()> {
        self.screen.out.wait_until_written().await
    }

    /// Like [`Terminal::wait_until_written`], but drops the rest if the reader stops reading, and says so.
    pub(crate) async fn wait_while_read(&mut self) -> io::Result<()> {
        if !self.screen.out.wait_while_read().await? {
            let line = "standard output was not read in time, so the end of the output is missing";
            self.notify_lines([line]);
        }
        Ok(())
    }

    /// What waits for the reader of standard error.
    pub(crate) fn stderr_queue(&self) -> QueuedStream {
        self.env.stderr_queue.clone()
    }

    /// Leaves the last frame on the screen.
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
    /// Prints a hint on standard error, before there is a [`Terminal`].
    pub(crate) fn hint(&mut self, hint: &str) {
        let line = Text::new(Role::Warning, "hint:") + " " + hint;
        let line = self.look.stderr(self.env).text(line);
        let _closed_pipe = self.env.stderr.print(&[line]);
    }

    /// Prints a line on standard error, before there is a [`Terminal`].
    pub(crate) fn note(&mut self, line: &str) {
        let line = self.look.stderr(self.env).text(line);
        let _closed_pipe = self.env.stderr.print(&[line]);
    }

    /// Prints the lines of a text that programs may read, for verbs without a [`Terminal`].
    pub(crate) fn print_data(&mut self, text: &str) -> io::Result<()> {
        self.print(text.lines().map(Text::data))
    }

    /// Prints lines on standard output, for verbs without a [`Terminal`].
    pub(crate) fn print(&mut self, lines: impl IntoIterator<Item: Into<Text>>) -> io::Result<()> {
        let styles = self.look().styles;
        let lines = lines.into_iter().map(|line| styles.text(line));
        self.env.stdout.print(&lines.collect::<Vec<_>>())
    }
}
