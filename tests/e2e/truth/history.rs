//! The operations of a history, drawn from its seed before the run.

use std::time::Duration;

use super::objects::{FIELDS, Kind, Name, OBJECTS};

/// A random history of one namespace. A failure prints its seed.
#[derive(Clone, Debug)]
pub struct History {
    pub seed: u64,
    pub steps: Vec<Step>,
}

/// One request, or a few that belong together.
#[derive(Clone, Debug)]
pub struct Step {
    /// The pause before it.
    pub pause: Duration,
    pub object: Name,
    pub manager: Manager,
    pub act: Act,
}

/// A client. The API server reads its name from `fieldManager` or from the `User-Agent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    Query(&'static str),
    Agent(&'static str),
}

/// The clients: people, tools, and controllers.
const MANAGERS: [Manager; 6] = [
    Manager::Query("alice"),
    Manager::Query("kubectl-edit"),
    Manager::Agent("helm"),
    Manager::Agent("bob"),
    Manager::Query("argocd-controller"),
    Manager::Agent("web-operator"),
];

/// What a client does to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Creates it. If it exists, nothing changes.
    Create,
    /// Deletes it, and creates it again from the kept dump, with its managed fields.
    Restore,
    /// Sets fields with a patch.
    Patch(Edit),
    /// Keeps a dump of the object, with its managed fields.
    Keep,
    /// Replaces it with the kept dump.
    ReplaceByDump(Edit),
    /// Replaces it with its current state, in which every entry of `managedFields` has another time.
    ReplaceStamped(Stamp, Edit),
    /// Applies some fields on the server's side.
    Apply(&'static [&'static str], Force),
    /// Writes a field of the status.
    Status(Edit),
    /// Sets the number of replicas through the scale subresource.
    Scale,
    /// Binds a Pod to a node: the server records no manager.
    Bind,
    /// Drops all records of managers.
    ClearManagers,
    Delete,
    /// Deletes it, and creates it again at once.
    Recreate,
    /// Adds a finalizer, deletes it, and removes the finalizer.
    DeleteWithFinalizer,
}

/// A change of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    Nothing,
    Set(&'static str),
    Remove(&'static str),
    /// Sets the first and removes the second.
    Both(&'static str, &'static str),
}

/// The forged time of a field manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// 2001-01-01.
    Ancient,
    /// This many hours from now.
    Hours(i64),
    /// In 2090.
    Distant,
    /// No time.
    Missing,
}

/// Whether an apply takes over fields of other managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    Yes,
    No,
}

/// The number of steps of a history.
const STEPS: usize = 90;

impl History {
    /// The history of a seed.
    pub fn of(seed: u64) -> History {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut steps = Vec::new();
        for object in OBJECTS {
            steps.push(step(object, Act::Create, &mut rng));
        }
        while steps.len() < STEPS {
            // A few steps in a row concern the same object, often within one second.
            let object = OBJECTS[rng.usize(..OBJECTS.len())];
            for _ in 0..rng.u32(1..6) {
                let act = act(object.kind, &mut rng);
                steps.push(step(object, act, &mut rng));
            }
        }
        History { seed, steps }
    }
}

fn step(object: Name, act: Act, rng: &mut fastrand::Rng) -> Step {
    Step {
        pause: pause(rng),
        object,
        manager: MANAGERS[rng.usize(..MANAGERS.len())],
        act,
    }
}

fn pause(rng: &mut fastrand::Rng) -> Duration {
    Duration::from_millis(match rng.u32(..20) {
        0..13 => 0,
        13..18 => rng.u64(20..500),
        _ => rng.u64(1000..2500),
    })
}

fn act(kind: Kind, rng: &mut fastrand::Rng) -> Act {
    match rng.u32(..25) {
        0..5 => Act::Patch(edit(rng)),
        5..7 => Act::Patch(Edit::Remove(field(rng))),
        7 => Act::Keep,
        8..10 => Act::ReplaceByDump(dump_edit(rng)),
        10..12 => Act::ReplaceStamped(stamp(rng), dump_edit(rng)),
        12..14 => Act::Apply(
            applied(rng),
            if rng.bool() { Force::Yes } else { Force::No },
        ),
        14 | 20 => Act::Create,
        15 => Act::Restore,
        16 => Act::ClearManagers,
        17 => Act::Delete,
        18 => Act::Recreate,
        19 => Act::DeleteWithFinalizer,
        _ => special(kind, rng),
    }
}

/// What only some kinds support.
fn special(kind: Kind, rng: &mut fastrand::Rng) -> Act {
    match (kind, rng.u32(..2)) {
        (Kind::Deployment | Kind::ReplicaSet | Kind::Gadget, 0) => Act::Scale,
        (Kind::Pod, 0) => Act::Bind,
        (Kind::Deployment | Kind::ReplicaSet | Kind::Gadget | Kind::Pod, _) => {
            Act::Status(edit(rng))
        }
        (Kind::ConfigMap | Kind::Secret | Kind::Event, _) => Act::Patch(edit(rng)),
    }
}

fn edit(rng: &mut fastrand::Rng) -> Edit {
    match rng.u32(..6) {
        0 => Edit::Remove(field(rng)),
        1 => Edit::Both(field(rng), field(rng)),
        _ => Edit::Set(field(rng)),
    }
}

/// Most replaced dumps are replaced as they are.
fn dump_edit(rng: &mut fastrand::Rng) -> Edit {
    match rng.u32(..3) {
        0 => edit(rng),
        _ => Edit::Nothing,
    }
}

fn field(rng: &mut fastrand::Rng) -> &'static str {
    FIELDS[rng.usize(..FIELDS.len())]
}

fn applied(rng: &mut fastrand::Rng) -> &'static [&'static str] {
    let from = rng.usize(..FIELDS.len());
    &FIELDS[from..=rng.usize(from..FIELDS.len())]
}

fn stamp(rng: &mut fastrand::Rng) -> Stamp {
    match rng.u32(..6) {
        0 => Stamp::Ancient,
        1 => Stamp::Distant,
        2 => Stamp::Missing,
        3 => Stamp::Hours(1),
        _ => Stamp::Hours(-1),
    }
}
