//! The last known state of each source, from which a recorder resumes.

use std::collections::HashMap;

use super::error::StoreError;
use super::file_reader::{FileReader, IndexRow, RecordedSource};
use super::store::ClusterFiles;
use crate::source::SourceKey;
use crate::watch::KnownState;

/// The last recorded state of each of these sources: their objects, and the version that was reached. It reads the newest
/// files first, and no more of them than it needs. A file that cannot be read ends the search with its error.
pub fn last_states(
    files: &ClusterFiles,
    keys: &[SourceKey],
) -> Result<HashMap<SourceKey, KnownState>, StoreError> {
    let mut files = files.list()?;
    files.sort_by_key(|file| std::cmp::Reverse(file.written));
    let mut wanted: Vec<&SourceKey> = keys.iter().collect();
    let mut found = HashMap::new();
    for file in files {
        if wanted.is_empty() {
            break;
        }
        let mut file = match FileReader::open(&file.path) {
            Err(StoreError::Empty { .. }) => continue,
            file => file?,
        };
        let (mut missing, sources) = (Vec::new(), file.sources().to_vec());
        for key in wanted {
            let source = sources.iter().find(|source| {
                let renamed = SourceKey {
                    cluster: key.cluster.clone(),
                    ..source.key.clone()
                };
                renamed == *key && source.reached.is_some()
            });
            match source {
                Some(source) => found.extend(file.last_state(source)?.map(|it| (key.clone(), it))),
                None => missing.push(key),
            }
        }
        wanted = missing;
    }
    Ok(found)
}

impl FileReader {
    /// The objects of a source at its end; `None` if no listing of it was complete.
    fn last_state(&mut self, source: &RecordedSource) -> Result<Option<KnownState>, StoreError> {
        let Some((reached, _)) = &source.reached else {
            return Ok(None);
        };
        let mut last: HashMap<i64, IndexRow> = HashMap::new();
        for row in self.index(source)? {
            if row.is_gone() {
                last.remove(&row.object);
            } else {
                last.insert(row.object, row);
            }
        }
        let mut last: Vec<IndexRow> = last.into_values().collect();
        // So each block is unpacked once.
        last.sort_by_key(|row| row.id);
        let mut objects = Vec::with_capacity(last.len());
        for row in last {
            let recorded = self.version(&row)?;
            if !recorded.why.why.is_gone() {
                objects.push((recorded.version, recorded.seen));
            }
        }
        Ok(Some(KnownState {
            version: reached.clone(),
            objects,
        }))
    }
}
