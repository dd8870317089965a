//! `Admission`: which logs are followed, and which are read in turn because there are too many.

use std::collections::HashMap;
use std::sync::Arc;

use crate::source::ClusterId;

/// The most logs that are followed on one node. Each follow takes an inotify instance of the node, which has 128 by default
/// (`fs.inotify.max_user_instances`).
const MOST_ON_A_NODE: usize = 100;

/// A node of a cluster. Nodes of two clusters may have one name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogNode {
    /// The cluster.
    pub cluster: ClusterId,
    /// The name of the node; empty if it is not known.
    pub name: Arc<str>,
}

/// Counts the followed logs.
#[derive(Debug)]
pub struct Admission {
    most: usize,
    followed: usize,
    by_node: HashMap<LogNode, usize>,
}

impl Admission {
    /// Allows to follow this many logs.
    pub fn new(most: usize) -> Admission {
        Admission {
            most,
            followed: 0,
            by_node: HashMap::new(),
        }
    }

    /// Admits a log of a container on this node. Returns whether it may be followed.
    pub fn admit(&mut self, node: &LogNode) -> bool {
        let on_node = self.by_node.entry(node.clone()).or_default();
        let is_admitted = self.followed < self.most && *on_node < MOST_ON_A_NODE;
        if is_admitted {
            self.followed += 1;
            *on_node += 1;
        }
        is_admitted
    }

    /// A log that was admitted is not followed any more.
    pub fn release(&mut self, node: &LogNode) {
        self.followed = self.followed.saturating_sub(1);
        if let Some(on_node) = self.by_node.get_mut(node) {
            *on_node = on_node.saturating_sub(1);
            if *on_node == 0 {
                self.by_node.remove(node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_and_the_whole_have_limits() {
        let mut admission = Admission::new(150);
        let node = |name: &str| LogNode {
            cluster: ClusterId("test".into()),
            name: name.into(),
        };
        let admitted = |admission: &mut Admission, name: &str| {
            (0..200).filter(|_| admission.admit(&node(name))).count()
        };
        assert_eq!(admitted(&mut admission, "a"), 100);
        assert_eq!(admitted(&mut admission, "b"), 50);
        assert_eq!(admitted(&mut admission, "c"), 0);
        admission.release(&node("a"));
        assert_eq!(admitted(&mut admission, "c"), 1);
        let mut admission = Admission::new(150);
        assert_eq!(admitted(&mut admission, "a"), 100);
        let of_other = LogNode {
            cluster: ClusterId("other".into()),
            ..node("a")
        };
        assert!(admission.admit(&of_other));
    }
}
