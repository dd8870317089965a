//! `kubectl-spy`: status, changes and traces of Kubernetes objects on one watch core.
