//! Sessions of others: `serve` runs a verb for a reader with the reader's own token, so the API server decides about each request.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;

use super::connection::ClusterConnection;
use crate::cluster::{Client, OpenApi};
use crate::object::{ObjectRef, ResourceVersion};
use crate::record::RecordedCluster;
use crate::source::SourceKey;
use crate::source::log::{LogRefusal, LogRequest};
use crate::watch::{
    At, LineStream, ListPage, LogAnswer, Page, RecordedPast, SourceError, Transport, Upstream,
};

/// What the session of a reader is made with.
#[derive(Clone)]
pub(crate) struct ReaderLogin {
    /// A client with the token of the reader.
    pub(crate) client: Client,
    /// The cluster in the record. The reader may not be able to find that out.
    pub(crate) recorded_as: Option<RecordedCluster>,
}

impl ClusterConnection {
    /// The connection to the same cluster with the rights of a reader.
    pub(super) fn of_reader(&self, login: ReaderLogin) -> ClusterConnection {
        let openapi = OpenApi::new(login.client.clone(), None);
        ClusterConnection {
            client: login.client,
            openapi: Arc::new(openapi),
            types: None,
            recorded_as: login.recorded_as,
            is_of_reader: true,
            ..self.clone()
        }
    }
}

/// The server over its record, for a reader. The record asks nobody, so each source is first read from the server with the
/// reader's token. A namespace that is gone is read only by those who may list all namespaces: as the API server decides.
pub(super) struct AskingTransport<T> {
    /// The server over its record.
    layered: T,
    /// The server alone.
    server: Arc<dyn Transport>,
    /// The sources that the reader may list.
    granted: Mutex<HashSet<SourceKey>>,
}

impl<T: Transport> AskingTransport<T> {
    pub(super) fn new(layered: T, server: Arc<dyn Transport>) -> AskingTransport<T> {
        AskingTransport {
            layered,
            server,
            granted: Mutex::default(),
        }
    }

    /// Fails unless the reader may list a source.
    async fn ask(&self, key: &SourceKey) -> Result<(), SourceError> {
        let granted = || self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        if granted().contains(key) {
            return Ok(());
        }
        let one = Page {
            limit: 1,
            next: None,
        };
        self.server.list(key, At::Latest, one).await?;
        granted().insert(key.clone());
        Ok(())
    }
}

impl<T: Transport> Transport for AskingTransport<T> {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async move {
            self.ask(key).await?;
            self.layered.list(key, at, page).await
        })
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async move {
            self.ask(key).await?;
            self.layered.watch(key, from).await
        })
    }

    fn exists<'a>(
        &'a self,
        key: &'a SourceKey,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<bool, SourceError>> {
        self.server.exists(key, object)
    }

    fn log<'a>(&'a self, request: &'a LogRequest) -> BoxFuture<'a, Result<LogAnswer, LogRefusal>> {
        self.server.log(request)
    }

    fn trouble(&self) -> Option<SourceError> {
        self.layered.trouble()
    }

    fn upstream(&self) -> Upstream {
        self.layered.upstream()
    }

    fn has_past(&self) -> bool {
        self.layered.has_past()
    }

    fn recorded(&self) -> Option<&dyn RecordedPast> {
        self.layered.recorded()
    }
}
