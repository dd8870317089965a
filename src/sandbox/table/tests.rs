//! Tests of ages and rows.

use super::human;

#[test]
fn ages_equal_those_of_kubectl() {
    let cases = [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (150, "2m30s"),
        (600, "10m"),
        (179 * 60, "179m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (50 * 3600, "2d2h"),
        (41 * 86400, "41d"),
        (800 * 86400, "2y70d"),
        (3000 * 86400, "8y"),
    ];
    for (seconds, expect) in cases {
        assert_eq!(human(seconds), expect, "{seconds}");
    }
}
