//! Tests of tables.

use proptest::prelude::*;

use super::super::style::testing;
use super::*;
use crate::render::style::{Styles, Symbols};

const PLAIN: Look = Look {
    width: None,
    styles: Styles::PLAIN,
    symbols: &Symbols::UNICODE,
};

fn columns() -> Vec<Column> {
    vec![
        Column::new("Name", Fit::CutMiddle),
        Column::new("Ready", Fit::Keep),
        Column::new("Status", Fit::Shrink),
        Column::new("Restarts", Fit::Drop(2)),
        Column::new("Age", Fit::Drop(1)),
        Column::new("IP", Fit::Drop(5)),
    ]
}

fn row(lead: &str, words: [(&str, Role); 6]) -> TableRow {
    let mut cells: Vec<Cell> = words
        .iter()
        .map(|&(word, role)| Cell::new(word, role))
        .collect();
    cells[0] = cells[0].clone().with_lead(lead);
    TableRow {
        cells,
        below: Vec::new(),
    }
}

/// Rows under columns.
#[derive(Default)]
struct Table {
    columns: Vec<Column>,
    rows: Vec<TableRow>,
}

impl Table {
    fn lines(&self, look: Look) -> Vec<Text> {
        let mut widths = ColumnWidths::of_titles(&self.columns);
        for row in &self.rows {
            widths.widen(&row.cells);
        }
        let layout = TableLayout::new(&self.columns, &widths, |_| true, look);
        let titles = layout.lines(&[layout.titles()]);
        titles.into_iter().chain(layout.lines(&self.rows)).collect()
    }
}

fn pods() -> Table {
    use Role::{Bad, Good, Name, Plain};
    let plain = |word| (word, Plain);
    let mut failing = row(
        "│ └─✗ ",
        [
            ("pod/web-5d4f8c7b9d-mzt4c", Name),
            plain("0/1"),
            ("ImagePullBackOff", Bad),
            plain("0"),
            plain("21s"),
            plain(""),
        ],
    );
    failing.below =
        vec!["│     └ web: Back-off pulling image \"registry.example.com/web:v2\"".into()];
    let running = row(
        "│ ├─● ",
        [
            ("pod/web-5d4f8c7b9d-7xkqp", Name),
            plain("1/1"),
            ("Running", Good),
            plain("0"),
            plain("38s"),
            plain("10.0.0.7"),
        ],
    );
    Table {
        columns: columns(),
        rows: vec![running, failing],
    }
}

fn draw(table: &Table, width: usize) -> String {
    let look = Look {
        width: Some(width),
        ..PLAIN
    };
    format!("\n{}", testing::plain(table.lines(look)))
}

#[test]
fn a_table_looks_like_one_of_kubectl() {
    insta::assert_snapshot!(draw(&pods(), 100), @r#"

    NAME                             READY   STATUS             RESTARTS   AGE   IP
    │ ├─● pod/web-5d4f8c7b9d-7xkqp   1/1     Running            0          38s   10.0.0.7
    │ └─✗ pod/web-5d4f8c7b9d-mzt4c   0/1     ImagePullBackOff   0          21s
    │     └ web: Back-off pulling image "registry.example.com/web:v2"
    "#);
}

#[test]
fn columns_are_dropped_before_texts_are_cut() {
    insta::assert_snapshot!(draw(&pods(), 80), @r#"

    NAME                             READY   STATUS             RESTARTS   AGE
    │ ├─● pod/web-5d4f8c7b9d-7xkqp   1/1     Running            0          38s
    │ └─✗ pod/web-5d4f8c7b9d-mzt4c   0/1     ImagePullBackOff   0          21s
    │     └ web: Back-off pulling image "registry.example.com/web:v2"
    "#);
    insta::assert_snapshot!(draw(&pods(), 60), @r#"

    NAME                             READY   STATUS
    │ ├─● pod/web-5d4f8c7b9d-7xkqp   1/1     Running
    │ └─✗ pod/web-5d4f8c7b9d-mzt4c   0/1     ImagePullBackOff
    │     └ web: Back-off pulling image "registry.example.com/w…
    "#);
    insta::assert_snapshot!(draw(&pods(), 50), @r#"
    NAME                      READY   STATUS
    │ ├─● pod/web-…9d-7xkqp   1/1     Running
    │ └─✗ pod/web-…9d-mzt4c   0/1     ImagePullBackOff
    │     └ web: Back-off pulling image "registry.exa…
    "#);
    insta::assert_snapshot!(draw(&pods(), 40), @r#"
    NAME               READY   STATUS
    │ ├─● pod/…7xkqp   1/1     Running
    │ └─✗ pod/…mzt4c   0/1     ImagePullBac…
    │     └ web: Back-off pulling image "re…
    "#);
    insta::assert_snapshot!(draw(&pods(), 20), @"

    NAME               …
    │ ├─● pod/…7xkqp   …
    │ └─✗ pod/…mzt4c   …
    │     └ web: Back-o…
    ");
}

#[test]
fn a_pipe_gets_everything() {
    let mut table = pods();
    table.rows[0].cells[5] = Cell::new(&"x".repeat(500), Role::Plain);
    let lines = table.lines(PLAIN);
    assert!(lines[1].as_str().ends_with(&"x".repeat(500)));
    assert_eq!(lines.len(), 4);
}

#[test]
fn painted_cells_align() {
    let look = Look {
        styles: testing::ansi(),
        width: Some(60),
        ..PLAIN
    };
    let mut table = pods();
    for row in &mut table.rows {
        let name = row.cells[0].clone();
        row.cells[0] = name.with_lead(Text::new(Role::Good, "● "));
    }
    let lines = table.lines(look);
    insta::assert_snapshot!(testing::explain(&format!("\n{}", testing::painted(lines, look.styles))), @r#"

    (bold)NAME(normal)                         (bold)READY(normal)   (bold)STATUS(normal)             (bold)AGE(normal)
    (green)● (normal)(bold)pod/web-5d4f8c7b9d-7xkqp(normal)   1/1     (green)Running(normal)            38s
    (green)● (normal)(bold)pod/web-5d4f8c7b9d-mzt4c(normal)   0/1     (red)ImagePullBackOff(normal)   21s
    │     └ web: Back-off pulling image "registry.example.com/w…
    "#);
}

#[test]
fn rows_may_be_short_wide_or_unsafe() {
    let mut table = pods();
    table.rows[1].cells.truncate(1);
    table.rows[1].below.clear();
    table.rows[0].cells[0] = Cell::new("名前\u{1b}[31m\nsecond", Role::Plain);
    table.rows[0].cells[1] = Cell::new("日", Role::Plain);
    let lines = table.lines(PLAIN).split_off(1);
    insta::assert_snapshot!(format!("\n{}", testing::plain(lines)), @"

    名前^[[31m...                    日      Running   0          38s   10.0.0.7
    │ └─✗ pod/web-5d4f8c7b9d-mzt4c
    ");
    assert!(
        testing::plain(Table::default().lines(PLAIN))
            .trim()
            .is_empty()
    );
}

#[test]
fn a_huge_cell_stays_on_its_line() {
    let mut table = pods();
    table.rows[0].cells[0] = Cell::new(&"x".repeat(200_000), Role::Plain);
    assert_eq!(table.lines(PLAIN).len(), 4);
}

proptest! {
    #[test]
    fn no_line_is_wider_than_asked(
        words in proptest::collection::vec("[a-z日\u{301} ]{0,30}", 12),
        lead in "[│├ ]{0,20}",
        width in 0..90_usize,
    ) {
        let mut table = pods();
        for (row, words) in table.rows.iter_mut().zip(words.chunks(6)) {
            row.cells = words.iter().map(|word| Cell::new(word, Role::Plain)).collect();
            row.cells[0].lead = Text::from(&lead);
        }
        let lines = table.lines(Look { width: Some(width), ..PLAIN });
        prop_assert_eq!(lines.len(), 4);
        for line in lines {
            prop_assert!(line.width() <= width, "{line:?}");
            prop_assert!(!line.as_str().ends_with(' '));
        }
    }
}
