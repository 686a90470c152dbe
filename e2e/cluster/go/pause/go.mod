// The sandbox image's only program; it needs nothing but the standard library.
module cephbench.io/e2e/cluster/pause

go 1.24.0
