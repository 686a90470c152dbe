//! Puts the bench into a directory for containers of other images. Our image may hold two builds: a static one, which runs anywhere and is
//! what runs here, and beside it one linked to an old glibc, which can open the Ceph libraries of the image it is put into.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The build for images with Ceph libraries, beside this program.
const GLIBC_BUILD: &str = "cephbench-glibc";
const INSTALLED: &str = "cephbench";

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("find this program: {0}")]
    Myself(#[source] io::Error),
    #[error("copy {from} to {to}: {cause}")]
    Copy { from: PathBuf, to: PathBuf, cause: io::Error },
}

/// Copies the bench to `directory`/cephbench, whole or not at all. Returns where from.
pub fn install(directory: &Path) -> Result<PathBuf, InstallError> {
    let myself = std::env::current_exe().map_err(InstallError::Myself)?;
    let glibc = myself.with_file_name(GLIBC_BUILD);
    let from = if glibc.is_file() { glibc } else { myself };
    let to = directory.join(INSTALLED);
    copy(&from, &to).map_err(|cause| InstallError::Copy { from: from.clone(), to, cause })?;
    Ok(from)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let part = to.with_extension("part");
    fs::copy(from, &part)?;
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755))?;
    fs::rename(&part, to)
}
