//! Arguments only.

use clap::{Parser, Subcommand};

use cephbench::api::crd_yaml;

/// Kubernetes operator that benchmarks Ceph.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the CustomResourceDefinition as YAML.
    Crd,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Crd => print!("{}", crd_yaml()),
    }
    Ok(())
}
