//! The server of `kubectl spy serve`: one follower of some clusters, and many readers.
//!
//! The follower publishes a [`Board`] whenever something has changed. A snapshot on it never changes, so readers share it
//! without a copy. Events are kept in a ring, and each reader has only a position in it: a reader that does not read costs
//! nothing, delays nobody, and finds a gap when it comes back too late.

mod api_path;
mod asked_again;
mod board;
mod certificate;
mod cluster_choice;
mod connections;
mod event_ring;
mod gate;
mod guarded_feed;
mod kube_api;
mod metrics;
mod metrics_text;
mod openapi;
mod package_metrics;
mod page;
mod params;
mod places;
mod reader;
mod report_routes;
mod rights;
mod rights_cache;
mod routes;
mod served_cluster;
mod served_row;
mod snapshot;
mod streams;
mod web_server;

pub use api_path::{ApiAnswer, ApiPath};
pub use board::{Board, ClusterReason, SourceRecord, Totals, Transition};
pub use certificate::{CertificateError, CertificatePem, ServedCertificate};
pub use connections::answer_connections;
pub use event_ring::{
    EventId, EventNews, EventRing, EventSubject, NumberedEvent, Resumption, RingEvent,
};
pub use gate::{AccessToken, Admitted, Denial, Gate};
pub use guarded_feed::RightGuard;
pub use kube_api::{
    ApiPlace, ApiRead, ApiSelectors, ApiSource, CachedRead, CachedVerb, CachedWatch, ObjectForm,
    WatchFrom, connects, follows_log, is_watch, status_answer, status_object,
};
pub use metrics::{ServerCounts, SinkCounts, metrics};
pub use package_metrics::ServedPackage;
pub use params::{CLUSTER, ParamError, Params, RowFilter};
pub use places::{HeldPlace, NoPlace, PlaceLimits, Places, ReaderPlace, ReaderPlaces};
pub use reader::{ReaderToken, TokenHash, WebReader};
pub use rights::{GrantedRights, Judgement, ReadRight, ReaderRights, RightsMark, SourcePlace};
pub use rights_cache::{
    RightsAnswer, RightsAsker, RightsCache, RightsError, RightsQuestion, RightsSource,
};
pub use routes::router;
pub use served_cluster::ServedCluster;
pub use served_row::{OwnState, ServedChange, ServedRow};
#[cfg(test)]
pub(crate) use snapshot::testing;
pub use snapshot::{Link, Snapshot, SourceHealth, UnhealthyRow, WatchRecord};
pub use web_server::{
    Answered, PendingQuestion, Question, QuestionError, RecordVerb, SinkCountsSource, WebServer,
};
