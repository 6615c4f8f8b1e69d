//! Builds of another commit of this repository, in folders of their own below `target/commits`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{NEWCOMER, PACKAGED, executable_of, profiles};
use crate::shell::{cargo, output, root, run};

/// A commit of this repository, by its abbreviated identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit(String);

impl Commit {
    /// Returns the commit that a user names: a branch, a tag, or the beginning of an identifier.
    ///
    /// # Errors
    /// There is no such commit.
    pub fn find(name: &str) -> Result<Commit> {
        let revision = format!("{name}^{{commit}}");
        let mut found = git(&["rev-parse", "--verify", "--quiet", "--short=12", &revision]);
        let id = output(&mut found).with_context(|| format!("no commit `{name}`"))?;
        Ok(Commit(id.trim().to_owned()))
    }

    /// Builds its `plimsoll` like a package of this checkout, and returns the path.
    ///
    /// # Errors
    /// The build fails.
    pub fn packaged_binary(&self) -> Result<PathBuf> {
        let sources = self.sources()?;
        executable_of(packaged(&sources, &profiles::write(&sources)?))
    }

    /// Returns the build of a newcomer to this commit, with the profiles it had then.
    pub(super) fn newcomers_build(&self) -> Result<Command> {
        let mut build = cargo(&NEWCOMER);
        build.current_dir(self.sources()?);
        Ok(build)
    }

    /// Lays out the sources, unless an earlier call did; returns their folder.
    fn sources(&self) -> Result<PathBuf> {
        let sources = root().join("target/commits").join(&self.0);
        if !sources.exists() {
            // An interrupted call leaves no folder of this name.
            let partial = sources.with_extension("partial");
            let archive = sources.with_extension("tar");
            fs::create_dir_all(&partial)?;
            run(git(&["archive", "--format", "tar", &self.0, "--output"]).arg(&archive))?;
            run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&partial))?;
            fs::rename(&partial, &sources)?;
            fs::remove_file(&archive)?;
        }
        Ok(sources)
    }
}

/// Returns the build of other sources with profiles from a file instead of their own: a commit from before there was a
/// profile for packages is optimized in the same way as this one.
fn packaged(sources: &Path, profiles: &Path) -> Command {
    let mut build = cargo(&PACKAGED);
    build.current_dir(sources).arg("--config").arg(profiles);
    build.arg("--target-dir").arg(sources.join("target"));
    build
}

/// Returns the commit of this checkout, and whether it was changed.
pub(crate) fn checked_out() -> String {
    let found = output(&mut git(&["describe", "--always", "--dirty"]));
    found.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// Returns the time of the commit of this checkout in a form that git knows for its option `--date`, in UTC.
///
/// # Errors
/// This is no repository.
pub(crate) fn committed_at(form: &str) -> Result<String> {
    let date = format!("--date={form}");
    let mut show = git(&["show", "--no-patch", &date, "--format=%cd"]);
    Ok(output(show.env("TZ", "UTC"))?.trim().to_owned())
}

fn git(arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(root());
    git
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::line;

    /// The profile of both sides of a comparison is the same, whatever the other commit has.
    #[test]
    fn another_commit_is_built_like_a_package_with_the_profiles_of_this_checkout() {
        let build = packaged(Path::new("/old"), Path::new("/old/profiles.toml"));
        let here = line(&cargo(&PACKAGED));
        assert!(here.contains("--profile packaged"), "{here}");
        assert_eq!(line(&build), here + " --config /old/profiles.toml --target-dir /old/target");
        assert_eq!(build.get_current_dir(), Some(Path::new("/old")));
    }

    #[test]
    fn the_time_of_a_commit_is_the_same_in_both_forms() {
        let seconds: i64 = committed_at("unix").unwrap().parse().unwrap();
        let date = committed_at("format-local:%Y-%m-%dT%H:%M:%SZ").unwrap();
        let again = output(Command::new("date").args(["--date", &date, "+%s"])).unwrap();
        assert_eq!(again.trim(), seconds.to_string(), "{date}");
    }

    #[test]
    fn what_is_no_commit_is_refused_with_its_name() {
        let error = Commit::find("no-such-branch").unwrap_err().to_string();
        assert_eq!(error, "no commit `no-such-branch`");
    }
}
