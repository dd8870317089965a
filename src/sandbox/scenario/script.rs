//! A story as data: what people do, and when.

use serde_json::Value;

/// What somebody or something outside the simulated controllers does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Creates an object.
    Create {
        /// Who.
        manager: &'static str,
        /// What.
        object: Value,
    },
    /// Changes an object by a JSON merge patch.
    Patch {
        /// Who.
        manager: &'static str,
        /// The subresource written to; empty for none.
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
    /// Gives the only container of a Deployment another image.
    SetImage {
        /// Who.
        manager: &'static str,
        /// Name of the Deployment.
        deployment: &'static str,
        /// The image.
        image: &'static str,
    },
}

/// One step of a story.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Milliseconds since the start.
    pub at: u64,
    /// What is done then.
    pub action: Action,
}

/// An object that has been there for a while when the story starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Prop {
    /// Age at the start, seconds.
    pub age: u64,
    /// Who created it.
    pub manager: &'static str,
    /// The object; its controllers have long done their work by the start.
    pub object: Value,
}

/// A story.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// The namespace it plays in.
    pub namespace: &'static str,
    /// The images that the registry does not have.
    pub missing_images: Vec<&'static str>,
    /// What is there at the start.
    pub props: Vec<Prop>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}
