//! `StoreArgs`: the directory of the record.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::{CommandError, Context};
use crate::env::Env;
use crate::record::{Store, StoreError};

/// The variable that names the directory of the record.
pub(crate) const STORE: &str = "KUBECTL_SPY_STORE";

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
        if let Some(path) = self.named(env) {
            return Ok(path);
        }
        let given = |name| given(env, name);
        let data = given("XDG_DATA_HOME")
            .or_else(|| Some(given("HOME")?.join(".local").join("share")))
            .or_else(|| given("LOCALAPPDATA"));
        let data = data.ok_or_else(|| {
            CommandError::failed("error: there is no home directory for the record")
                .hint("name a directory with --store")
        })?;
        Ok(data.join("kubectl-spy").join("store"))
    }

    /// The directory that the flag or `KUBECTL_SPY_STORE` names.
    fn named(&self, env: &Env) -> Option<PathBuf> {
        self.store.clone().or_else(|| given(env, STORE))
    }

    /// Fails if a file has the name of the directory.
    pub(crate) fn check(&self, env: &Env) -> Result<(), CommandError> {
        match self.named(env) {
            Some(file) if file.exists() && !file.is_dir() => {
                let error = format!("error: {}: not a directory", file.display());
                Err(CommandError::failed(error).hint("name a directory with --store"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Opens the record in that directory.
    pub(crate) fn open(&self, env: &Env) -> Result<Store, CommandError> {
        Ok(Store::open(&self.path(env)?)?)
    }
}

/// The path in a variable that is not empty.
fn given(env: &Env, name: &str) -> Option<PathBuf> {
    let path = env.path(name).map(PathBuf::from);
    path.filter(|path| !path.as_os_str().is_empty())
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

/// The store that a verb reads beside the server.
#[derive(Clone)]
pub(crate) struct MemoryStore {
    pub(crate) store: Store,
    /// Whether `--store` names it. Then it is an error that it cannot be read.
    is_named: bool,
}

impl MemoryStore {
    /// The line about a record that cannot be used because of this error, or the error.
    pub(crate) fn without(&self, error: CommandError) -> Result<Vec<String>, CommandError> {
        if error.is_silence() {
            // The first request fails in the same way, and says so.
            return Ok(Vec::new());
        }
        if self.is_named {
            return Err(error);
        }
        let words = error.to_string();
        Ok(vec![not_used(
            words.strip_prefix("error: ").unwrap_or(&words),
        )])
    }
}

impl MemoryArgs {
    /// Opens the store; `None` if it is not to be read. It fails for one that `--store` names and that cannot be read. At the
    /// usual place there may be none. If it cannot be read there, a line says so.
    pub(crate) fn open(
        &self,
        context: &mut Context<'_>,
    ) -> Result<Option<MemoryStore>, CommandError> {
        let is_named = self.store.store.is_some();
        let path = match self.store.path(context.env) {
            Ok(path) if self.is_read() => path,
            Ok(_) | Err(_) => return Ok(None),
        };
        match Store::open(&path) {
            Ok(store) => Ok(Some(MemoryStore { store, is_named })),
            Err(error) if is_named => Err(error.into()),
            Err(StoreError::Absent { .. } | StoreError::NoStore { .. }) => Ok(None),
            Err(error) => {
                context.note(&not_used(error));
                Ok(None)
            }
        }
    }

    /// The same flags for a server, which a recorder may follow: the directory becomes the usual place, where there may be no
    /// store yet. It fails if there is one that cannot be read.
    pub(crate) fn of_server(&self, env: &mut Env) -> Result<MemoryArgs, CommandError> {
        if let Some(path) = &self.store.store {
            match Store::open(path) {
                Ok(_) | Err(StoreError::Absent { .. } | StoreError::NoStore { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            env.variables.insert(STORE.into(), path.into());
        }
        Ok(MemoryArgs {
            store: StoreArgs::default(),
            no_store: self.no_store,
        })
    }

    /// Whether a store is read, if there is one.
    pub(crate) fn is_read(&self) -> bool {
        !self.no_store
    }

    /// The directory of the store, whether or not it is to be read.
    pub(crate) fn directory(&self, env: &Env) -> Result<PathBuf, CommandError> {
        self.store.path(env)
    }

    /// The flags of a server for another verb, which finds the directory in the environment.
    pub(crate) fn words(&self) -> Vec<String> {
        let no_store = self.no_store.then(|| "--no-store".to_owned());
        no_store.into_iter().collect()
    }
}

/// The line about a record that is there and cannot be read.
fn not_used(cause: impl std::fmt::Display) -> String {
    format!("the record is not used: {cause}")
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        let message = CommandError::failed(format!("error: {error}"));
        match error {
            StoreError::Absent { .. } | StoreError::NoStore { .. } => {
                message.hint("start one with `kubectl spy record`, or name another with --store")
            }
            StoreError::Newer { needs, .. } => {
                message.hint(format!("use kubectl-spy {needs} or newer"))
            }
            StoreError::Damaged { .. } => {
                message.hint("list the damaged files with `kubectl spy store check`")
            }
            StoreError::Io { error, .. } if error.kind() == ErrorKind::PermissionDenied => {
                message.hint("only the owner of a record can read it: run as that user, or name another directory")
            }
            StoreError::Io { error, .. } if error.kind() == ErrorKind::NotADirectory => {
                message.hint("name a directory with --store")
            }
            StoreError::Io { .. }
            | StoreError::Sqlite { .. }
            | StoreError::Foreign { .. } => message,
        }
    }
}
