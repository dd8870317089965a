//! `Store`: the directory with the files of all recorders, a folder for each cluster, and how long it keeps them.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::error::StoreError;
use super::schema::DRAFT;
use super::sealer::SecretKey;

/// The file with the key of the store.
const KEY: &str = "key";
/// What the name of a file of a record ends with.
const EXTENSION: &str = "spy";

/// The names of files have milliseconds.
pub(super) const MILLISECOND: SignedDuration = SignedDuration::from_millis(1);

/// The directory of a store.
#[derive(Clone)]
pub struct Store {
    path: PathBuf,
    pub(super) key: SecretKey,
}

impl Store {
    /// Opens the store in a directory, or creates it. Only its owner can read it.
    pub fn create(path: &Path) -> Result<Store, StoreError> {
        create_directory(path).map_err(|error| StoreError::io(path, error))?;
        let key = path.join(KEY);
        let made = make_key(path, &key).and_then(|()| read_key(&key));
        Ok(Store {
            path: path.to_owned(),
            key: made.map_err(|error| StoreError::io(&key, error))?,
        })
    }

    /// Whether a path is that of a store, which may be one that this user cannot read.
    pub fn is_at(path: &Path) -> bool {
        let key = read_key(&path.join(KEY));
        let is_locked = |error: io::Error| error.kind() == ErrorKind::PermissionDenied;
        key.is_ok() || key.is_err_and(is_locked) && path.is_dir()
    }

    /// Opens the store in a directory.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let key = path.join(KEY);
        match read_key(&key) {
            Ok(key) => Ok(Store {
                path: path.to_owned(),
                key,
            }),
            Err(error) if is_missing(&error) => {
                let path = path.to_owned();
                match fs::metadata(&path) {
                    Err(error) if is_missing(&error) => Err(StoreError::Absent { path }),
                    _ => Err(StoreError::NoStore { path }),
                }
            }
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                Err(StoreError::io(path, error))
            }
            Err(error) => Err(StoreError::io(&key, error)),
        }
    }

    /// The folders of its clusters, by their ids.
    pub fn clusters(&self) -> Result<Vec<ClusterFiles>, StoreError> {
        let inside = entries(&self.path)?.into_iter();
        // The list of one that cannot be read is an error.
        let is_file = |path: &PathBuf| fs::metadata(path).is_ok_and(|about| !about.is_dir());
        let folders = inside.filter(|path| !is_file(path));
        Ok(folders.map(|path| ClusterFiles { path }).collect())
    }

    /// The folder of a cluster, which may not exist yet.
    pub fn cluster(&self, id: &str) -> ClusterFiles {
        Store::files_at(&self.path, id)
    }

    /// The folder of a cluster in a directory, neither of which need exist yet.
    pub fn files_at(directory: &Path, id: &str) -> ClusterFiles {
        // An id is a uid or a hash. No other text becomes a path.
        let name: String = id
            .chars()
            .map(|letter| match letter {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => letter,
                _ => '_',
            })
            .collect();
        let path = directory.join(name);
        ClusterFiles { path }
    }
}

/// The files of one cluster, whichever recorder wrote them.
#[derive(Clone, Debug)]
pub struct ClusterFiles {
    pub(super) path: PathBuf,
}

/// A file of a record.
#[derive(Clone, Debug)]
pub struct StoreFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes, with the log beside it.
    pub bytes: u64,
    /// When it was last written; `None` if the system does not say.
    pub written: Option<Timestamp>,
}

impl ClusterFiles {
    /// Its files, the oldest first. A folder that does not exist has none.
    pub fn list(&self) -> Result<Vec<StoreFile>, StoreError> {
        self.with_extension(EXTENSION)
    }

    /// The files that recorders were about to begin, the oldest first. Nothing is recorded in them.
    fn drafts(&self) -> Result<Vec<StoreFile>, StoreError> {
        self.with_extension(DRAFT)
    }

    fn with_extension(&self, extension: &str) -> Result<Vec<StoreFile>, StoreError> {
        let files = self.entries()?.into_iter();
        let files = files.filter(|path| path.extension().is_some_and(|it| it == extension));
        let files = files.map(StoreFile::of).filter_map(Result::transpose);
        files.collect()
    }

    /// What is in the folder, which may not exist.
    fn entries(&self) -> Result<Vec<PathBuf>, StoreError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if is_missing(&error) => Ok(Vec::new()),
            _ => entries(&self.path),
        }
    }

    /// The logs of SQLite whose file is not there: a copy or a deletion has separated them, and nobody can read them.
    pub fn lost_logs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let suffix = format!(".{EXTENSION}-wal");
        let file_of = |log: &PathBuf| {
            let name = log.file_name()?.to_str()?.strip_suffix(&suffix)?;
            Some(log.with_file_name(format!("{name}.{EXTENSION}")))
        };
        let is_gone = |path: PathBuf| fs::symlink_metadata(path).is_err_and(|it| is_missing(&it));
        let mut logs = self.entries()?;
        logs.retain(|log| file_of(log).is_some_and(is_gone) && has_content(log));
        Ok(logs)
    }

    /// A path for a new file of a recorder. The names of files are in the order in which they began, even after a clock has
    /// been set back.
    pub(super) fn new_file(&self, now: Timestamp, recorder: &str) -> Result<PathBuf, StoreError> {
        create_directory(&self.path).map_err(|error| StoreError::io(&self.path, error))?;
        let files = self.list()?;
        let newest = files.iter().filter_map(StoreFile::begun).max();
        let after = newest.and_then(|newest| newest.checked_add(MILLISECOND).ok());
        let time = after.map_or(now, |after| after.max(now));
        let time = time.strftime("%Y%m%dT%H%M%S%3f");
        Ok(self.path.join(format!("{time}-{recorder}.{EXTENSION}")))
    }
}

impl StoreFile {
    /// `None` if the file is gone. A link to nowhere is a file that cannot be read.
    fn of(path: PathBuf) -> Result<Option<StoreFile>, StoreError> {
        match fs::symlink_metadata(&path) {
            Err(error) if is_missing(&error) => return Ok(None),
            about => about.map_err(|error| StoreError::io(&path, error))?,
        };
        let files = [path.clone(), beside(&path, "-wal")];
        let found: Vec<fs::Metadata> = files
            .iter()
            .filter_map(|path| fs::metadata(path).ok())
            .collect();
        let time = |time: SystemTime| Timestamp::try_from(time).ok();
        let written = found.iter().filter_map(|file| time(file.modified().ok()?));
        Ok(Some(StoreFile {
            bytes: found.iter().map(fs::Metadata::len).sum(),
            written: written.max(),
            path,
        }))
    }

    /// Whether it was written so lately that a recorder may still write to it.
    pub fn is_in_use(&self, now: Timestamp) -> bool {
        let age = self.written.map(|written| now.duration_since(written));
        age.is_none_or(|age| age <= IN_USE)
    }

    /// When it begins, by its name.
    pub fn begun(&self) -> Option<Timestamp> {
        begun(&self.path)
    }

    /// Deletes the file, with what SQLite keeps beside it.
    pub fn remove(&self) -> Result<(), StoreError> {
        StoreFile::remove_at(&self.path)
    }

    /// Deletes the file at a path, with what SQLite keeps beside it. A file that cannot be deleted keeps its log, which has its
    /// newest versions. A deletion that is cut short leaves no log that looks like one of a file.
    pub(super) fn remove_at(path: &Path) -> Result<(), StoreError> {
        let (log, aside) = (beside(path, "-wal"), beside(path, "-wal-deleted"));
        let done = |path: &Path, done: io::Result<()>| match done {
            Err(error) if !is_missing(&error) => Err(StoreError::io(path, error)),
            Ok(()) | Err(_) => Ok(()),
        };
        done(&log, fs::rename(&log, &aside))?;
        let removed = done(path, fs::remove_file(path));
        if removed.is_err() {
            done(&log, fs::rename(&aside, &log))?;
            return removed;
        }
        for path in [beside(path, "-shm"), aside] {
            done(&path, fs::remove_file(&path))?;
        }
        Ok(())
    }
}

/// How long a store keeps what it has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// How long ago a file may have ended.
    pub keep: Duration,
    /// How many bytes the files of a cluster may have together.
    pub max_bytes: u64,
}

/// A file that was written so lately may belong to another recorder that still runs.
const IN_USE: SignedDuration = SignedDuration::from_mins(2);

/// How many files a record has at least when it reaches its size: the smaller a file, the less is deleted at once.
const FILES: u64 = 8;

/// A file is never larger than this.
const LARGEST: u64 = 512 << 20;

impl RetentionPolicy {
    /// Keeps everything.
    pub(super) const FOREVER: RetentionPolicy = RetentionPolicy {
        keep: Duration::MAX,
        max_bytes: u64::MAX,
    };

    /// The size at which a recorder begins another file.
    pub(super) fn file_bytes(&self) -> u64 {
        (self.max_bytes / FILES).clamp(1 << 20, LARGEST)
    }

    /// Deletes the files that are too old or too many, but not those that are being written, and what killed recorders have
    /// left. A file that cannot be deleted takes its room from the others; the error is that of the first one. `now` is by this
    /// machine's clock, as the times of files are.
    pub fn apply(
        &self,
        files: &ClusterFiles,
        written: &[&Path],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let drafts = files.drafts()?;
        let mut left = drafts.iter().filter(|file| !file.is_in_use(now));
        let removed = left.try_for_each(StoreFile::remove);
        let expired = self.expire(&files.list()?, now, |file| {
            if written.contains(&&*file.path) {
                return Ok(());
            }
            file.remove()
        });
        expired.and(removed)
    }

    /// Removes files, which are ordered by their age.
    fn expire(
        &self,
        files: &[StoreFile],
        now: Timestamp,
        mut remove: impl FnMut(&StoreFile) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let keep = SignedDuration::try_from(self.keep).unwrap_or(SignedDuration::MAX);
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        let mut done = Ok(());
        for file in files {
            let age = file.written.map(|written| now.duration_since(written));
            let is_idle = !file.is_in_use(now);
            let is_old = age.is_some_and(|age| age > keep);
            if is_idle && (is_old || total > self.max_bytes) {
                match remove(file) {
                    Ok(()) => total = total.saturating_sub(file.bytes),
                    Err(error) => done = done.and(Err(error)),
                }
            }
        }
        done
    }
}

/// When the file at a path begins, by its name.
pub(super) fn begun(path: &Path) -> Option<Timestamp> {
    let name = path.file_stem()?.to_str()?;
    let (time, _) = name.split_once('-')?;
    let (seconds, millis) = time.split_at_checked(15)?;
    let seconds = DateTime::strptime("%Y%m%dT%H%M%S", seconds).ok()?;
    let time = seconds.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let millis = SignedDuration::from_millis(millis.parse().ok()?);
    time.checked_add(millis).ok()
}

/// Whether a log has content. One about which the system does not say it may have some.
pub(super) fn has_content(log: &Path) -> bool {
    match fs::metadata(log) {
        Ok(about) => about.len() > 0,
        Err(error) => !is_missing(&error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn entries(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let read = fs::read_dir(path).and_then(|inside| {
        let paths = inside.map(|entry| Ok(entry?.path()));
        paths.collect::<io::Result<Vec<_>>>()
    });
    let mut paths = read.map_err(|error| StoreError::io(path, error))?;
    paths.sort();
    Ok(paths)
}

fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn read_key(path: &Path) -> io::Result<SecretKey> {
    // A pipe would wait for a writer without end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidData, "not a file"));
    }
    let text = fs::read_to_string(path)?;
    SecretKey::parse(&text)
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "not the key of a record"))
}

/// Writes a random key, unless there is one. Of two recorders that start at once, the first one's key stays.
fn make_key(store: &Path, path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let key = SecretKey::random().ok_or_else(|| io::Error::other("no random numbers"))?;
    let draft = store.join(format!("{KEY}-{:016x}", fastrand::u64(..)));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&draft)?;
    let written = writeln!(file, "{}", key.to_text()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&draft, path));
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which files are deleted, of some with this age in hours and this size. That of `stuck` cannot be deleted.
    fn check(files: &[(&str, i64, u64)], stuck: &str, expected: &[&str]) {
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
        let files: Vec<StoreFile> = files
            .iter()
            .map(|&(name, age, bytes)| StoreFile {
                path: name.into(),
                bytes,
                written: now.checked_sub(SignedDuration::from_hours(age)).ok(),
            })
            .collect();
        let retention = RetentionPolicy {
            keep: Duration::from_secs(72 * 3600),
            max_bytes: 100,
        };
        let (mut names, mut failures) = (Vec::new(), 0);
        let done = retention.expire(&files, now, |file| {
            if file.path == Path::new(stuck) {
                failures += 1;
                return Err(StoreError::io(
                    &file.path,
                    ErrorKind::PermissionDenied.into(),
                ));
            }
            names.extend(file.path.to_str().map(str::to_owned));
            Ok(())
        });
        assert_eq!(names, expected);
        assert_eq!(done.is_err(), failures > 0, "{done:?}");
    }

    #[test]
    fn a_file_comes_after_those_that_began_before_it() {
        let folder = super::super::tests::Folder::new();
        let store = Store::create(folder.path()).expect("a store");
        let cluster = store.cluster("c1");
        let mut names = Vec::new();
        // A clock that stands still, one that is set back, and one that goes on.
        for (time, recorder) in [
            ("2026-03-02T12:00:00Z", "b"),
            ("2026-03-02T12:00:00Z", "a"),
            ("2026-03-02T09:00:00Z", "c"),
            ("2026-03-02T13:00:00Z", "d"),
        ] {
            let now = time.parse().expect("a time");
            let path = cluster.new_file(now, recorder).expect("a path");
            fs::write(&path, "").expect("written");
            names.push(path);
        }
        let listed = cluster.list().expect("files").into_iter();
        assert_eq!(listed.map(|file| file.path).collect::<Vec<_>>(), names);
    }

    #[test]
    fn what_killed_recorders_have_left_is_deleted_when_it_is_old() {
        let folder = super::super::tests::Folder::new();
        let store = Store::create(folder.path()).expect("a store");
        let cluster = store.cluster("c1");
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
        let path = cluster.new_file(now, "a").expect("a path");
        for (name, minutes) in [("1.new", 1), ("2.new", 3)] {
            let file = fs::File::create(path.with_extension(name)).expect("a file");
            let written = now.checked_sub(SignedDuration::from_mins(minutes));
            let written = SystemTime::from(written.expect("a time"));
            file.set_modified(written).expect("a time of change");
        }
        assert_eq!(cluster.list().expect("files").len(), 0);
        let kept = RetentionPolicy::FOREVER.apply(&cluster, &[&path], now);
        kept.expect("deleted");
        let left = cluster.drafts().expect("files").into_iter();
        let left: Vec<PathBuf> = left.map(|file| file.path).collect();
        assert_eq!(left, [path.with_extension("1.new")]);
    }

    #[test]
    fn a_file_that_cannot_be_deleted_keeps_its_log() {
        let folder = super::super::tests::Folder::new();
        Store::create(folder.path()).expect("a store");
        let path = folder.path().join("a.spy");
        let log = beside(&path, "-wal");
        fs::create_dir_all(&path).expect("a directory cannot be deleted as a file");
        fs::write(&log, "versions").expect("written");
        assert!(StoreFile::remove_at(&path).is_err());
        assert_eq!(fs::read(&log).expect("a log"), b"versions");
        fs::remove_dir(&path).expect("removed");
        fs::write(&path, "").expect("written");
        StoreFile::remove_at(&path).expect("deleted");
        let left = fs::read_dir(folder.path()).expect("a directory").flatten();
        let left = left.filter(|it| it.file_name().to_string_lossy().starts_with("a.spy"));
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn whole_files_are_deleted_by_age_and_by_size() {
        check(&[], "", &[]);
        check(&[("a", 80, 10), ("b", 60, 10), ("c", 0, 10)], "", &["a"]);
        check(
            &[("a", 60, 60), ("b", 50, 60), ("c", 0, 60)],
            "",
            &["a", "b"],
        );
        check(&[("a", 60, 60), ("b", 50, 30), ("c", 0, 30)], "", &["a"]);
        // Another recorder writes to the oldest file.
        check(&[("a", 0, 60), ("b", 50, 60)], "", &["b"]);
    }

    #[test]
    fn a_file_that_cannot_be_deleted_takes_the_room_of_others() {
        let files = [("a", 80, 60), ("b", 60, 30), ("c", 50, 30)];
        check(&files, "a", &["b"]);
        check(&files, "b", &["a"]);
    }
}
