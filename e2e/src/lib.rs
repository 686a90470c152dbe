//! Stories and the local cluster of cephbench.
