//! Tests of display text.

use proptest::prelude::*;

use super::*;
use crate::render::display::cut_line;
use crate::render::style::testing::{ansi, explain};

#[test]
fn a_text_escapes_what_enters_it_and_keeps_its_roles() {
    let name =
        Text::new(Role::Name, "web\u{1b}[31m\n") + "  " + Text::dim("-n shop") + Text::dim("");
    assert_eq!(name.as_str(), "web^[[31m\\n  -n shop");
    let shown = |text: &Text| explain(&text.paint(ansi()));
    assert_eq!(
        shown(&name),
        "(bold)web^[[31m\\n(normal)  (dim)-n shop(normal)"
    );
    for (columns, expect) in [
        (80, "(bold)web^[[31m\\n(normal)  (dim)-n shop(normal)"),
        (15, "(bold)web^[[31m\\n(normal)  (dim)-…(normal)"),
        (14, "(bold)web^[[31m\\n(normal)  (dim)…(normal)"),
        (13, "(bold)web^[[31m\\n(normal) …"),
        (5, "(bold)web^…(normal)"),
        (0, ""),
    ] {
        assert_eq!(shown(&name.clone().fit(columns, "…")), expect, "{columns}");
    }
    let middle = Text::new(Role::Name, "pod/web-5d4f8c7b9d-mzt4c").fit_middle(18, "…");
    assert_eq!(shown(&middle), "(bold)pod/web-…b9d-mzt4c(normal)");
    assert_eq!(
        shown(&(Text::dim("a ") + " ").trim_end()),
        "(dim)a (normal)"
    );
    assert_eq!(Text::data("a\tb\u{7}").as_str(), "a\tb^G");
}

#[test]
fn characters_a_terminal_obeys_or_hides_become_visible() {
    let check = |text: &str, expect: &str| assert_eq!(escape_line(text), expect, "{text:?}");
    check("web", "web");
    check("\u{1b}[31mred\u{7}", "^[[31mred^G");
    check("a\0b\u{7f}", "a^@b^?");
    check("over\rwritten", "over\\rwritten");
    check("\u{9b}31m", "\\u{9b}31m");
    check("gnp.\u{202e}exe", "gnp.\\u{202e}exe");
    check("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}");
    check("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}");
    check("tag\u{e0041}", "tag\\u{e0041}");
    check(
        "naïve 日本 e\u{301} ⚠\u{fe0f}",
        "naïve 日本 e\u{301} ⚠\u{fe0f}",
    );
    assert!(matches!(escape_line("web"), Cow::Borrowed("web")));
}

#[test]
fn line_ends_inside_a_line_become_visible() {
    assert_eq!(escape_line("a\nb\tc\r\n"), "a\\nb\\tc\\r\\n");
}

#[test]
fn a_cell_ends_where_it_does_in_kubectl() {
    let check = |text: &str, expect: &str| assert_eq!(escape_cell(text), expect, "{text:?}");
    check("one", "one");
    check("one\ntwo", "one...");
    check("one\u{c}two", "one...");
    check("one\r", "one...");
    check("a\tb\u{1b}\nc", "a b^[...");
}

#[test]
fn width_counts_columns() {
    let check = |text: &str, expect: usize| assert_eq!(width(text), expect, "{text:?}");
    check("", 0);
    check("web", 3);
    check("日本", 4);
    check("e\u{301}", 1);
    check("\u{1b}[31mred\u{1b}[0m", 3);
    check("\u{1b}[1;4m日\u{1b}[0m本", 4);
}

#[test]
fn cuts_keep_clusters_whole() {
    let end = |text: &str, columns, expect: &str| {
        assert_eq!(cut_end(text, columns, "…"), expect, "{text:?} {columns}");
    };
    end("ImagePullBackOff", 16, "ImagePullBackOff");
    end("ImagePullBackOff", 12, "ImagePullBa…");
    end("日本語", 4, "日…");
    end("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…");
    end("abc", 1, "…");
    end("abc", 0, "");
    let middle = |text: &str, columns, expect: &str| {
        assert_eq!(cut_middle(text, columns, "…"), expect, "{text:?} {columns}");
    };
    middle("pod/web-5d4f8c7b9d-mzt4c", 24, "pod/web-5d4f8c7b9d-mzt4c");
    middle("pod/web-5d4f8c7b9d-mzt4c", 18, "pod/web-…b9d-mzt4c");
    middle("日本語日本語", 8, "日…本語");
    middle("abc", 1, "…");
    assert_eq!(
        cut_middle("pod/web-5d4f8c7b9d-mzt4c", 13, "..."),
        "pod/w...mzt4c"
    );
    assert_eq!(cut_end("abcdef", 2, "..."), "ab");
}

#[test]
fn a_cut_line_resets_its_colours() {
    let line = "~ \u{1b}[31mImagePullBackOff\u{1b}[0m \u{1b}[2mnode\u{1b}[0m";
    assert_eq!(
        cut_line(line, 8, "…"),
        "~ \u{1b}[31mImage…\u{1b}[0m\u{1b}[2m\u{1b}[0m"
    );
    assert_eq!(cut_line(line, 23, "…"), line);
}

/// Any text, with many controls and wide characters.
fn rough() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => any::<char>(),
        2 => proptest::char::range('\0', '\u{a0}'),
        1 => proptest::char::range('\u{2000}', '\u{2070}'),
        1 => proptest::char::range('\u{300}', '\u{310}'),
        1 => proptest::char::range('\u{627}', '\u{644}'),
        1 => proptest::char::range('\u{1f3fb}', '\u{1f469}'),
        1 => proptest::char::range('\u{1f1e6}', '\u{1f1ff}'),
        1 => proptest::char::range('一', '丿'),
    ];
    proptest::collection::vec(character, 0..40).prop_map(String::from_iter)
}

proptest! {
    #[test]
    fn no_text_has_more_columns_than_bytes(text in rough()) {
        prop_assert!(width(&text) <= text.len());
    }

    #[test]
    fn plain_text_around_it_does_not_change_a_width(start in "[ -~]{0,3}", text in rough(), end in "[ -~]{0,3}") {
        let text = format!("{start}{text}{end}").replace(ESCAPE, "");
        prop_assert_eq!(width(&text), text.width());
    }

    #[test]
    fn the_end_of_a_text_is_escaped_as_if_alone(start in rough(), end in rough()) {
        let mut text = format!("{start}{end}");
        escape_line_from(&mut text, start.len());
        prop_assert_eq!(text, format!("{start}{}", escape_line(&end)));
        prop_assert_eq!(escaped_line(Cow::Owned(end.clone())), escape_line(&end));
    }

    #[test]
    fn escaped_text_has_no_unsafe_characters(text in rough()) {
        prop_assert!(!escape_line(&text).contains(is_unsafe));
        prop_assert!(!escape_cell(&text).contains(is_unsafe));
        let once = escape_line(&text);
        prop_assert_eq!(escape_line(&once), once.as_ref());
    }

    #[test]
    fn no_cut_is_wider_than_asked(
        text in rough(),
        columns in 0..60_usize,
        ellipsis in prop_oneof![Just("…"), Just("...")],
    ) {
        let text = escape_line(&text);
        for cut in [cut_end(&text, columns, ellipsis), cut_middle(&text, columns, ellipsis)] {
            prop_assert!(width(&cut) <= columns, "{cut:?}");
            if width(&text) <= columns {
                prop_assert_eq!(&cut, &text);
            }
        }
        let painted = format!("{text}\u{1b}[1;31m{text}\u{1b}[0m{text}");
        let line = cut_line(&painted, columns, ellipsis);
        prop_assert!(width(&line) <= columns, "{line:?}");
        let is_balanced = line.contains("\u{1b}[1;31m") && line.contains("\u{1b}[0m");
        prop_assert!(is_balanced, "{line:?}");
    }

    #[test]
    fn no_cut_splits_a_cluster(text in rough(), columns in 2..60_usize) {
        let text = escape_line(&text);
        let boundaries: Vec<usize> = text
            .grapheme_indices(true)
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        let start = head(&text, columns);
        let end = tail(&text, columns);
        prop_assert!(boundaries.contains(&start.len()));
        prop_assert!(boundaries.contains(&(text.len() - end.len())));
        if start.len() < text.len() {
            let next = text[start.len()..].graphemes(true).next().unwrap_or_default();
            let clusters: usize = start.graphemes(true).chain([next]).map(UnicodeWidthStr::width).sum();
            prop_assert!(clusters > columns, "room was left");
        }
    }
}

#[test]
fn names_give_way_to_reasons_and_counts() {
    for (text, columns, expect) in [
        (
            "0/3 pulled; frontend-7c5ddbdf54-bbl4w ErrImagePull",
            50,
            "0/3 pulled; frontend-7c5ddbdf54-bbl4w ErrImagePull",
        ),
        (
            "0/3 pulled; frontend-7c5ddbdf54-bbl4w ErrImagePull",
            44,
            "0/3 pulled; frontend-…f54-bbl4w ErrImagePull",
        ),
        (
            "0/3 pulled; frontend-7c5ddbdf54-bbl4w CreateContainerConfigError",
            20,
            "0/3 pulled; fronten…54-bbl4w CreateContainerConfigError",
        ),
        (
            "owners: deployment/frontend > replicaset/frontend-7c5ddbdf54 #2   1/1 pods",
            62,
            "owners: deployment/frontend > replicas…c5ddbdf54 #2   1/1 pods",
        ),
        (
            "owners: deployment/frontend > replicaset/frontend-7c5ddbdf54 #2   1/1 pods",
            40,
            "owners: deploym…frontend > replica…5ddbdf54 #2   1/1 pods",
        ),
    ] {
        let look = Look {
            width: Some(columns),
            styles: Styles::PLAIN,
            symbols: &Symbols::UNICODE,
        };
        let line = Text::default().with_names(Role::Plain, text, look);
        assert_eq!(line.as_str(), expect, "{columns}");
    }
}

#[test]
fn the_lines_of_a_text_keep_its_roles() {
    let text = Text::new(Role::Name, "pod/web-1 of two") + " " + Text::new(Role::Bad, "Error");
    let look = |width| Look {
        width,
        styles: Styles::PLAIN,
        symbols: &Symbols::UNICODE,
    };
    let (lead, next) = (Text::dim("12:00") + " ", Text::default().pad(6));
    let lines = |width| {
        let lines = Text::after_leads([&lead, &next], &text, look(width), usize::MAX);
        let lines = lines.iter().map(|line| explain(&line.paint(ansi())));
        lines.collect::<Vec<_>>().join("\n")
    };
    let whole = "(dim)12:00(normal) (bold)pod/web-1 of two(normal) (red)Error(normal)";
    assert_eq!(lines(None), whole);
    assert_eq!(lines(Some(80)), whole);
    assert_eq!(
        lines(Some(18)),
        "(dim)12:00(normal) (bold)pod/web-1 of(normal)\n      (bold)two(normal) (red)Error(normal)"
    );
}

#[test]
fn a_text_breaks_at_blanks() {
    let text = "key DB_URL is missing; there are DATABASE_URL, MODE";
    for (columns, most, lines) in [
        (60, 3, text),
        (22, 1, text),
        (22, 2, "key DB_URL is missing;|there are DATABASE_URL, MODE"),
        (22, 3, "key DB_URL is missing;|there are|DATABASE_URL, MODE"),
        (5, 3, "key|DB_URL|is missing; there are DATABASE_URL, MODE"),
        (9, 9, "key|DB_URL is|missing;|there are|DATABASE_URL,|MODE"),
        (0, 3, "key|DB_URL|is missing; there are DATABASE_URL, MODE"),
    ] {
        assert_eq!(
            wrap(text, columns, most).join("|"),
            lines,
            "{columns} {most}"
        );
    }
    assert_eq!(wrap("a_long_word", 3, 9), ["a_long_word"]);
    assert_eq!(wrap("", 3, 9), [""]);
    assert_eq!(wrap("    a_long_word x", 3, 9), ["    a_long_word", "x"]);
}
