//! A scenario as data: actions and their times.

use serde_json::Value;

/// An action from outside of the simulated controllers.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Creates an object.
    Create {
        /// The field manager.
        manager: &'static str,
        /// The object.
        object: Value,
    },
    /// Changes an object by a JSON merge patch.
    Patch {
        /// The field manager.
        manager: &'static str,
        /// The subresource; empty for none.
        subresource: &'static str,
        /// Plural of the resource.
        resource: &'static str,
        /// Name of the object.
        name: &'static str,
        /// The patch.
        patch: Value,
    },
    /// Deletes an object at once.
    Delete {
        /// Plural of the resource.
        resource: &'static str,
        /// Name of the object.
        name: &'static str,
    },
    /// Changes the image of a Deployment's only container.
    SetImage {
        /// The field manager.
        manager: &'static str,
        /// Name of the Deployment.
        deployment: &'static str,
        /// The image.
        image: &'static str,
    },
}

/// One step of a story.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptStep {
    /// Milliseconds since the start.
    pub at: u64,
    /// The action at that time.
    pub action: Action,
}

/// An object that already exists when the scenario starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Prop {
    /// The age of the object at the start, in seconds.
    pub age: u64,
    /// The field manager that created it.
    pub manager: &'static str,
    /// The object. Its controllers have finished before the start.
    pub object: Value,
}

/// A scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// The namespace in which it plays.
    pub namespace: &'static str,
    /// The images that are missing in the registry.
    pub missing_images: Vec<&'static str>,
    /// Images whose program panics at its start.
    pub crashing_images: Vec<&'static str>,
    /// The objects that exist at the start.
    pub props: Vec<Prop>,
    /// The actions, in order.
    pub steps: Vec<ScriptStep>,
}
