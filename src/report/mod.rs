//! Figures for people and machines: tables and formats. Pure.

mod columns;
mod machine;
mod table;

pub use machine::{json, json_of, yaml, yaml_of};
pub use table::{status_table, table};

#[cfg(test)]
mod tests;
