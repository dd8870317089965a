//! What events and time do to the objects: [`apply`] stores one event, and [`refresh`] assesses what has changed.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::{Links, Tier};
use crate::object::{Doc, ObjectRef, Uid, Value};
use crate::source::{Event, Form, SourceKey, Version, Why, printed};
use crate::status::{Assessment, Rules, Status, is_starting, review_at};

use super::around::Around;
use super::evidence::EvidenceChange;
use super::evidence_sources::{needs_explanation, subject_of};
use super::judge::{judge, roll_up, services_of};
use super::object::ModelObject;
use super::objects::{Objects, Retention};
use super::rules::scheduling::claims_of;
use super::rules::{readers, to_judge_again};

/// Applies one event. Events of sources that the model does not follow change nothing.
pub(super) fn apply(objects: &mut Objects, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
    look_for_dependents(objects, source, event);
    if !objects.coverage.apply(source, event) {
        return;
    }
    objects.lookups.count(source, event);
    let Event::Object {
        why, now: version, ..
    } = event
    else {
        objects.evidence.news.is_common |=
            objects.evidence.is_of(source) && matches!(event, Event::Synced { .. });
        let tells_of_source = matches!(event, Event::Synced { .. } | Event::State(_));
        let has_neighbours = objects.graph.all_referrers().next().is_some()
            || objects.graph.services().next().is_some()
            || objects.graph.of_kind("Ingress").next().is_some();
        objects.has_news_of_sources |= tells_of_source && has_neighbours;
        return;
    };
    if objects.evidence.is_of(source) {
        take_evidence(objects, source, event);
        return;
    }
    if !why.is_gone() && objects.lookups.keeps(source, version, &objects.types) {
        return put(objects, source, version, *why);
    }
    let uid = version.object.identity();
    if why.is_gone() {
        objects.lookups.forget(&uid);
    }
    if let Some(object) = objects.by_uid.get_mut(&uid) {
        let why = if why.is_gone() {
            *why
        } else {
            Why::LeftSelector
        };
        object.lose(source, why, now);
        if object.departure.is_some() {
            objects.departed.insert(uid.clone());
        }
        objects.changed.insert(uid);
    }
}

/// Looks for dependents in an event. The model keeps an object that has gone for a while, so the search does, too.
fn look_for_dependents(objects: &mut Objects, source: &Arc<SourceKey>, event: &Event) {
    objects.search.apply(source, event);
    if let Event::Object { why, now, .. } = event
        && why.is_gone()
    {
        let uid = now.object.identity();
        if !objects.by_uid.contains_key(&uid) {
            objects.search.forget(&uid);
        }
    }
}

fn put(objects: &mut Objects, source: &Arc<SourceKey>, version: &Arc<Version>, why: Why) {
    let uid = version.object.identity();
    let object = match objects.by_uid.entry(uid.clone()) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => {
            if why == Why::Listed {
                objects.listed.insert(uid.clone());
            }
            entry.insert(Box::new(ModelObject::new(version.object.clone())))
        }
    };
    if object.put(source, version) {
        objects.departed.remove(&uid);
        objects.changed.insert(uid);
    }
}

/// Applies an event of a source of evidence.
fn take_evidence(objects: &mut Objects, source: &SourceKey, event: &Event) {
    match objects.evidence.apply(source, event) {
        EvidenceChange::None => {}
        EvidenceChange::Common => objects.evidence.news.is_common = true,
        EvidenceChange::Warning(about) => match subject_of(Around::of(objects), &about) {
            Some(uid) => drop(objects.evidence.news.about.insert(uid)),
            // It may be late.
            None => objects.evidence.news.has_unknown_subjects = true,
        },
    }
}

/// Assesses the objects that events or the time have changed since the last call. Returns every object
/// that may be different now, with its owners, and the removed objects.
pub(super) fn refresh(objects: &mut Objects, now: Timestamp) -> BTreeSet<Uid> {
    if objects.was_settled {
        objects.listed.clear();
    }
    objects.refreshed = now;
    let mut changed = std::mem::take(&mut objects.changed);
    changed.extend(take_due(objects, now));
    // Owners before and after.
    let mut touched = objects.graph.with_above(&changed);
    let links = assess_all(objects, &changed, now);
    objects.state_changes += u64::from(objects.graph.link(links));
    touched.extend(objects.graph.with_above(&changed));
    let expired = expired(objects, now);
    touched.extend(objects.graph.with_above(&expired));
    let removed = expired.iter().filter_map(|uid| objects.get(uid));
    let removed: BTreeSet<Arc<str>> = removed.map(|object| object.object.kind.clone()).collect();
    for uid in &expired {
        changed.extend(remove(objects, uid));
    }
    changed.extend(take_explained(objects));
    changed.extend(to_judge_again(Around::of(objects), &touched, &removed));
    let judged = judge(objects, changed, now);
    touched.extend(objects.graph.with_above(&judged));
    for group in objects.graph.bottom_up(&touched) {
        roll_up(objects, &group, now);
        for uid in &group {
            if objects.get(uid).is_some_and(needs_explanation) {
                objects.unwell.insert(uid.clone());
            } else {
                objects.unwell.remove(uid);
            }
        }
    }
    // Their parsed forms take memory.
    objects.shown_volumes.take();
    objects.was_settled = objects.has_everything();
    touched
}

/// The objects with new evidence. Warnings about unknown objects are kept for a while.
fn take_explained(objects: &mut Objects) -> BTreeSet<Uid> {
    let news = std::mem::take(&mut objects.evidence.news);
    let mut explained = news.about;
    if news.is_common {
        explained.extend(objects.unwell.iter().cloned());
        let readers = readers(Around::of(objects));
        explained.extend(readers.map(|(node, _)| node.uid.clone()));
    }
    if news.has_unknown_subjects {
        let nodes = objects.graph.of_kind("Node");
        let nodes: BTreeSet<Arc<str>> = nodes.map(|node| node.object.name.clone()).collect();
        let around = Around::of(objects);
        let is_known = |about: &ObjectRef| {
            let is_node = &*about.kind == "Node" && nodes.contains(&about.name);
            is_node || subject_of(around, about).is_some()
        };
        let unknown = objects.evidence.unknown_subjects(is_known);
        objects.evidence.forget(&unknown);
    }
    explained
}

/// The objects that are due for a review by now.
fn take_due(objects: &mut Objects, now: Timestamp) -> Vec<Uid> {
    let mut due = Vec::new();
    while let Some((at, uid)) = objects.reviews.pop_first() {
        if at > now {
            objects.reviews.insert((at, uid));
            break;
        }
        due.push(uid);
    }
    due
}

/// Assesses each of these objects alone. Returns the links of those that could be read.
///
/// The objects of one controller have almost equal texts, and neighbours in the order of their names. So each is parsed with the
/// one before as a hint.
fn assess_all(objects: &mut Objects, uids: &BTreeSet<Uid>, now: Timestamp) -> Vec<(Uid, Links)> {
    let named = uids
        .iter()
        .filter_map(|uid| Some((objects.get(uid)?.object.clone(), uid)));
    let mut named: Vec<(Arc<ObjectRef>, &Uid)> = named.collect();
    named.sort_unstable();
    let mut before = None;
    let links = named.into_iter().filter_map(|(_, uid)| {
        let links = assess(objects, uid, now, &mut before)?;
        Some((uid.clone(), links))
    });
    links.collect()
}

/// Assesses an object alone. Returns its links, if it could be read. `before` is the object that was read last.
fn assess(
    objects: &mut Objects,
    uid: &Uid,
    now: Timestamp,
    before: &mut Option<Doc>,
) -> Option<Links> {
    let object = objects.by_uid.get_mut(uid)?;
    let mut links = None;
    if let Some(review) = object.review.take() {
        objects.reviews.remove(&(review, uid.clone()));
    }
    let assessment = match (object.departure, object.version()) {
        (Some((how, _)), _) => Assessment::departed(how),
        (None, None) => return None,
        (None, Some(version)) => match version.doc_after(before.as_ref()) {
            Err(error) => Assessment::unreadable(&error),
            Ok(doc) => {
                let (form, graph) = (object.form(), &mut objects.graph);
                let is_other = graph.apply_in(form, &object.object, doc.root());
                objects.state_changes += u64::from(is_other);
                object.is_starting = is_starting(doc.root(), now);
                object.printed = printed(doc.root());
                object.review = review_at(doc.root(), now);
                let review = object.review.map(|review| (review, uid.clone()));
                objects.reviews.extend(review);
                let mut assessment = Assessment::of(doc.root(), now, objects.rules);
                // kstatus looks at no other object.
                if objects.rules == Rules::Spy {
                    if object.form() != Form::Metadata && objects.types.has_status(&object.object) {
                        assessment = assessment.expecting_status(doc.root());
                    }
                    object.needs = needed(doc.root(), &assessment, now);
                    if is_running_well(doc.root(), &assessment) {
                        object.needs = objects.needs_of_well_pods;
                    }
                    let upto = object.needs.max(objects.links_upto);
                    links = Some(Links::of(doc.root(), upto, &objects.types));
                }
                *before = Some(doc);
                assessment
            }
        },
    };
    if *object.own != assessment {
        objects.state_changes += 1;
        object.own = Arc::new(assessment);
    }
    object.drop_tape();
    share_with_sibling(objects, uid);
    links
}

/// Lets an object share the memory of its assessment with an equal sibling. Most Pods are alike.
fn share_with_sibling(objects: &mut Objects, uid: &Uid) {
    let (Some(node), Some(object)) = (objects.graph.node(uid), objects.get(uid)) else {
        return;
    };
    let siblings = objects.graph.siblings(node);
    let mut siblings = siblings.filter_map(|sibling| objects.get(&sibling.uid));
    let own = siblings.find_map(|sibling| (sibling.own == object.own).then(|| sibling.own.clone()));
    if let (Some(own), Some(object)) = (own, objects.by_uid.get_mut(uid)) {
        object.own = own;
    }
}

/// The objects to remove: those that have been gone for long enough and, once all sources are read, those
/// that no followed source shows.
fn expired(objects: &mut Objects, now: Timestamp) -> Vec<Uid> {
    let owners = departed_owners(objects);
    let mut expired: Vec<Uid> = objects.departed.iter().cloned().collect();
    expired.retain(|uid| !owners.contains(uid) && has_expired(objects, uid, now));
    if objects.coverage.take_replaced() {
        for (uid, object) in &mut objects.by_uid {
            object.retain_sources(|source| objects.coverage.follows(source));
            if object.version().is_none() && object.departure.is_none() {
                expired.push(uid.clone());
            }
        }
    }
    expired
}

fn has_expired(objects: &Objects, uid: &Uid, now: Timestamp) -> bool {
    let departure = objects.by_uid.get(uid).and_then(|object| object.departure);
    match (objects.retention, departure) {
        (Retention::For(time), Some((_, at))) => now.duration_since(at) >= time,
        (Retention::None, _) | (_, None) => true,
    }
}

/// The objects that are gone and kept because a dependent is there. The members of an inventory are not its own: they
/// may stay.
fn departed_owners(objects: &Objects) -> BTreeSet<Uid> {
    if objects.retention == Retention::None {
        return BTreeSet::new();
    }
    let owns_any = |uid: &&Uid| {
        let mut below = objects.graph.directly_below(uid);
        below.any(|below| objects.is_there(&below.uid))
    };
    let above = objects
        .graph
        .with_above(objects.departed.iter().filter(owns_any));
    let owners = above.into_iter();
    owners
        .filter(|uid| objects.departed.contains(uid) && !objects.graph.is_inventory(uid))
        .collect()
}

/// Removes an object. Returns the objects to judge again: those that name it, its Services, and its claims.
fn remove(objects: &mut Objects, uid: &Uid) -> Vec<Uid> {
    objects.departed.remove(uid);
    objects.unwell.remove(uid);
    let mut around = services_of(Around::of(objects), uid);
    let node = objects.graph.node(uid).into_iter();
    let claims = node.flat_map(|node| claims_of(Around::of(objects), node));
    around.extend(claims.map(|claim| claim.uid.clone()));
    objects.graph.delete(uid);
    objects.state_changes += 1;
    let Some(object) = objects.by_uid.remove(uid) else {
        return around;
    };
    if let Some(review) = object.review {
        objects.reviews.remove(&(review, uid.clone()));
    }
    if object.departure.is_some() {
        objects.search.forget(uid);
    }
    around.extend(objects.graph.referrers(&object.object).cloned());
    around
}

/// Up to which tier other objects matter to the state of an object. An object that is well has found most of what it
/// needs, and one that is only starting may still find it.
pub(super) fn needed(object: Value<'_>, own: &Assessment, now: Timestamp) -> Tier {
    let is_waiting = own.status() == Status::InProgress && !is_starting(object, now);
    if is_waiting || own.status() == Status::Failed {
        Tier::Unwell
    } else {
        Tier::Always
    }
}

/// Whether an object is a Pod that runs and is well.
pub(super) fn is_running_well(object: Value<'_>, own: &Assessment) -> bool {
    let is_running = object.str_at(&["status", "phase"]).as_deref() == Some("Running");
    is_running && own.is_well()
}
