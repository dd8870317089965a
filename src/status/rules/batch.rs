//! Job.

use jiff::Timestamp;

use crate::object::Value;
use crate::status::read::{self, ReadResult};
use crate::status::verdict::Verdict;

/// A Job is Current as soon as it runs, and Failed only once its `Failed` condition is True.
pub(super) fn job(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    let count = |key| read::int_or(object, &["status", key], 0);
    let parallelism = read::int_or(object, &["spec", "parallelism"], 1);
    let completions = read::int_or(object, &["spec", "completions"], parallelism);
    let suspended = read::flag(object, &["spec", "suspend"]);
    for condition in read::conditions(object)? {
        if condition.status != "True" {
            continue;
        }
        match &*condition.kind {
            "Complete" => {
                return Ok(Verdict::current(format!(
                    "Job Completed. succeeded: {}/{completions}",
                    count("succeeded")
                )));
            }
            "Failed" => {
                return Ok(Verdict::failed(
                    "JobFailed",
                    format!("Job Failed. failed: {}/{completions}", count("failed")),
                ));
            }
            "Suspended" if suspended => return Ok(Verdict::current("Job is suspended")),
            _ => {}
        }
    }
    if read::text_or(object, &["status", "startTime"], "").is_empty() {
        return Ok(Verdict::in_progress("JobNotStarted", "Job not started"));
    }
    Ok(Verdict::current(format!(
        "Job in progress. success:{}, active: {}, failed: {}",
        count("succeeded"),
        count("active"),
        count("failed")
    )))
}
