//! `RecordReplay`: writes the entries of another recorder's file into a store, as if that recorder had written it there.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::block::RecordedWhy;
use super::entry::{EntryContent, RecordEntry};
use super::error::StoreError;
use super::file_reader::{RecordedVersion, StoreFileReader};
use super::mark::Mark;
use super::recording::{RecordOptions, Recording};
use super::store::{ClusterFiles, RetentionPolicy, Store, StoreFile};
use super::tail::RecordHeading;
use crate::source::Why;

/// A file of another recorder that is being written here.
pub struct RecordReplay {
    recording: Recording,
}

impl RecordReplay {
    /// Begins the file. `recorder` is the name of the other recorder.
    pub fn begin(
        store: &Store,
        heading: RecordHeading,
        recorder: &str,
    ) -> Result<RecordReplay, StoreError> {
        let started = heading.started;
        let options = RecordOptions {
            store: store.clone(),
            cluster: heading.cluster,
            // Files are deleted by the time of this machine, and not by that of the entries: `RetentionPolicy::apply`.
            retention: RetentionPolicy::FOREVER,
            resumed: HashMap::new(),
            redactions: heading.redactions,
            clock: Arc::new(move || started),
            local_clock: Arc::new(move || started),
        };
        let name = recorder_name(recorder);
        let recording = Recording::begin_copy(name, options)?;
        Ok(RecordReplay { recording })
    }

    /// Continues what was last written of this recorder, in a file that begins with its last state. `None` if there is none.
    pub fn resume(
        store: &Store,
        cluster: &str,
        recorder: &str,
    ) -> Result<Option<RecordReplay>, StoreError> {
        let Some(mut reader) = newest_of(&store.cluster(cluster), recorder)? else {
            return Ok(None);
        };
        let heading = RecordHeading {
            cluster: reader.cluster().clone(),
            started: reader.started(),
            redactions: reader.redactions().to_vec(),
        };
        let mut replay = RecordReplay::begin(store, heading, recorder)?;
        if let Err(error) = replay.copy_state(&mut reader) {
            let path = replay.recording.file()?.to_owned();
            drop(replay);
            let _kept = StoreFile::remove_at(&path);
            return Err(error);
        }
        Ok(Some(replay))
    }

    /// Writes the last state of a file.
    fn copy_state(&mut self, reader: &mut StoreFileReader) -> Result<(), StoreError> {
        for source in reader.sources().to_vec() {
            let key = Arc::new(source.key.clone());
            let mut add = |content| self.recording.replay(&key, &content);
            let states = reader.marks_of(&source)?.into_iter().rev();
            let mut states = states.filter(|(_, _, mark)| matches!(mark, Mark::State { .. }));
            if let Some((_, seen, mark)) = states.next() {
                add(EntryContent::Mark { seen, mark })?;
            }
            let Some(known) = reader.last_state(&source)? else {
                continue;
            };
            let (seen, version, count) = (known.at, known.version, known.objects.len());
            let mark = Mark::Resumed {
                version: version.clone(),
            };
            add(EntryContent::Mark { seen, mark })?;
            for (version, seen) in known.objects {
                let why = RecordedWhy {
                    why: Why::Listed,
                    past: false,
                };
                add(EntryContent::Version(RecordedVersion {
                    why,
                    seen,
                    version,
                }))?;
            }
            if let Some((seen, mark)) = reader.last_lost(&source)? {
                add(EntryContent::Mark { seen, mark })?;
            }
            let mark = Mark::Synced { count, version };
            add(EntryContent::Mark { seen, mark })?;
        }
        self.save()?;
        Ok(())
    }

    /// Takes the next entry.
    pub fn take(&mut self, entry: &RecordEntry) -> Result<(), StoreError> {
        self.recording.replay(&entry.source, &entry.content)
    }

    /// Writes everything to the disk. Returns the file. After an error nothing more can be written.
    pub fn save(&mut self) -> Result<&Path, StoreError> {
        self.recording.save()
    }

    /// Writes the rest, and ends the file.
    pub fn finish(self) -> Result<(), StoreError> {
        self.recording.file()?;
        self.recording.finish()
    }
}

#[cfg(test)]
impl RecordReplay {
    /// Makes the disk full after this many pages of the file.
    pub(crate) fn limit_pages(&self, pages: u32) {
        self.recording.limit_pages(pages);
    }
}

/// A name of a recorder, which becomes a part of a path.
fn recorder_name(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    letters.take(16).collect()
}

/// The newest file of this recorder in which something is recorded, or else the newest one. A reader that was killed while it
/// began a file has left one without a source.
fn newest_of(files: &ClusterFiles, recorder: &str) -> Result<Option<StoreFileReader>, StoreError> {
    let end = format!("-{}", recorder_name(recorder));
    let is_own = |path: &Path| {
        let name = path.file_stem().and_then(|name| name.to_str());
        name.is_some_and(|name| name.ends_with(&end))
    };
    let mut begun = None;
    for file in files.list()?.into_iter().rev() {
        if !is_own(&file.path) {
            continue;
        }
        match StoreFileReader::open(&file.path) {
            Ok(reader) if reader.sources().is_empty() => {
                begun.get_or_insert(reader);
            }
            reader => return reader.map(Some),
        }
    }
    Ok(begun)
}

/// What a file is called by its recorder: its name, and that of the recorder.
pub fn recorder_of(path: &Path) -> Option<(String, String)> {
    let name = path.file_stem()?.to_str()?;
    let (_, recorder) = name.split_once('-')?;
    Some((name.to_owned(), recorder.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::progress::SharedProgress;
    use super::super::tests::played_faults::{WallClock, options};
    use super::super::tests::{Folder, start};
    use super::*;

    /// Only a power failure could show it. A recorder reads what a power failure takes back from the server. A reader of a topic
    /// does not: its position, which is synchronised, would be after entries that are gone.
    #[test]
    fn each_commit_of_a_copy_survives_a_power_failure() {
        let folder = Folder::new();
        let options = options(folder.path(), &WallClock::new());
        let heading = RecordHeading {
            cluster: options.cluster.clone(),
            started: start(),
            redactions: Vec::new(),
        };
        let replay = RecordReplay::begin(&options.store, heading, "other").expect("begun");
        assert_eq!(replay.recording.synchronous(), Some(2), "full");
        let recording = Recording::begin(options, SharedProgress::default()).expect("a file");
        assert_eq!(recording.synchronous(), Some(1), "normal");
    }
}
