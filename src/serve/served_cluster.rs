//! `ServedCluster`: one of the clusters that the server follows, and the order of the rows of several.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::status::Status;

/// A cluster that the server follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedCluster {
    /// Its name: that of its context.
    pub name: Arc<str>,
    /// Its short name, for a column.
    pub label: Arc<str>,
    /// Whether its objects are read.
    pub is_read: bool,
    /// Why it cannot be read now, in a line.
    pub trouble: Option<String>,
}

impl ServedCluster {
    /// The only cluster of a server. Nothing is read of it yet.
    pub fn alone(name: Arc<str>) -> ServedCluster {
        ServedCluster {
            label: name.clone(),
            name,
            ..ServedCluster::default()
        }
    }

    /// Why readers may miss its objects; `None` if it is read.
    pub fn reason(&self) -> Option<&str> {
        match &self.trouble {
            Some(trouble) => Some(trouble),
            None if self.is_read => None,
            None => Some("it is not read yet"),
        }
    }

    /// `edge-2: connection refused`: the same as a line.
    pub fn absence(&self) -> Option<String> {
        Some(format!("{}: {}", self.name, self.reason()?))
    }
}

/// The trees of all lists, that with the worst object first. The trees of one list keep their order.
pub(super) fn merged<'l, T: Clone + 'l>(
    lists: impl Iterator<Item = &'l [T]>,
    depth: impl Fn(&T) -> usize,
    status: impl Fn(&T) -> Status,
) -> Vec<T> {
    let trees = |list: &'l [T]| {
        let trees = list.chunk_by(|_, next| depth(next) > 0);
        trees.collect::<Vec<_>>().into_iter().peekable()
    };
    let mut lists: Vec<_> = lists.map(trees).collect();
    let mut all = Vec::new();
    loop {
        let worst = |tree: &&[T]| tree.iter().map(&status).max();
        let heads = lists.iter_mut().enumerate();
        let heads = heads.filter_map(|(at, list)| Some((Reverse(worst(list.peek()?)), at)));
        let Some((_, first)) = heads.min() else {
            return all;
        };
        all.extend(lists[first].next().into_iter().flatten().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_tree_of_all_lists_comes_first() {
        type Row = (&'static str, usize, Status);
        let (well, failed) = (Status::Current, Status::Failed);
        let one = [("a", 0, well), ("b", 0, failed), ("c", 1, well)];
        let other = [("d", 0, well), ("e", 1, failed), ("f", 0, well)];
        let lists = [&one[..], &other[..], &[]];
        let all = merged(lists.into_iter(), |row: &Row| row.1, |row| row.2);
        let names: Vec<&str> = all.iter().map(|row| row.0).collect();
        assert_eq!(names, ["d", "e", "a", "b", "c", "f"]);
    }

    #[test]
    fn a_cluster_that_is_not_read_says_why() {
        let mut cluster = ServedCluster::alone("edge-2".into());
        let absence = cluster.absence();
        assert_eq!(absence.as_deref(), Some("edge-2: it is not read yet"));
        cluster.is_read = true;
        assert_eq!(cluster.absence(), None);
        cluster.trouble = Some("connection refused".to_owned());
        let absence = cluster.absence();
        assert_eq!(absence.as_deref(), Some("edge-2: connection refused"));
    }
}
