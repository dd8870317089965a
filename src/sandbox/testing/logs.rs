//! The logs that tests write, and what happens to them.

use crate::sandbox::logs::{LogOptions, container_of, instance_of};
use crate::sandbox::{Sandbox, Target};

impl Sandbox {
    /// The ID of the instance of the only container of a Pod whose log a request gets.
    fn instance(&self, namespace: &str, pod: &str) -> Option<String> {
        let pod = self.get(&Target::new("pods", namespace, pod))?;
        let container = container_of(&pod, &LogOptions::default()).ok()?;
        instance_of(&pod, &container, false).ok()
    }

    /// Moves the log of the only container of a Pod into a rotated file.
    pub fn rotate_log(&self, namespace: &str, pod: &str) {
        if let Some(id) = self.instance(namespace, pod) {
            self.shared.logs.rotate(&id);
        }
    }

    /// Ends all answers with logs as if they were complete, as a connection that breaks between the API server and a node.
    pub fn cut_logs(&self) {
        self.shared.logs.cut();
    }
}
