//! Tests of the tree views, whole outputs and laws.
