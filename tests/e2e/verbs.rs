//! The verbs against a real control plane.
