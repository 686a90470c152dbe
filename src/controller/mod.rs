//! The operator: watches, observes, asks the pure core what is next, and applies it.
