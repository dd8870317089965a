//! One open watch of the server in memory.

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::timeout;

use super::model::{BOOKMARK, Plan, WatchFault};
use super::shared_model::SharedModel;
use crate::source::SourceKey;
use crate::watch::error::SourceError;

/// One open watch.
pub(super) struct FakeConnection {
    pub(super) model: SharedModel,
    pub(super) moved: watch::Receiver<u64>,
    pub(super) key: SourceKey,
    pub(super) at: u64,
    pub(super) kills: u64,
    pub(super) plan: Plan,
    pub(super) sent: usize,
    pub(super) over: bool,
}

type Answer = Result<Bytes, SourceError>;

impl FakeConnection {
    pub(super) async fn next(mut self) -> Option<(Answer, FakeConnection)> {
        if self.over {
            return None;
        }
        loop {
            self.moved.mark_unchanged();
            if self.model.lock().kills > self.kills {
                self.over = true;
                let detail = "connection reset".into();
                return Some((Err(SourceError::Cut { detail }), self));
            }
            if self.plan.fault != WatchFault::None && self.sent >= self.plan.after {
                let fault = std::mem::replace(&mut self.plan.fault, WatchFault::None);
                return self.break_down(fault).await;
            }
            if let Some(line) = self.line() {
                self.sent += 1;
                return Some((Ok(line), self));
            }
            let _ = timeout(BOOKMARK, self.moved.changed()).await.is_err()
                && {
                    let model = self.model.lock();
                    // Until it reaches the version from which the watch began, a server sends nothing, or
                    // bookmarks with its own version.
                    let bookmarks =
                        model.bookmarks && (model.rv >= self.at || model.bookmark_at.is_some());
                    let rv = model.bookmark_at.unwrap_or(model.rv);
                    drop(model);
                    if bookmarks {
                        self.at = self.at.max(rv);
                        let line = format!(
                            r#"{{"type":"BOOKMARK","object":{{"kind":"Pod","metadata":{{"resourceVersion":"{rv}"}}}}}}"#
                        );
                        return Some((Ok(line.into()), self));
                    }
                    true
                };
        }
    }

    /// The next event of the history.
    fn line(&mut self) -> Option<Bytes> {
        let mut model = self.model.lock();
        while let Some(op) = model.log.iter().find(|op| op.pod.rv > self.at).cloned() {
            self.at = op.pod.rv;
            if let Some(line) = model.line(&self.key, &op) {
                return Some(line.into());
            }
        }
        None
    }

    async fn break_down(mut self, fault: WatchFault) -> Option<(Answer, FakeConnection)> {
        let cut = |detail: &str| SourceError::Cut {
            detail: detail.into(),
        };
        let answer = match fault {
            WatchFault::None | WatchFault::Close => return None,
            WatchFault::Reset => {
                self.over = true;
                Err(cut("connection reset"))
            }
            WatchFault::Stall => std::future::pending().await,
            WatchFault::Error(code) => {
                let line = format!(
                    r#"{{"type":"ERROR","object":{{"kind":"Status","code":{code},"message":"code {code}"}}}}"#
                );
                Ok(line.into())
            }
            WatchFault::TooOld => {
                let (from, oldest) = (self.at, self.model.lock().forgotten);
                let line = format!(
                    r#"{{"type":"ERROR","object":{{"kind":"Status","code":410,"message":"too old resource version: {from} ({oldest})"}}}}"#
                );
                Ok(line.into())
            }
            WatchFault::Half
            | WatchFault::Garbage
            | WatchFault::UnknownType
            | WatchFault::TooLong => {
                let line = self.line_or_wait().await;
                self.model.lock().damaged += 1;
                self.over = fault == WatchFault::Half || fault == WatchFault::TooLong;
                match fault {
                    WatchFault::Half => Ok(line.slice(..line.len() / 2)),
                    WatchFault::UnknownType => {
                        let text = String::from_utf8_lossy(&line);
                        Ok(text.replacen("\"type\":\"", "\"type\":\"X", 1).into())
                    }
                    WatchFault::TooLong => Err(SourceError::Decode {
                        detail: "a line of more than 16 MiB".into(),
                    }),
                    _ => {
                        let mut damaged = line.to_vec();
                        damaged[20] = 0xff;
                        Ok(damaged.into())
                    }
                }
            }
        };
        Some((answer, self))
    }

    async fn line_or_wait(&mut self) -> Bytes {
        loop {
            self.moved.mark_unchanged();
            if let Some(line) = self.line() {
                return line;
            }
            let _ = self.moved.changed().await;
        }
    }
}
