//! Runs `ceph`, `rbd` and `ceph-authtool`, each with a time limit. Not a client of its own: the stand-in asks Ceph
//! what an administrator would ask, with the same programs.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

/// A command that has to wait for frozen OSDs would never return.
const LIMIT: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{program} can't be started: {source}")]
    Start {
        program: String,
        #[source]
        source: std::io::Error,
    },
    #[error("`{command}` gave no answer in {seconds} s")]
    TimedOut { command: String, seconds: u64 },
    #[error("`{command}` ended with code {code}: {message}")]
    Failed { command: String, code: i32, message: String },
    #[error("`{command}` printed no JSON: {source}")]
    NotJson {
        command: String,
        #[source]
        source: serde_json::Error,
    },
}

impl Error {
    /// Whether Ceph said that the thing asked about does not exist. The programs exit with the error number.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Failed { code: 2, .. })
    }
}

/// Standard output of `program arguments`. Arguments hold no keys, so errors may print them.
pub async fn run(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let command = format!("{program} {}", arguments.join(" "));
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).kill_on_drop(true).output();
    let output = match timeout(LIMIT, child).await {
        Err(_) => {
            return Err(Error::TimedOut { command, seconds: LIMIT.as_secs() });
        }
        Ok(Err(source)) => {
            return Err(Error::Start { program: program.to_owned(), source });
        }
        Ok(Ok(output)) => output,
    };
    if !output.status.success() {
        return Err(Error::Failed {
            command,
            code: output.status.code().unwrap_or(-1),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `ceph arguments`; the text it prints, trimmed.
pub async fn ceph(arguments: &[&str]) -> Result<String, Error> {
    let mut all = vec!["--connect-timeout", "10"];
    all.extend_from_slice(arguments);
    Ok(run("ceph", &all).await?.trim().to_owned())
}

/// `ceph arguments --format json`, parsed.
pub async fn ceph_json(arguments: &[&str]) -> Result<Value, Error> {
    let mut all = arguments.to_vec();
    all.extend_from_slice(&["--format", "json"]);
    parse("ceph", &all, &ceph(&all).await?)
}

/// `rbd arguments --format json`, parsed.
pub async fn rbd_json(arguments: &[&str]) -> Result<Value, Error> {
    let mut all = arguments.to_vec();
    all.extend_from_slice(&["--format", "json"]);
    parse("rbd", &all, &run("rbd", &all).await?)
}

/// A fresh cephx key.
pub async fn generate_key() -> Result<String, Error> {
    Ok(run("ceph-authtool", &["--gen-print-key"]).await?.trim().to_owned())
}

fn parse(program: &str, arguments: &[&str], text: &str) -> Result<Value, Error> {
    serde_json::from_str(text)
        .map_err(|source| Error::NotJson { command: format!("{program} {}", arguments.join(" ")), source })
}
