//! `transition`: the new state of an object in one line, with the old one.

use super::assessment::Assessment;
use super::row::Row;

/// `InProgress 2/3 (was Current 3/3): cause`. `None` if both assessments give the same line.
pub fn transition(was: Option<&Assessment>, is: &Assessment) -> Option<String> {
    if was.is_some_and(|was| is_same_line(was, is)) {
        return None;
    }
    let now = summary(is);
    let was = was.map(summary).filter(|was| *was != now);
    let was = was.map_or(String::new(), |was| format!(" (was {was})"));
    let cause = is.causes.first();
    let cause = cause.map_or(String::new(), |cause| format!(": {}", cause.text));
    Some(format!("{now}{was}{cause}"))
}

fn is_same_line(was: &Assessment, is: &Assessment) -> bool {
    let cause = |assessment: &Assessment| assessment.causes.first().map(|cause| cause.text.clone());
    let has_new_cause = !is.causes.is_empty() && cause(was) != cause(is);
    summary(was) == summary(is) && !has_new_cause
}

/// `ImagePullBackOff 0/1 restarts 3`.
fn summary(assessment: &Assessment) -> String {
    let Row {
        ready,
        word,
        restarts,
    } = &assessment.row;
    let restarts = restarts.filter(|restarts| restarts.count > 0);
    let restarts = restarts.map(|restarts| format!("restarts {}", restarts.count));
    let parts = [Some(word.clone()), ready.clone(), restarts];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" ")
}
