//! Figures for people and machines: tables and formats. Pure.

mod columns;
mod machine;
mod table;

pub use machine::{json, yaml};
pub use table::table;

#[cfg(test)]
mod tests;
