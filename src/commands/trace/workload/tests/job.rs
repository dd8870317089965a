//! Whole frames of Jobs.

use super::{READY, lines, owned_pod, waiting};
use crate::commands::trace::testing::Feed;

fn job(spec: &str, status: &str) -> String {
    format!(
        "apiVersion: batch/v1
kind: Job
metadata: {{name: web, uid: s1, generation: 1, creationTimestamp: '2026-05-04T11:59:00Z'}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template: {{spec: {{containers: [{{name: web, image: 'web:v1'}}]}}}}
  {spec}
status: {status}"
    )
}

fn pod(name: &str, status: &str) -> String {
    owned_pod("Job", name, "x: y", status)
}

const SUCCEEDED: &str = "{phase: Succeeded, conditions: [{type: PodScheduled, status: 'True'}],
  containerStatuses: [{name: web, ready: false, imageID: x, state: {terminated: {exitCode: 0, reason: Completed}}}]}";
const FAILED: &str = "{phase: Failed, conditions: [{type: PodScheduled, status: 'True'}],
  containerStatuses: [{name: web, ready: false, imageID: x, state: {terminated: {exitCode: 1, reason: Error}}}]}";

#[test]
fn a_job_that_waits_for_its_controller() {
    let mut feed = Feed::of("Job", "web");
    feed.put(&job("backoffLimit: 6", "{}"));
    insta::assert_snapshot!(feed.frame(80), @"
    job/web  -n shop  1 completion  backoffLimit 6                              0:00
    ~ to be started by the controller
    ✓         spec change   gen 1: created
    · ...     started       to be started by the controller
    · ...     succeeded     0/1 succeeded
    · ...     complete
    ");
}

#[test]
fn a_job_of_another_controller_names_it() {
    let mut feed = Feed::of("Job", "web");
    feed.put(&job("managedBy: example.com/kueue", "{}"));
    insta::assert_snapshot!(feed.frame(80), @"
    job/web  -n shop  1 completion                                              0:00
    ~ to be started by example.com/kueue (managedBy)
    ✓         spec change   gen 1: created
    · ...     started       to be started by example.com/kueue (managedBy)
    · ...     succeeded     0/1 succeeded
    · ...     complete
    ");
}

#[test]
fn a_running_job_counts_its_pods() {
    let mut feed = Feed::of("Job", "web");
    feed.put(&job(
        "completions: 3\n  parallelism: 2\n  backoffLimit: 6\n  completionMode: Indexed\n  activeDeadlineSeconds: 600",
        "{startTime: '2026-05-04T11:59:01Z', active: 1, succeeded: 1, failed: 1, completedIndexes: '0'}",
    ))
    .put(&pod("a", SUCCEEDED))
    .put(&pod("b", FAILED))
    .put(&pod("c", READY));
    insta::assert_snapshot!(feed.frame(100), @"
    job/web  -n shop  3 completions  parallelism 2  backoffLimit 6  Indexed                         0:00
    ~ running: 1/3 succeeded (indexes 0), 1 active, 1 failed, backoffLimit 6, 1 failing
    ✓         spec change   gen 1: created
    ✓         started       by the controller
    ✓         scheduled     3/3 pods (node-1)
    ✓         images        3/3 pulled
    ~ ...     succeeded     1/3 succeeded (indexes 0), 1 active, 1 failed, backoffLimit 6
    · ...     complete
    POD             READY   IMAGE / STATUS   AGE   NODE
    ├─● pod/web-a   0/1     Completed        60s   node-1
    ├─✗ pod/web-b   0/1     Error            60s   node-1
    │   └ web: exit 1
    └─● pod/web-c   1/1     Running          60s   node-1
    ");
}

#[test]
fn a_job_fails_by_its_backoff_limit() {
    let mut feed = Feed::of("Job", "web");
    feed.put(&job(
        "backoffLimit: 1",
        "{startTime: '2026-05-04T11:59:01Z', failed: 2, conditions: [{type: Failed, status: 'True',
  reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit,
  lastTransitionTime: '2026-05-04T11:59:30Z'}]}",
    ))
    .put(&pod("a", FAILED))
    .put(&pod("b", FAILED));
    insta::assert_snapshot!(feed.frame(100), @"
    job/web  -n shop  1 completion  backoffLimit 1                                                  0:00
    ✗ failed: 0/1 succeeded, 2 failed, backoffLimit 1
    ✓         spec change   gen 1: created
    ✓         started       by the controller
    ✓         scheduled     2/2 pods (node-1)
    ✓         images        2/2 pulled
    · ...     succeeded     0/1 succeeded, 2 failed, backoffLimit 1
    ✗         complete      BackoffLimitExceeded
    ✗ Failed=True BackoffLimitExceeded  30s
      └ Job has reached the specified backoff limit
    POD             READY   IMAGE / STATUS   AGE   NODE
    ├─✗ pod/web-a   0/1     Error            60s   node-1
    │   └ web: exit 1
    └─✗ pod/web-b   0/1     Error            60s   node-1
        └ web: exit 1
    ");
}

#[test]
fn a_job_that_succeeded_is_complete() {
    let mut feed = Feed::of("Job", "web");
    feed.put(&job(
        "backoffLimit: 1",
        "{startTime: '2026-05-04T11:59:01Z', completionTime: '2026-05-04T11:59:11Z', succeeded: 1,
  conditions: [{type: Complete, status: 'True'}]}",
    ))
    .put(&pod("a", SUCCEEDED));
    insta::assert_snapshot!(feed.frame(80), @"
    job/web  -n shop  1 completion  backoffLimit 1                              0:00
    ● complete: 1/1 succeeded
    ✓         spec change   gen 1: created
    ✓         started       by the controller
    ✓         scheduled     1/1 pods (node-1)
    ✓         images        1/1 pulled
    ✓         succeeded     1/1 succeeded
    ✓         complete      1 completion, 49s ago
    ● Complete=True
    POD             READY   IMAGE / STATUS   AGE   NODE
    └─● pod/web-a   0/1     Completed        60s   node-1
    ");
}

#[test]
fn a_suspended_job_is_well() {
    let mut feed = Feed::of("Job", "web");
    feed.put(&job(
        "suspend: true",
        "{conditions: [{type: Suspended, status: 'True', reason: JobSuspended, message: Job suspended}]}",
    ));
    insta::assert_snapshot!(lines(&feed, "uspended"), @"
    ● suspended: 0/1 succeeded
    · ...     started       suspended
    ● Suspended=True JobSuspended
    ");
}

#[test]
fn an_image_that_cannot_be_pulled_is_named() {
    let mut feed = Feed::of("Job", "web");
    feed.put(&job(
        "backoffLimit: 6",
        "{startTime: '2026-05-04T11:59:01Z', active: 1}",
    ))
    .put(&pod(
        "a",
        &waiting("state: {waiting: {reason: ErrImagePull, message: not found}}"),
    ));
    insta::assert_snapshot!(feed.frame(80), @"
    job/web  -n shop  1 completion  backoffLimit 6                              0:00
    ~ running: 0/1 succeeded, 1 active, 1 failing
    ✓         spec change   gen 1: created
    ✓         started       by the controller
    ✓         scheduled     1/1 pods (node-1)
    ✗         images        0/1 pulled; web-a ErrImagePull
    ~ ...     succeeded     0/1 succeeded, 1 active
    · ...     complete
    POD             READY   IMAGE / STATUS   AGE   NODE
    └─✗ pod/web-a   0/1     ErrImagePull     60s   node-1
        └ web: not found
    ");
}
