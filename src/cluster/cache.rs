//! Keeps documents on disk: a file for each, and a folder for each server.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The documents of one sort of one server. The first line of a file is the hash of the document after it. A file with
/// another hash, or a truncated one, counts as missing.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The documents of a sort (`openapi`) of a server inside kubectl's cache directory, separate from kubectl's own
    /// files.
    pub(super) fn new(cache_dir: &Path, sort: &'static str, server: &str) -> Cache {
        let folder = cache_dir.join("spy").join(sort);
        Cache {
            folder: folder.join(file_name(server)),
        }
    }

    pub(super) fn read(&self, name: &str, hash: &str) -> Option<Vec<u8>> {
        let kept = fs::read(self.file(name)).ok()?;
        let document = kept.strip_prefix(hash.as_bytes())?.strip_prefix(b"\n")?;
        Some(document.to_vec())
    }

    /// Replaces a document. A concurrent reader gets the old or the new one.
    pub(super) fn write(&self, name: &str, hash: &str, document: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(&self.folder)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let new = format!("{}.{}-{count}.new", file_name(name), std::process::id());
        let new = self.folder.join(new);
        let written = fs::File::create_new(&new).and_then(|mut file| {
            file.write_all(format!("{hash}\n").as_bytes())?;
            file.write_all(document)?;
            fs::rename(&new, self.file(name))
        });
        if written.is_err() {
            let _never_made = fs::remove_file(&new);
        }
        written
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}.json", file_name(name)))
    }
}

/// Turns an untrusted name into a file name that is valid on every system.
fn file_name(text: &str) -> String {
    let keep = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' => letter,
        _ => '_',
    };
    let name: String = text.chars().map(keep).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::kubeconfig::tests::Files;

    #[test]
    fn a_document_is_kept_with_its_hash() {
        let files = Files::new(&[]);
        let cache = Cache::new(&files.path("cache"), "openapi", "10.0.0.1:6443");
        assert_eq!(cache.read("apis/a.b/v1", "H1"), None);
        let write = |hash, document: &[u8]| cache.write("apis/a.b/v1", hash, document);
        write("H1", b"{}").expect("writable");
        assert_eq!(cache.read("apis/a.b/v1", "H1").as_deref(), Some(&b"{}"[..]));
        assert_eq!(cache.read("apis/a.b/v1", "H"), None);
        assert_eq!(cache.read("apis/a.b/v2", "H1"), None);
        write("H2", b"[\n]").expect("writable");
        assert_eq!(cache.read("apis/a.b/v1", "H1"), None);
        assert_eq!(
            cache.read("apis/a.b/v1", "H2").as_deref(),
            Some(&b"[\n]"[..])
        );
        let folder = files.path("cache/spy/openapi/10.0.0.1_6443");
        let names = fs::read_dir(folder).expect("made").map(|entry| {
            let entry = entry.expect("readable");
            entry.file_name().into_string().expect("ASCII")
        });
        assert_eq!(names.collect::<Vec<_>>(), ["apis_a.b_v1.json"]);
    }

    #[test]
    fn a_directory_that_is_not_writable_is_an_error() {
        let files = Files::new(&[("cache", "a file")]);
        let cache = Cache::new(&files.path("cache"), "openapi", "host");
        assert!(cache.write("apis/a/v1", "H", b"{}").is_err());
        assert_eq!(cache.read("apis/a/v1", "H"), None);
    }

    #[test]
    fn no_name_leaves_the_cache_directory() {
        for (text, expect) in [
            ("apis/example.com/v1", "apis_example.com_v1"),
            ("[::1]:6443", "___1__6443"),
            ("..", "_."),
            ("../../etc", "_._.._etc"),
            ("C:\\x", "C__x"),
        ] {
            assert_eq!(file_name(text), expect);
        }
    }
}
