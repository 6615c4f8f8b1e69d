//! The folder of the checkout and that of its builds, which servers under test read as other users.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proving::shell::{cargo, output};

/// The permission of others to enter a folder.
const OTHERS_ENTER: u32 = 0o001;

/// Checks that other users can enter the folders of the checkout and of its builds: Apache and PostgreSQL, which tests start
/// as root, run as users of their own, and read programs and files there.
///
/// # Errors
/// They cannot; the remedy is part of it.
pub(crate) fn check() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        // Servers are started as the user who owns the checkout.
        return Ok(());
    }
    let metadata = output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).context("the metadata of cargo")?;
    let folders = ["workspace_root", "target_directory"].map(|name| metadata[name].as_str());
    let mode = |folder: &Path| Some(fs::metadata(folder).ok()?.permissions().mode());
    for folder in folders.into_iter().flatten() {
        if let Some(closed) = closed_to_others(Path::new(folder), mode) {
            bail!("{}", closed_text(Path::new(folder), &closed));
        }
    }
    Ok(())
}

/// Returns the highest folder on the way to a path, itself included, that other users cannot enter; `mode` returns the mode of
/// one that exists.
fn closed_to_others(path: &Path, mode: impl Fn(&Path) -> Option<u32>) -> Option<PathBuf> {
    let is_closed = |folder: &&Path| mode(folder).is_some_and(|mode| mode & OTHERS_ENTER == 0);
    path.ancestors().filter(is_closed).last().map(Path::to_owned)
}

fn closed_text(path: &Path, closed: &Path) -> String {
    let path = path.display();
    let closed = closed.display();
    format!(
        "other users cannot enter `{closed}`, and Apache and PostgreSQL, which run as users of their own, cannot read \
         `{path}`: their tests will fail\n\
         hint: move the checkout to a folder that everybody can enter, as by `git clone . /srv/plimsoll`, or open this one, \
         `chmod o+x {closed}`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_cannot_enter_is_found_above_the_checkout() {
        let closed = |path: &str, root: u32, project: u32| {
            let mode = |folder: &Path| match folder.to_str()? {
                "/" => Some(0o40_755),
                "/root" => Some(0o40_000 | root),
                "/root/plimsoll" => Some(0o40_000 | project),
                _ => None,
            };
            closed_to_others(Path::new(path), mode).map(|folder| folder.display().to_string())
        };
        assert_eq!(closed("/root/plimsoll", 0o700, 0o755).as_deref(), Some("/root"));
        assert_eq!(closed("/root/plimsoll/target", 0o711, 0o750).as_deref(), Some("/root/plimsoll"));
        assert_eq!(closed("/root/plimsoll/target", 0o711, 0o711), None, "a target that is not made yet");
        assert_eq!(closed("/root/plimsoll", 0o700, 0o700).as_deref(), Some("/root"), "one remedy first");
        let text = closed_text(Path::new("/root/plimsoll"), Path::new("/root"));
        assert!(
            text.contains("cannot enter `/root`") && text.contains("\nhint: move the checkout"),
            "{text}"
        );
        assert!(text.ends_with("`chmod o+x /root`"), "{text}");
    }
}
