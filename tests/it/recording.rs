//! docs/images/demo.svg: what `kubectl spy demo` draws on a terminal, as a picture that moves. `UPDATE=1` records it again.

use std::fmt::Write as _;
use std::fs;

use vt100::{Cell, Color, Screen};

use super::support::Spy;

const PATH: &str = "docs/images/demo.svg";
/// The terminal, columns before rows.
const SIZE: (u16, u16) = (92, 18);
/// How long each screen stays.
const SECONDS: f64 = 1.6;
/// The size of a character.
const CELL: (f64, f64) = (8.4, 18.0);
/// The space around the text.
const MARGIN: f64 = 12.0;

/// The screens of the whole demo. The last one shows what has changed in the last seconds, whatever the speed: a test is fast, so
/// that a busy machine has time.
fn screens(speed: &str) -> Vec<Screen> {
    let mut terminal = Spy::alone().on_terminal(SIZE, &["demo", "--speed", speed]);
    assert!(terminal.finish().success());
    terminal.screens()
}

/// The text without numbers, which differ from run to run.
fn shape(text: &str) -> String {
    let masked = text.chars().map(|next| match next {
        next if next.is_ascii_digit() => '0',
        next => next,
    });
    let masked: String = masked.collect();
    let words: Vec<&str> = masked.split_whitespace().collect();
    words.join(" ").replace("00", "0")
}

/// What the table says: the rows of objects, without ages and the footer.
fn story(screen: &Screen) -> Vec<String> {
    let lines = screen.contents();
    let rows = lines
        .lines()
        .filter(|line| line.contains('/') && !line.contains("live"));
    rows.map(|row| row.split_whitespace().take(4).collect::<Vec<_>>().join(" "))
        .collect()
}

fn class(cell: &Cell) -> &'static str {
    match (cell.fgcolor(), cell.dim(), cell.bold()) {
        (Color::Idx(1 | 9), ..) => "r",
        (Color::Idx(2 | 10), ..) => "g",
        (Color::Idx(3 | 11), ..) => "y",
        (_, true, _) => "d",
        (_, _, true) => "b",
        _ => "p",
    }
}

/// One row of the screen, as runs of cells that look alike.
fn row(screen: &Screen, row: u16) -> String {
    let (_, columns) = screen.size();
    let mut runs: Vec<(&str, String)> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        let text = match cell.contents() {
            "" => " ",
            text => text,
        };
        match runs.last_mut() {
            Some((known, run)) if *known == class(cell) || text == " " => run.push_str(text),
            _ => runs.push((class(cell), text.to_owned())),
        }
    }
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let spans = runs
        .iter()
        .map(|(class, text)| format!("<tspan class=\"{class}\">{}</tspan>", escape(text)));
    spans.collect()
}

fn picture(screens: &[Screen]) -> String {
    let (columns, rows) = SIZE;
    let width = MARGIN.mul_add(2.0, f64::from(columns) * CELL.0);
    let height = MARGIN.mul_add(2.0, f64::from(rows) * CELL.1);
    let count = u32::try_from(screens.len()).unwrap();
    let total = f64::from(count) * SECONDS;
    let share = 100.0 / f64::from(count);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img">
<title>kubectl spy demo: a rollout to an image that cannot be pulled fails, and is then fixed.</title>
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #d0d7de }}
.r {{ fill: #ff7b72 }} .g {{ fill: #7ee787 }} .y {{ fill: #e3b341 }} .d {{ fill: #8b949e }} .b {{ font-weight: bold }}
.s {{ opacity: 0; animation: s {total:.1}s step-end infinite }}
@keyframes s {{ 0% {{ opacity: 1 }} {share:.3}% {{ opacity: 0 }} }}
@media (prefers-reduced-motion) {{ .s {{ animation: none }} .s:last-child {{ opacity: 1 }} }}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
"##
    );
    for (index, screen) in (0_u32..).zip(screens) {
        let delay = f64::from(index) * SECONDS;
        writeln!(
            svg,
            "<g class=\"s\" style=\"animation-delay: {delay:.1}s\">"
        )
        .unwrap();
        for line in 0..rows {
            let text = row(screen, line);
            let y = f64::from(line + 1).mul_add(CELL.1, MARGIN - 4.0);
            writeln!(
                svg,
                "<text x=\"{MARGIN}\" y=\"{y:.0}\" xml:space=\"preserve\">{text}</text>"
            )
            .unwrap();
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// The text of the last screen in a picture.
fn last_text(svg: &str) -> String {
    let last = svg.rsplit("<g ").next().unwrap();
    let mut text = String::new();
    for part in last.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').unwrap();
        text.push_str(rest);
        if tag == "/text" {
            text.push('\n');
        }
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[test]
fn the_recording_ends_as_the_demo_ends() {
    let is_update = std::env::var_os("UPDATE").is_some();
    let mut screens = screens(if is_update { "5" } else { "12" });
    let last = screens.last().unwrap().clone();
    screens.dedup_by_key(|screen| story(screen));
    screens.retain(|screen| !story(screen).is_empty());
    if is_update {
        screens.push(last.clone());
        fs::write(PATH, picture(&screens)).unwrap();
    }
    let recorded = fs::read_to_string(PATH).unwrap();
    let objects = |text: &str| {
        let rows = text
            .lines()
            .filter(|line| line.contains("● ") && line.contains('/'));
        rows.map(|row| shape(row.split("  ").next().unwrap()))
            .collect::<Vec<_>>()
    };
    let shown = objects(&last.contents());
    assert!(!shown.is_empty());
    assert_eq!(objects(&last_text(&recorded)), shown, "{}", last.contents());
}
