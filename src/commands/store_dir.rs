//! `StoreArgs`: the directory of the record.

use std::path::PathBuf;

use super::CommandError;
use crate::env::Env;
use crate::record::{Store, StoreError};

/// The flag that names the directory of the record.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct StoreArgs {
    /// The directory of the record (default: `KUBECTL_SPY_STORE`, then
    /// ~/.local/share/kubectl-spy/store)
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

impl StoreArgs {
    /// The directory: that of the flag, of `KUBECTL_SPY_STORE`, or else in the user's data.
    pub(crate) fn path(&self, env: &Env) -> Result<PathBuf, CommandError> {
        let given = |name: &str| {
            let path = env.path(name).map(PathBuf::from);
            path.filter(|path| !path.as_os_str().is_empty())
        };
        if let Some(path) = self.store.clone().or_else(|| given("KUBECTL_SPY_STORE")) {
            return Ok(path);
        }
        let data = given("XDG_DATA_HOME")
            .or_else(|| Some(given("HOME")?.join(".local").join("share")))
            .or_else(|| given("LOCALAPPDATA"));
        let data = data.ok_or_else(|| {
            CommandError::failed("error: there is no home directory for the record")
                .hint("name a directory with --store")
        })?;
        Ok(data.join("kubectl-spy").join("store"))
    }

    /// Opens the record in that directory.
    pub(crate) fn open(&self, env: &Env) -> Result<Store, CommandError> {
        Ok(Store::open(&self.path(env)?)?)
    }
}

/// The flags of a verb that reads the record beside the server.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct MemoryArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Do not read earlier versions from the record
    #[arg(long)]
    no_store: bool,
}

impl MemoryArgs {
    /// The directory of the record; `None` if it is not to be read, or if there is none.
    pub(crate) fn path(&self, env: &Env) -> Option<PathBuf> {
        let path = self.store.path(env).ok();
        path.filter(|_| !self.no_store)
    }

    /// The directory of the store, whether or not it is to be read.
    pub(crate) fn directory(&self, env: &Env) -> Result<PathBuf, CommandError> {
        self.store.path(env)
    }

    /// The same flags, for another verb.
    pub(crate) fn words(&self) -> Vec<String> {
        let store = self.store.store.as_ref();
        let store = store.map(|path| format!("--store={}", path.display()));
        let no_store = self.no_store.then(|| "--no-store".to_owned());
        store.into_iter().chain(no_store).collect()
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        let message = CommandError::failed(format!("error: {error}"));
        match error {
            StoreError::NoStore { .. } => {
                message.hint("start one with `kubectl spy record`, or name another with --store")
            }
            StoreError::Newer { needs, .. } => {
                message.hint(format!("use kubectl-spy {needs} or newer"))
            }
            StoreError::Damaged { .. } => {
                message.hint("list the damaged files with `kubectl spy store check`")
            }
            StoreError::Io { .. }
            | StoreError::Sqlite { .. }
            | StoreError::Foreign { .. }
            | StoreError::Empty { .. } => message,
        }
    }
}
