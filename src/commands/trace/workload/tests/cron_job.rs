//! Whole frames of `CronJobs`.

use crate::commands::trace::testing::Feed;

fn cron_job(spec: &str, status: &str) -> String {
    format!(
        "apiVersion: batch/v1
kind: CronJob
metadata: {{name: web, uid: c1, generation: 1, creationTimestamp: '2026-05-04T11:00:00Z'}}
spec:
  schedule: '*/5 * * * *'
  jobTemplate: {{}}
  {spec}
status: {status}"
    )
}

/// A Job of the `CronJob`, with this status.
fn job(name: &str, minute: i64, status: &str) -> String {
    format!(
        "apiVersion: batch/v1
kind: Job
metadata:
  name: web-{name}
  creationTimestamp: '2026-05-04T11:{minute}:00Z'
  ownerReferences: [{{apiVersion: batch/v1, kind: CronJob, name: web, uid: c1, controller: true}}]
spec: {{template: {{spec: {{containers: [{{name: web, image: 'web:v1'}}]}}}}}}
status: {status}"
    )
}

const COMPLETE: &str = "{startTime: '2026-05-04T11:50:01Z', succeeded: 1, conditions: [{type: Complete, status: 'True'}]}";
const FAILED: &str =
    "{startTime: '2026-05-04T11:50:01Z', failed: 1, conditions: [{type: Failed, status: 'True',
  reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}]}";

#[test]
fn the_last_and_the_next_run() {
    let mut feed = Feed::of("CronJob", "web");
    feed.put(&cron_job(
        "concurrencyPolicy: Forbid",
        "{lastScheduleTime: '2026-05-04T12:00:00Z', lastSuccessfulTime: '2026-05-04T12:00:00Z'}",
    ))
    .put(&job("1", 50, COMPLETE))
    .put(&job("2", 55, COMPLETE));
    insta::assert_snapshot!(feed.frame(80), @"
    cronjob/web  -n shop  */5 * * * *  concurrency Forbid                       0:00
    ● waits for its next start                                      next start in 5m
    ✓ +0s     spec change   gen 1: created, 5m ago
    ✓         last run      web-2 Complete, 5m ago
    ·         next run      2026-05-04T12:05:00Z
    JOB             READY   IMAGE / STATUS   AGE
    ├─● job/web-2   1/1     web:v1           5m
    └─● job/web-1   1/1     web:v1           10m
    ");
}

#[test]
fn a_failed_run_is_named() {
    let mut feed = Feed::of("CronJob", "web");
    feed.put(&cron_job("", "{lastScheduleTime: '2026-05-04T12:00:00Z'}"))
        .put(&job("1", 50, COMPLETE))
        .put(&job("2", 55, FAILED));
    insta::assert_snapshot!(feed.frame(80), @"
    cronjob/web  -n shop  */5 * * * *                                           0:00
    ✗ waits for its next start; the last run failed                 next start in 5m
    ✓ +0s     spec change   gen 1: created, 5m ago
    ✗         last run      web-2 Failed
    ·         next run      2026-05-04T12:05:00Z
    JOB             READY   IMAGE / STATUS   AGE
    ├─✗ job/web-2   0/1     web:v1           5m
    └─● job/web-1   1/1     web:v1           10m
    ");
    insta::assert_snapshot!(feed.transitions(), @"
    2026-05-04T12:00:00Z cronjob/web spec change: gen 1: created
    2026-05-04T12:00:00Z cronjob/web last run failed: web-2 Failed: BackoffLimitExceeded: Job has reached the specified backoff limit
    2026-05-04T12:00:00Z cronjob/web Failed: waits for its next start; the last run failed
    ");
}

#[test]
fn starts_that_are_due_are_counted() {
    let mut feed = Feed::of("CronJob", "web");
    feed.put(&cron_job(
        "",
        "{lastScheduleTime: '2026-05-04T11:40:00Z', lastSuccessfulTime: '2026-05-04T11:40:20Z'}",
    ));
    insta::assert_snapshot!(feed.frame(80), @"
    cronjob/web  -n shop  */5 * * * *                                           0:00
    ~ waits for its next start                             4 starts are due, for 15m
    ✓         spec change   gen 1: created
    ✓         last run      its job is gone, 20m ago
    ·         next run      due since 2026-05-04T11:45:00Z
    ~ no job was started at 2026-05-04T11:45:00Z
    ");
}

#[test]
fn starts_wait_for_the_active_job_if_runs_may_not_overlap() {
    let frame = |policy: &str, last: &str| {
        let mut feed = Feed::of("CronJob", "web");
        let status = format!(
            "{{active: [{{name: web-1}}], lastScheduleTime: '2026-05-04T{last}:00Z', lastSuccessfulTime: '2026-05-04T{last}:20Z'}}"
        );
        feed.put(&cron_job(&format!("concurrencyPolicy: {policy}"), &status))
            .put(&job("1", 50, "{startTime: '2026-05-04T11:50:01Z'}"));
        feed.frame(80)
    };
    insta::assert_snapshot!(frame("Forbid", "11:40"), @"
    cronjob/web  -n shop  */5 * * * *  concurrency Forbid                       0:00
    ~ running: 1 active job         starts wait for the active job (Forbid), for 15m
    ✓ +0s     spec change   gen 1: created, 10m ago
    ~         last run      web-1 Running
    ·         next run      after the active job (concurrencyPolicy Forbid)
    ~ no job was started since 2026-05-04T11:45:00Z: the last run is still active
      (concurrencyPolicy Forbid)
    JOB             READY   IMAGE / STATUS   AGE
    └─~ job/web-1   0/1     web:v1           10m
    ");
    for (policy, last, right, next) in [
        (
            "Forbid",
            "12:00",
            "next start in 5m",
            "2026-05-04T12:05:00Z",
        ),
        (
            "Allow",
            "11:40",
            "4 starts are due, for 15m",
            "due since 2026-05-04T11:45:00Z",
        ),
        (
            "Replace",
            "11:40",
            "4 starts are due, for 15m",
            "due since 2026-05-04T11:45:00Z",
        ),
    ] {
        let frame = frame(policy, last);
        assert!(frame.contains(right), "{frame}");
        assert!(
            frame.contains(&format!("next run      {next}\n")),
            "{frame}"
        );
    }
}

#[test]
fn starts_after_their_deadline_are_never_made() {
    let mut feed = Feed::of("CronJob", "web");
    feed.put(&cron_job(
        "startingDeadlineSeconds: 299",
        "{lastScheduleTime: '2026-05-04T11:40:00Z', lastSuccessfulTime: '2026-05-04T11:40:20Z'}",
    ));
    insta::assert_snapshot!(feed.frame(80), @"
    cronjob/web  -n shop  */5 * * * *  starting deadline 299s                   0:00
    ● waits for its next start                                1 start is due, for 0s
    ✓         spec change   gen 1: created
    ✓         last run      its job is gone, 20m ago
    ·         next run      2026-05-04T12:00:00Z
    ");
}

#[test]
fn a_suspended_one_has_no_next_run() {
    let mut feed = Feed::of("CronJob", "web");
    feed.put(&cron_job(
        "suspend: true",
        "{lastScheduleTime: '2026-05-04T11:40:00Z'}",
    ));
    insta::assert_snapshot!(feed.frame(80), @"
    cronjob/web  -n shop  */5 * * * *                                           0:00
    ● suspended
    ✓         spec change   gen 1: created
    ✓         last run      its job is gone, 20m ago
    ·         next run      suspended
    ");
}

#[test]
fn a_new_one_has_not_run() {
    let mut feed = Feed::of("CronJob", "web");
    feed.put(&cron_job("", "{}").replace("11:00:00Z", "11:59:00Z"));
    insta::assert_snapshot!(feed.frame(80), @"
    cronjob/web  -n shop  */5 * * * *                                           0:00
    ● not started by its schedule yet                         1 start is due, for 0s
    ✓         spec change   gen 1: created
    ·         last run      none yet
    ·         next run      2026-05-04T12:00:00Z
    ");
}
