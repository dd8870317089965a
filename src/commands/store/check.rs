//! `store check`: reads every file.

use crate::commands::{CommandError, Context, Ended};
use crate::object::counted;
use crate::record::{FileReader, Store, StoreError};
use crate::render::text::escape_line;

pub(super) fn run(store: &Store, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let (mut files, mut damaged) = (0, 0);
    for cluster in store.clusters()? {
        for file in cluster.list()? {
            files += 1;
            let path = file.path.display().to_string();
            let faults = match FileReader::open(&file.path) {
                Ok(mut reader) => reader.check(),
                Err(StoreError::Empty { .. }) => Vec::new(),
                Err(error) => vec![error.to_string()],
            };
            damaged += usize::from(!faults.is_empty());
            let lines = match &faults[..] {
                [] => vec![format!("{}: ok", escape_line(&path))],
                faults => faults
                    .iter()
                    .map(|fault| escape_line(fault).into_owned())
                    .collect(),
            };
            context.print(&lines)?;
        }
    }
    match damaged {
        0 => Ok(Ended::Answered),
        damaged => {
            let words = counted(damaged, "file is damaged", "files are damaged");
            let error = CommandError::failed(format!("error: {words}, of {files}"));
            Err(error.hint("the versions that are whole are still read"))
        }
    }
}
