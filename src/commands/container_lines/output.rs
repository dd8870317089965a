//! `LogOutput`: the text of lines and messages, in each format.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::value::RawValue;

use super::line_filter::{LastLevel, LineFilter};
use super::line_order::{TimelineItem, TimelineKind};
use super::names::ShortNames;
use crate::commands::failure_logs::ShownPart;
use crate::commands::{CommandError, Terminal};
use crate::logs::{JsonLine, LogLevel, level_of};
use crate::render::age;
use crate::render::canvas::Canvas;
use crate::render::display::{Line, LinePage, NoTerminal};
use crate::render::json;
use crate::render::json::RefRecord;
use crate::render::json::logs::{LogRecord, LogRecordKind, TimelineRecord, log_time};
use crate::render::log_text::{LogText, emphasised, log_line};
use crate::render::style::{Role, Styles};
use crate::render::text::Text;
use crate::source::ClusterId;
use crate::source::log::{LogContainer, LogEvent, LogInstance, LogLine};

/// The values of `-o`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::commands) enum LogFormat {
    /// Each line after the short name of its Pod and its container, if there are several
    #[default]
    Short,
    /// The bytes of each line and nothing else; on a terminal, control characters become visible
    Raw,
    /// One JSON record per line
    Json,
}

/// How lines are drawn.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(in crate::commands) struct LogLook {
    pub(in crate::commands) styles: Styles,
    pub(in crate::commands) format: LogFormat,
    /// Whether the lines are notes, which go to standard error.
    pub(in crate::commands) is_of_notes: bool,
    /// Whether bytes may go out as they are.
    pub(in crate::commands) raw: Option<NoTerminal>,
    pub(in crate::commands) timestamps: bool,
    /// The clock of a timeline: the time that stands before each line, even without `timestamps`.
    pub(in crate::commands) clock: Option<LineClock>,
    /// Whether kubectl's prefix stands before each line.
    pub(in crate::commands) prefix: bool,
    /// Whether Pods of several namespaces are shown.
    pub(in crate::commands) namespaces: bool,
}

/// How the times of a timeline are written.
#[derive(Clone, Debug)]
pub(in crate::commands) enum LineClock {
    /// The time of day, for people at a terminal.
    TimeOfDay(TimeZone),
    /// RFC 3339 in UTC.
    Rfc3339,
}

impl LineClock {
    /// The time of a line.
    fn of_line(&self, time: Timestamp) -> String {
        match self {
            LineClock::TimeOfDay(zone) => {
                let millis = time.subsec_nanosecond().max(0) / 1_000_000;
                format!("{}.{millis:03}", age::clock(time, zone))
            }
            LineClock::Rfc3339 => age::rfc3339_millis(time),
        }
    }

    /// The time of something that happened, in whole seconds, as wide as that of a line. It may be an interval.
    fn of_item(&self, item: &TimelineItem) -> String {
        let clock = |time| match self {
            LineClock::TimeOfDay(zone) => age::clock(time, zone),
            LineClock::Rfc3339 => age::rfc3339(time),
        };
        let start = clock(item.time);
        let end = item.until.map(clock).filter(|end| *end != start);
        let text = end.map_or(start.clone(), |end| format!("{start}–{end}"));
        let width = start.len() + ".000".len();
        format!("{text:width$}")
    }
}

impl LogLook {
    /// Whether the bytes of lines go out as they are.
    fn passes_bytes(&self) -> Option<NoTerminal> {
        self.raw.filter(|_| self.format == LogFormat::Raw)
    }
}

/// The lines that are to be printed, and what stands before them.
pub(in crate::commands) struct LogOutput {
    pub(in crate::commands) look: LogLook,
    filter: LineFilter,
    fields: Vec<String>,
    names: ShortNames,
    /// The short names of the clusters, if there are several.
    labels: BTreeMap<ClusterId, Arc<str>>,
    logs: BTreeMap<usize, ShownLog>,
    page: LinePage,
    /// The log of which a line was printed without its end.
    begun: Option<usize>,
}

/// A log of which lines are shown.
struct ShownLog {
    container: Arc<LogContainer>,
    instance: Option<Arc<LogInstance>>,
    level: LastLevel,
    /// The newest time of a line of that instance.
    newest: Option<Timestamp>,
    /// The instance that was read to its end last.
    ended: Option<Arc<str>>,
    /// What stands before its lines; `None` until the next line.
    prefix: Option<Line<'static>>,
    /// The line whose end has not come yet.
    long: Option<LongLine>,
}

/// A line that comes in parts. Its first part decides whether it is shown.
enum LongLine {
    /// It is not shown.
    Hidden,
    /// Its parts are printed as they come.
    Passed,
    /// Its first part waits for the number of bytes that it has more.
    Held(LogLine, u64),
}

/// Where a line begins that is printed in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineStart {
    /// With this part.
    Here,
    /// With a part before.
    Before,
}

/// The most bytes that are printed at once.
const PAGE: usize = 128 << 10;

impl LogOutput {
    pub(in crate::commands) fn new(
        look: LogLook,
        filter: LineFilter,
        fields: Vec<String>,
    ) -> LogOutput {
        LogOutput {
            look,
            filter,
            fields,
            names: ShortNames::default(),
            labels: BTreeMap::new(),
            logs: BTreeMap::new(),
            page: LinePage::default(),
            begun: None,
        }
    }

    /// Adds one of several clusters, and its short name.
    pub(in crate::commands) fn add_cluster(&mut self, cluster: ClusterId, label: Arc<str>) {
        self.labels.insert(cluster, label);
    }

    /// A container as messages name it: `pod/web-1 app`, after the cluster if there are several.
    pub(in crate::commands) fn name(&self, container: &LogContainer) -> String {
        if self.labels.contains_key(&container.cluster) {
            format!("{}: {container}", container.cluster.0)
        } else {
            container.to_string()
        }
    }

    /// Adds a log.
    pub(in crate::commands) fn add(&mut self, log: usize, container: Arc<LogContainer>) {
        self.names.add(&container);
        // Another Pod may make prefixes necessary.
        for log in self.logs.values_mut() {
            log.prefix = None;
        }
        let shown = ShownLog {
            container,
            instance: None,
            level: LastLevel::default(),
            newest: None,
            ended: None,
            prefix: None,
            long: None,
        };
        self.logs.insert(log, shown);
    }

    /// Forgets a log that has ended.
    pub(in crate::commands) fn remove(&mut self, log: usize) {
        self.logs.remove(&log);
    }

    /// The container of a log.
    pub(in crate::commands) fn container(&self, log: usize) -> Option<&Arc<LogContainer>> {
        Some(&self.logs.get(&log)?.container)
    }

    /// The lines that follow are of this instance.
    pub(in crate::commands) fn open(&mut self, log: usize, instance: &Arc<LogInstance>) {
        if let Some(shown) = self.logs.get_mut(&log) {
            let is_other = shown
                .instance
                .as_ref()
                .is_none_or(|known| known.id != instance.id);
            shown.newest = shown.newest.filter(|_| !is_other);
            shown.instance = Some(instance.clone());
            shown.level = LastLevel::default();
        }
    }

    /// Nothing more comes of this instance.
    pub(in crate::commands) fn end(&mut self, log: usize, instance: &Arc<LogInstance>) {
        if let Some(shown) = self.logs.get_mut(&log) {
            shown.ended = Some(instance.id.clone());
        }
    }

    /// Whether an answer about this instance has come.
    pub(in crate::commands) fn has_opened(&self, log: usize, instance: &str) -> bool {
        let present = self.logs.get(&log).and_then(|log| log.instance.as_ref());
        present.is_some_and(|present| *present.id == *instance)
    }

    /// Whether this instance was read to its end.
    pub(in crate::commands) fn has_ended(&self, log: usize, instance: &str) -> bool {
        let ended = self.logs.get(&log).and_then(|shown| shown.ended.as_deref());
        ended == Some(instance)
    }

    /// How much of the log of an instance was shown.
    pub(in crate::commands) fn shown_part(
        &self,
        container: &LogContainer,
        instance: &str,
    ) -> ShownPart {
        let mut logs = self.logs.values();
        let Some(shown) = logs.find(|shown| *shown.container == *container) else {
            return ShownPart::None;
        };
        let present = shown.instance.as_ref().map(|present| &*present.id);
        match shown.newest {
            _ if shown.ended.as_deref() == Some(instance) => ShownPart::Whole,
            Some(newest) if present == Some(instance) => ShownPart::Until(newest),
            Some(_) | None => ShownPart::None,
        }
    }

    /// Whether a page is full.
    pub(in crate::commands) fn is_full(&self) -> bool {
        self.page.len() >= PAGE
    }

    /// Prints what there is.
    pub(in crate::commands) fn flush(
        &mut self,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let page = std::mem::take(&mut self.page);
        if self.look.is_of_notes {
            return Ok(terminal.notify_page(&page)?);
        }
        Ok(terminal.print_page(&page)?)
    }

    /// Adds a line, or the next part of a long one, unless it is filtered out.
    pub(in crate::commands) fn line(&mut self, log: usize, line: &LogLine) {
        let Some(shown) = self.logs.get_mut(&log) else {
            return;
        };
        shown.newest = shown.newest.max(Some(line.time));
        match shown.long.take() {
            None if !self.filter.shows(&line.text, &mut shown.level) => {
                shown.long = (!line.ends).then_some(LongLine::Hidden);
            }
            None if self.look.passes_bytes().is_some() => self.pass(log, line, LineStart::Here),
            None if line.ends => self.print(log, line, 0),
            None => shown.long = Some(LongLine::Held(line.clone(), 0)),
            Some(LongLine::Hidden) => shown.long = (!line.ends).then_some(LongLine::Hidden),
            Some(LongLine::Passed) => self.pass(log, line, LineStart::Before),
            Some(LongLine::Held(start, more)) => {
                let more = more + line.text.len() as u64;
                if line.ends {
                    self.print(log, &start, more);
                } else {
                    shown.long = Some(LongLine::Held(start, more));
                }
            }
        }
    }

    /// Adds the bytes of a line as they are.
    fn pass(&mut self, log: usize, line: &LogLine, start: LineStart) {
        let Some((shown, allowed)) = self.logs.get_mut(&log).zip(self.look.passes_bytes()) else {
            return;
        };
        if self.begun.is_some_and(|begun| begun != log) {
            // The lines of others come between the parts of a long line.
            self.page.push_bytes(b"\n", allowed);
            self.begun = None;
        }
        if start == LineStart::Here || self.begun.is_none() {
            let label = self.labels.get(&shown.container.cluster);
            let before = raw_prefix(&self.look, label, &shown.container, line.time);
            self.page.push_bytes(before.as_bytes(), allowed);
        }
        self.page.push_bytes(&line.text, allowed);
        shown.long = (!line.ends).then_some(LongLine::Passed);
        self.begun = (!line.ends).then_some(log);
        if line.ends {
            self.page.push_bytes(b"\n", allowed);
        }
    }

    /// Adds a line that has this many more bytes, as people or programs read it.
    fn print(&mut self, log: usize, line: &LogLine, more: u64) {
        let Some(shown) = self.logs.get_mut(&log) else {
            return;
        };
        let whole = LogText {
            bytes: &line.text,
            more,
        };
        let look = &self.look;
        let label = self.labels.get(&shown.container.cluster);
        match look.format {
            LogFormat::Json => {
                let record = record_of(shown, line, more);
                self.page.push(&Line::plain(record));
            }
            LogFormat::Raw => {
                let before = raw_prefix(look, label, &shown.container, line.time);
                let before = [&Line::plain(before), &Line::default()];
                let line = log_line(look.styles, before, whole, |_| None);
                self.page.push(&line);
            }
            LogFormat::Short => {
                let names = &self.names;
                let prefix = shown.prefix.get_or_insert_with(|| {
                    let prefix = short_prefix(look, names, &shown.container);
                    look.styles.text(labelled(label, prefix))
                });
                let text = fields_of(&self.fields, &line.text);
                let time = match &look.clock {
                    _ if look.timestamps => Text::dim(log_time(line.time)) + " ",
                    Some(clock) => Text::dim(clock.of_line(line.time)) + "  ",
                    None => Text::default(),
                };
                let time = look.styles.text(time);
                let before = if look.timestamps {
                    [&*prefix, &time]
                } else {
                    [&time, &*prefix]
                };
                let paint = |text: &str| painted(look.styles, &self.filter, text, &line.text);
                let text = LogText { bytes: &text, more };
                self.page.push(&log_line(look.styles, before, text, paint));
            }
        }
    }

    /// Adds something that happened between the lines. On a screen, it breaks at blanks.
    pub(in crate::commands) fn item(
        &mut self,
        cluster: &ClusterId,
        item: &TimelineItem,
        canvas: Canvas,
    ) {
        if self.look.format == LogFormat::Json {
            let record = TimelineRecord {
                v: json::VERSION,
                kind: item.kind.word(),
                time: age::rfc3339_millis(item.time),
                until: item.until.map(age::rfc3339_millis),
                object_ref: RefRecord::new(&*cluster.0, &item.object),
                managers: item.who.as_deref(),
                message: item.text.as_str(),
            };
            self.page.push(&Line::plain(json::line(&record)));
            return;
        }
        let clock = self.look.clock.as_ref();
        let time = clock.map(|clock| clock.of_item(item)).unwrap_or_default();
        let role = match item.kind {
            TimelineKind::Event => Role::Warning,
            TimelineKind::Change => Role::Changed,
            TimelineKind::Status if item.is_bad => Role::Bad,
            TimelineKind::Status => Role::Dim,
        };
        let namespace = item
            .object
            .namespace
            .as_ref()
            .filter(|_| self.look.namespaces);
        let namespace = namespace.map(|namespace| format!(" -n {namespace}"));
        let who = item.who.as_ref().map(|who| Text::dim(who) + "  ");
        let kind = Text::new(role, item.kind.word());
        let text = labelled(self.labels.get(cluster), kind)
            + "  "
            + Text::new(Role::Name, item.object.to_string())
            + namespace.unwrap_or_default()
            + "  "
            + who.unwrap_or_default()
            + &item.text;
        for line in canvas.wrapped(Text::dim(time) + "  ", text) {
            self.page.push(&canvas.look.styles.text(line));
        }
    }

    /// Adds the record of an event that is no line.
    pub(in crate::commands) fn record(&mut self, log: usize, event: &LogEvent, message: String) {
        let Some(shown) = self.logs.get(&log) else {
            return;
        };
        let (kind, name) = match event {
            LogEvent::Opened(_) => (LogRecordKind::Source, "opened"),
            LogEvent::Ended(..) => (LogRecordKind::Source, "ended"),
            LogEvent::Notice(_) | LogEvent::Retrying(_) => (LogRecordKind::Source, "notice"),
            LogEvent::Refused(_) => (LogRecordKind::Source, "refused"),
            LogEvent::Polled => (LogRecordKind::Source, "polled"),
            LogEvent::Gap(_) => (LogRecordKind::Gap, "gap"),
            LogEvent::Line(_) | LogEvent::Quiet => return,
        };
        let mut record = LogRecord::new(kind, &shown.container);
        record.instance = shown.instance.as_ref().map(|instance| &*instance.id);
        record.event = (kind == LogRecordKind::Source).then_some(name);
        record.message = Some(message);
        if let LogEvent::Gap(gap) = event {
            record.after = Some(log_time(gap.after));
            record.upto = gap.upto.map(log_time);
        }
        self.page.push(&Line::plain(json::line(&record)));
    }
}

fn record_of(shown: &ShownLog, line: &LogLine, more: u64) -> String {
    let mut record = LogRecord::new(LogRecordKind::Log, &shown.container);
    record.time = Some(log_time(line.time));
    record.instance = shown.instance.as_ref().map(|instance| &*instance.id);
    record.cut = (more > 0).then_some(more);
    let object = JsonLine::parse(&line.text).filter(|_| more == 0);
    record.fields = object
        .as_ref()
        .and_then(|object| serde_json::from_str::<&RawValue>(object.text()).ok());
    if record.fields.is_none() {
        record.line = Some(String::from_utf8_lossy(&line.text));
    }
    json::line(&record)
}

/// `[pod/NAME/CONTAINER] `, and the time, as kubectl writes them. The cluster comes first, if there are several.
fn raw_prefix(
    look: &LogLook,
    label: Option<&Arc<str>>,
    container: &LogContainer,
    time: Timestamp,
) -> String {
    let mut before = String::new();
    if look.prefix {
        if let Some(label) = label {
            let _infallible = write!(before, "{label} ");
        }
        let _infallible = write!(before, "[pod/{}/{}] ", container.pod.name, container.name);
    }
    if look.timestamps {
        let _infallible = write!(before, "{time:.9} ");
    }
    before
}

/// A text after the short name of its cluster, if there are several.
fn labelled(label: Option<&Arc<str>>, text: Text) -> Text {
    match label {
        Some(label) => Text::dim(label) + " " + text,
        None => text,
    }
}

/// What stands before the lines of a container: the parts that tell it from the others.
fn short_prefix(look: &LogLook, names: &ShortNames, container: &LogContainer) -> Text {
    let number = names.of(container).map_or(0, |name| name.number);
    if look.prefix {
        let prefix = format!("[pod/{}/{}]", container.pod.name, container.name);
        return Text::new(Role::Source(number), prefix) + " ";
    }
    let mut prefix = Text::default();
    if names.has_pods()
        && let Some(name) = names.of(container)
    {
        let namespace = container
            .pod
            .namespace
            .as_deref()
            .filter(|_| look.namespaces);
        let namespace = namespace.map(|namespace| format!("{namespace}/"));
        let name = format!("{}{}", namespace.unwrap_or_default(), name.text);
        prefix = prefix + Text::new(Role::Source(number), name) + " ";
    }
    if names.has_containers() {
        prefix = prefix + Text::dim(&container.name) + " ";
    }
    prefix
}

/// The requested fields of a line that is JSON and has one of them, or else the line.
fn fields_of<'l>(fields: &[String], line: &'l [u8]) -> Cow<'l, [u8]> {
    let object = if fields.is_empty() {
        None
    } else {
        JsonLine::parse(line)
    };
    let Some(object) = object else {
        return Cow::Borrowed(line);
    };
    let found: Vec<Cow<'_, str>> = fields
        .iter()
        .filter_map(|field| object.field(field))
        .collect();
    if found.is_empty() {
        return Cow::Borrowed(line);
    }
    Cow::Owned(found.join(" ").into_bytes())
}

/// The text with its matches emphasised, or else in the colour of its level; `None` to leave it as it is.
fn painted(styles: Styles, filter: &LineFilter, text: &str, line: &[u8]) -> Option<String> {
    if styles.is_plain() {
        return None;
    }
    let matches = filter.matches(text);
    if !matches.is_empty() {
        return Some(emphasised(styles, text, matches));
    }
    // A program that paints its lines knows better.
    if text.contains('\u{1b}') {
        return None;
    }
    let role = match level_of(line)? {
        LogLevel::Error => Role::Bad,
        LogLevel::Warn => Role::Warning,
        LogLevel::Debug => Role::Dim,
        LogLevel::Info => return None,
    };
    Some(styles.paint(role, text))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::commands::container_lines::line_order::testing::{container, item};
    use crate::render::style::testing::{ansi, explain};
    use crate::render::style::{Look, Symbols};

    fn output(styles: Styles, format: LogFormat) -> LogOutput {
        let look = LogLook {
            styles,
            format,
            is_of_notes: false,
            raw: NoTerminal::of(false),
            timestamps: false,
            clock: None,
            prefix: false,
            namespaces: false,
        };
        LogOutput::new(
            look,
            LineFilter::default(),
            vec!["msg".to_owned(), "err.code".to_owned()],
        )
    }

    /// The text of these lines, each of the log of this number.
    fn shown(mut output: LogOutput, lines: &[(usize, &[u8])]) -> String {
        for (log, line) in lines {
            let text = Bytes::copy_from_slice(line);
            output.line(
                *log,
                &LogLine {
                    time: Timestamp::UNIX_EPOCH,
                    text,
                    ends: true,
                },
            );
        }
        explain(&String::from_utf8_lossy(output.page.bytes()))
    }

    const LINES: [(usize, &[u8]); 5] = [
        (0, b"plain"),
        (1, b"ERROR no"),
        (0, b"a\x1b[32mb\rc"),
        (1, br#"{"msg":"said","err":{"code":7}}"#),
        (0, b""),
    ];

    #[test]
    fn lines_of_several_pods_have_short_names() {
        let mut output = output(ansi(), LogFormat::Short);
        output.add(0, container("api-7d9c-x2k1", "app"));
        output.add(1, container("api-7d9c-zz9p", "app"));
        insta::assert_snapshot!(shown(output, &LINES), @r"
        (cyan)x2k1(normal) plain
        (green)zz9p(normal) (red)ERROR no(normal)
        (cyan)x2k1(normal) a(green)b\rc(normal)
        (green)zz9p(normal) said 7
        (cyan)x2k1(normal)
        ");
    }

    #[test]
    fn one_container_has_no_prefix() {
        let mut output = output(Styles::PLAIN, LogFormat::Short);
        output.add(0, container("api-7d9c-x2k1", "app"));
        assert_eq!(
            shown(output, &[(0, b"one"), (0, b"\x1b[1mtwo")]),
            "one\ntwo\n"
        );
    }

    #[test]
    fn raw_lines_are_their_bytes() {
        let mut output = output(Styles::PLAIN, LogFormat::Raw);
        output.add(0, container("api-7d9c-x2k1", "app"));
        output.add(1, container("api-7d9c-zz9p", "app"));
        let text = Bytes::from_static(b"a\x1b[2J\xff\r");
        output.line(
            0,
            &LogLine {
                text,
                ..part("", true)
            },
        );
        assert_eq!(output.page.bytes(), b"a\x1b[2J\xff\r\n");
    }

    fn part(text: &str, ends: bool) -> LogLine {
        LogLine {
            time: Timestamp::UNIX_EPOCH,
            text: Bytes::copy_from_slice(text.as_bytes()),
            ends,
        }
    }

    /// What is printed of these parts of lines. `.` ends a line.
    fn shown_of_parts(mut output: LogOutput, parts: &[(usize, &str)]) -> String {
        output.add(0, container("api-7d9c-x2k1", "app"));
        output.add(1, container("api-7d9c-zz9p", "app"));
        for (log, text) in parts {
            let line = match text.strip_suffix('.') {
                Some(text) => part(text, true),
                None => part(text, false),
            };
            output.line(*log, &line);
        }
        String::from_utf8_lossy(output.page.bytes()).into_owned()
    }

    #[test]
    fn the_parts_of_a_long_line_are_one_line() {
        let parts = [(0, "ab"), (0, "cd"), (1, "other."), (0, "."), (0, "next.")];
        let whole = [(0, "ab"), (0, "cd"), (0, "e."), (1, "other.")];
        for (format, parts, expect) in [
            (LogFormat::Raw, &whole[..], "abcde\nother\n"),
            // Lines of others break it.
            (LogFormat::Raw, &parts, "abcd\nother\n\nnext\n"),
            (
                LogFormat::Short,
                &parts,
                "zz9p other\nx2k1 ab … +2 bytes\nx2k1 next\n",
            ),
        ] {
            let shown = shown_of_parts(output(Styles::PLAIN, format), parts);
            assert_eq!(shown, expect, "{format:?}");
        }
        let json = shown_of_parts(
            output(Styles::PLAIN, LogFormat::Json),
            &[(0, "{}"), (0, "x.")],
        );
        assert!(json.contains(r#""line":"{}","cut":1}"#), "{json}");
    }

    #[test]
    fn the_first_part_of_a_long_line_decides_whether_it_is_shown() {
        let mut output = output(Styles::PLAIN, LogFormat::Raw);
        let grep = ["yes".to_owned()];
        output.filter = LineFilter::parse(&grep, &[], &[], None).expect("a regular expression");
        let parts = [(0, "no"), (0, "yes."), (0, "yes"), (0, "no."), (0, "no.")];
        assert_eq!(shown_of_parts(output, &parts), "yesno\n");
    }

    #[test]
    fn records_hold_the_line_or_its_fields() {
        let mut output = output(Styles::PLAIN, LogFormat::Json);
        output.add(0, container("api", "app"));
        let lines: [(usize, &[u8]); 2] = [(0, b"a\xff\x1b"), (0, br#"{"level":"info","n":1.50}"#)];
        insta::assert_snapshot!(shown(output, &lines), @r#"
        {"v":1,"type":"log","time":"1970-01-01T00:00:00.000000000Z","cluster":"test","namespace":"shop","pod":"api","container":"app","line":"a�\u001b"}
        {"v":1,"type":"log","time":"1970-01-01T00:00:00.000000000Z","cluster":"test","namespace":"shop","pod":"api","container":"app","fields":{"level":"info","n":1.50}}
        "#);
    }

    #[test]
    fn what_happened_breaks_at_blanks_on_a_screen() {
        let mut output = output(ansi(), LogFormat::Short);
        output.look.clock = Some(LineClock::TimeOfDay(TimeZone::UTC));
        let happened = TimelineItem {
            is_bad: true,
            who: Some("kubelet\u{1b}[2J".to_owned()),
            ..item("CrashLoopBackOff 0/1 restarts 1 (was Error 0/1)")
        };
        for width in [None, Some(60)] {
            let look = Look {
                width,
                styles: ansi(),
                symbols: &Symbols::UNICODE,
            };
            let canvas = Canvas::unbounded(look, Timestamp::UNIX_EPOCH);
            output.item(&ClusterId("test".into()), &happened, canvas);
        }
        insta::assert_snapshot!(shown(output, &[]), @r"
        (dim)00:00:00    (normal)  (red)status(normal)  (bold)pod/api-7d9c-x2k1(normal)  (dim)kubelet^[[2J(normal)  CrashLoopBackOff 0/1 restarts 1 (was Error 0/1)
        (dim)00:00:00    (normal)  (red)status(normal)  (bold)pod/api-7d9c-x2k1(normal)  (dim)kubelet^[[2J(normal)
                      CrashLoopBackOff 0/1 restarts 1 (was Error
                      0/1)
        ");
    }

    #[test]
    fn kubectls_prefix_is_as_kubectl_writes_it() {
        let mut output = output(Styles::PLAIN, LogFormat::Short);
        output.look.prefix = true;
        output.look.timestamps = true;
        output.add(0, container("api", "app"));
        assert_eq!(
            shown(output, &[(0, b"x")]),
            "[pod/api/app] 1970-01-01T00:00:00.000000000Z x\n"
        );
    }
}
