//! Tests of the live screen, on an emulated terminal.

use proptest::prelude::*;
use vt100::Parser;

use super::*;

const SCROLLBACK: usize = 1000;

/// A screen on a terminal with earlier output of the user.
fn terminal(columns: u16, rows: u16) -> Screen<Parser> {
    let mut parser = Parser::new(rows, columns, SCROLLBACK);
    parser.process(b"$ make\r\nok\r\n$ kubectl spy\r\n");
    Screen::live(parser)
}

/// The earlier output.
const EARLIER: [&str; 3] = ["$ make", "ok", "$ kubectl spy"];

fn size(screen: &Screen<Parser>) -> Size {
    let (rows, columns) = screen.out.screen().size();
    Size {
        columns: columns.into(),
        rows: rows.into(),
    }
}

fn lines(texts: &[impl AsRef<str>]) -> Vec<Line<'static>> {
    let texts = texts.iter().map(|text| text.as_ref().to_owned());
    texts.map(Line::plain).collect()
}

fn draw(screen: &mut Screen<Parser>, frame: &[&str]) {
    let size = size(screen);
    screen
        .draw(lines(frame), size)
        .expect("the terminal accepts output");
}

fn print(screen: &mut Screen<Parser>, above: &[&str]) {
    let size = size(screen);
    screen
        .print_above(&lines(above), size)
        .expect("the terminal accepts output");
}

/// All text on the terminal, from the top of the scrollback to the row above the cursor, with wrapped rows
/// joined.
fn transcript(parser: &mut Parser) -> Vec<String> {
    let (rows, columns) = parser.screen().size();
    let cursor = usize::from(parser.screen().cursor_position().0);
    let screen = parser.screen_mut();
    screen.set_scrollback(usize::MAX);
    let above = screen.scrollback();
    let mut lines = Vec::new();
    let mut is_wrapped = false;
    for row in 0..above + usize::from(rows) {
        // Scrolled back by `offset`, the window begins `offset` rows above the screen.
        let offset = above.saturating_sub(row);
        screen.set_scrollback(offset);
        let place = u16::try_from(row + offset - above).expect("a row of the window");
        let text = screen
            .rows(0, columns)
            .nth(place.into())
            .unwrap_or_default();
        let last: Option<&mut String> = lines.last_mut();
        if let Some(line) = last.filter(|_| is_wrapped) {
            line.push_str(&text);
        } else if row < above + cursor {
            lines.push(text);
        } else {
            assert_eq!(text, "", "nothing stands below the cursor");
        }
        is_wrapped = screen.row_wrapped(place);
    }
    screen.set_scrollback(0);
    lines
}

fn check(screen: &mut Screen<Parser>, expect: &[&str]) {
    let expect: Vec<&str> = EARLIER.iter().chain(expect).copied().collect();
    assert_eq!(transcript(&mut screen.out), expect);
    assert_eq!(screen.out.screen().cursor_position().1, 0);
}

/// Resizes the terminal and rewraps its lines, as tmux, VTE, kitty and iTerm do.
fn resize(screen: &mut Screen<Parser>, columns: u16, rows: u16) {
    let lines = transcript(&mut screen.out);
    let mut parser = Parser::new(rows, columns, SCROLLBACK);
    for line in lines {
        parser.process(line.as_bytes());
        parser.process(b"\r\n");
    }
    screen.out = parser;
}

#[test]
fn a_frame_replaces_the_last_one() {
    let mut screen = terminal(40, 10);
    draw(
        &mut screen,
        &["NAME  STATUS", "web   Pending", "api   Running"],
    );
    check(
        &mut screen,
        &["NAME  STATUS", "web   Pending", "api   Running"],
    );
    assert!(screen.out.screen().hide_cursor());
    draw(&mut screen, &["NAME  STATUS", "web   Running"]);
    check(&mut screen, &["NAME  STATUS", "web   Running"]);
    draw(
        &mut screen,
        &["NAME  STATUS", "web", "api", "db", "cache", "queue"],
    );
    check(
        &mut screen,
        &["NAME  STATUS", "web", "api", "db", "cache", "queue"],
    );
    draw(&mut screen, &[]);
    check(&mut screen, &[]);
}

#[test]
fn a_frame_at_the_bottom_scrolls_the_earlier_lines_up() {
    let mut screen = terminal(40, 6);
    for frame in [&["1", "2", "3", "4"][..], &["1"], &["a", "b", "c", "d"]] {
        draw(&mut screen, frame);
        check(&mut screen, frame);
    }
}

#[test]
fn a_narrower_terminal_keeps_one_copy() {
    let frame = [
        "NAME                     READY   STATUS",
        "pod/web-5d4f8c7b9d-mzt4c   0/1   Pending",
        "● live",
    ];
    let mut screen = terminal(60, 20);
    draw(&mut screen, &frame);
    for columns in [30, 50, 17, 60] {
        resize(&mut screen, columns, 20);
        let fitting = frame.map(|line| cut_line(line, usize::from(columns) - 1, ""));
        let fitting: Vec<&str> = fitting.iter().map(AsRef::as_ref).collect();
        draw(&mut screen, &frame);
        check(&mut screen, &fitting);
    }
}

#[test]
fn a_shorter_terminal_keeps_one_copy() {
    let mut screen = terminal(40, 20);
    draw(&mut screen, &["1", "2", "3", "4", "5", "live"]);
    resize(&mut screen, 40, 8);
    draw(&mut screen, &["1", "2", "3", "4", "5", "live"]);
    check(&mut screen, &["1", "2", "3", "4", "5", "live"]);
}

#[test]
fn a_frame_that_is_too_high_keeps_its_last_line() {
    let mut screen = terminal(40, 6);
    draw(&mut screen, &["1", "2", "3", "4", "5", "6", "7", "live"]);
    check(&mut screen, &["1", "2", "3", "live"]);
    draw(&mut screen, &["1", "2", "3", "4", "5", "6", "7", "lost"]);
    check(&mut screen, &["1", "2", "3", "lost"]);
}

#[test]
fn lines_scroll_above_the_frame() {
    let mut screen = terminal(20, 6);
    draw(&mut screen, &["● live  0 versions"]);
    print(&mut screen, &["one"]);
    check(&mut screen, &["one", "● live  0 versions"]);
    let long = "x".repeat(50);
    let full = "y".repeat(40);
    print(&mut screen, &[&long, &full, "", "two"]);
    draw(&mut screen, &["● live  3 versions"]);
    check(
        &mut screen,
        &["one", &long, &full, "", "two", "● live  3 versions"],
    );
}

#[test]
fn an_unchanged_frame_is_not_written_again() {
    let mut screen = Screen::live(Vec::new());
    let size = Size {
        columns: 40,
        rows: 10,
    };
    let frame = || lines(&["web", "api"]);
    screen
        .draw(frame(), size)
        .expect("the writer accepts output");
    insta::assert_snapshot!(String::from_utf8_lossy(&screen.out).escape_debug().to_string(), @r"\u{1b}[?2026h\u{1b}[?25l\rweb\u{1b}[K\r\napi\u{1b}[K\r\n\u{1b}[J\u{1b}[?2026l");
    let written = screen.out.len();
    screen
        .draw(frame(), size)
        .expect("the writer accepts output");
    assert_eq!(screen.out.len(), written);
    screen
        .draw(frame(), Size { rows: 9, ..size })
        .expect("the writer accepts output");
    assert!(
        screen.out.len() > written,
        "another size needs another drawing"
    );
}

#[test]
fn a_pipe_gets_lines_only() {
    let mut screen = Screen::append(Vec::new());
    let size = Size {
        columns: 4,
        rows: 2,
    };
    screen
        .draw(lines(&["footer"]), size)
        .expect("the writer accepts output");
    screen
        .print_above(&lines(&["one line", "another"]), size)
        .expect("the writer accepts output");
    screen.release().expect("the writer accepts output");
    assert_eq!(screen.out, b"one line\nanother\n");
}

#[test]
fn the_cursor_is_shown_again() {
    let mut screen = terminal(40, 10);
    draw(&mut screen, &["web", "api"]);
    screen.release().expect("the terminal accepts output");
    assert!(!screen.out.screen().hide_cursor());
    draw(&mut screen, &["web"]);
    check(&mut screen, &["web", "api", "web"]);
    let size = size(&screen);
    screen.clear(size).expect("the terminal accepts output");
    assert!(!screen.out.screen().hide_cursor());
    check(&mut screen, &["web", "api"]);

    let mut out = Vec::new();
    let mut dropped = Screen::live(&mut out);
    dropped
        .draw(lines(&["web"]), size)
        .expect("the writer accepts output");
    drop(dropped);
    assert!(out.ends_with(b"\x1b[?25h"));
}

#[test]
fn a_closed_pipe_is_an_error_of_its_kind() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let size = Size {
        columns: 40,
        rows: 10,
    };
    for mut screen in [Screen::live(Closed), Screen::append(Closed)] {
        let error = screen
            .print_above(&lines(&["one"]), size)
            .expect_err("it is closed");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Draw(usize, usize),
    Print(usize),
    Resize(u16, u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..6_usize, 1..70_usize).prop_map(|(lines, width)| Step::Draw(lines, width)),
        3 => (1..100_usize).prop_map(Step::Print),
        2 => (20..80_u16, 24..40_u16).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever happens, the terminal contains each printed line once, in order, and one frame after them.
    #[test]
    fn every_line_stays_and_one_frame_is_last(steps in proptest::collection::vec(step(), 1..30)) {
        let mut screen = terminal(80, 24);
        let mut printed: Vec<String> = EARLIER.map(str::to_owned).to_vec();
        let mut frame: Vec<String> = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Draw(count, width) => {
                    frame = (0..count).map(|line| format!("{line}:{}", "f".repeat(width))).collect();
                }
                Step::Print(width) => {
                    let line = format!("{number}:{}", "p".repeat(width));
                    print(&mut screen, &[&line]);
                    printed.push(line);
                }
                Step::Resize(columns, rows) => resize(&mut screen, columns, rows),
            }
            let size = size(&screen);
            screen.draw(lines(&frame), size).expect("the terminal accepts output");
            let cut = |line: &String| cut_line(line, size.frame_columns(), "").into_owned();
            let expect: Vec<String> = printed.iter().cloned().chain(frame.iter().map(cut)).collect();
            prop_assert_eq!(transcript(&mut screen.out), expect);
        }
    }

    #[test]
    fn no_size_is_too_small(
        count in 0..20_usize,
        columns in 0..12_usize,
        rows in 0..12_usize,
    ) {
        let mut screen = Screen::live(Vec::new());
        let frame: Vec<String> = (0..count).map(|line| format!("{line} 日本語 text")).collect();
        let frame = lines(&frame);
        let size = Size { columns, rows };
        let kept = clamp(&frame, size);
        prop_assert_eq!(kept.len(), count.min(size.frame_rows()));
        prop_assert!(kept.iter().all(|line| text::width(line) <= size.frame_columns()));
        screen.draw(frame, size).expect("the writer accepts output");
        screen.clear(size).expect("the writer accepts output");
    }
}
