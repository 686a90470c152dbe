//! cephbench.
