//! Arguments only.

fn main() {}
