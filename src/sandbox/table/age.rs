//! Ages as kubectl prints them: `k8s.io/apimachinery/pkg/util/duration.HumanDuration`.

use jiff::Timestamp;
use serde_json::Value;

/// The age of an event, from its time in RFC 3339.
pub(in crate::sandbox) fn age_since(time: &Value, now: Timestamp) -> String {
    let began = time
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok());
    began.map_or_else(
        || "<unknown>".to_owned(),
        |began| human(now.duration_since(began).as_secs()),
    )
}

/// At most two units. The second one is omitted if it is zero or too small to matter.
pub(super) fn human(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    let two = |first: i64, unit: &str, second: i64, small: &str| {
        if second == 0 {
            format!("{first}{unit}")
        } else {
            format!("{first}{unit}{second}{small}")
        }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        _ if seconds < 120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 192 => two(days, "d", hours % 24, "h"),
        _ if days < 730 => format!("{days}d"),
        _ if days < 2920 => two(years, "y", days % 365, "d"),
        _ => format!("{years}y"),
    }
}
