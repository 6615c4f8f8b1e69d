//! The data of a server: put into place, restored from their golden copy, and read into memory.

use std::os::unix::fs::MetadataExt;

use rustix::process::{getegid, geteuid};

use super::account::Account;
use super::buffer_sizes::DataContents;
use super::data_directory::DataDirectory;
use super::data_warm_up::{DataWarmUp, warm_until_proven};
use super::golden::{self, GoldenKey, GoldenLookUp};
use super::processes::ProcessBuilder;
use super::programs::Selection;
use super::step::{STEP_MAX, StepProcess};
use super::values::PlaceholderValues;
use super::work_dir::WorkDir;
use super::{SutError, SutRequest};
use crate::cgroup::ControlGroup;
use crate::recipe::{Recipe, Reset, StepTime};

/// The place of the golden copy of data that are restored.
pub(super) struct GoldenPlace {
    found: GoldenLookUp,
    /// Whether contents are loaded into the data before they are copied.
    awaits_contents: bool,
}

impl GoldenPlace {
    /// Finds the copy of the data of a selection, or the place for one; `None` of data that are not restored.
    ///
    /// # Errors
    /// The folder of copies cannot be used.
    pub(super) fn find(
        request: &SutRequest,
        selection: &Selection,
        values: &PlaceholderValues,
        version: Option<&str>,
        contents: Option<&DataContents>,
    ) -> Result<Option<GoldenPlace>, SutError> {
        let recipe = &selection.recipe;
        if recipe.reset != Reset::Restore || recipe.data.is_none() {
            return Ok(None);
        }
        let identity = contents.map(|contents| contents.identity.as_str());
        let key = golden_key(selection, values, version).with_contents(identity);
        let found = golden::look_up(&request.data_dir, key)?;
        Ok(Some(GoldenPlace { found, awaits_contents: contents.is_some() }))
    }

    /// Returns the password in the data of a copy.
    pub(super) fn password(&self) -> Option<&str> {
        match &self.found {
            GoldenLookUp::Found(copy) => Some(&copy.password),
            GoldenLookUp::Vacant(_) => None,
        }
    }
}

/// Returns all that the data of a server depend on: its recipe and profile with the values of this machine, its program
/// and account. Values that are chosen for each start are left out.
fn golden_key(
    Selection { recipe, choice, programs, .. }: &Selection,
    values: &PlaceholderValues,
    version: Option<&str>,
) -> GoldenKey {
    let program = programs.server.as_path();
    let fixed = values.of_every_start().with_parts_of(choice);
    let fill = |text: &String| fixed.fill(text);
    let config = choice.config_text.as_ref().map(fill);
    let files: Vec<_> = recipe.files.values().map(fill).collect();
    let steps: Vec<_> =
        recipe.steps.iter().flat_map(|step| step.run.iter().chain([&step.input])).map(fill).collect();
    let file = std::fs::metadata(program).map(|meta| (meta.len(), meta.mtime())).ok();
    let account = Account::for_start(&recipe.start).map(|account| (account.uid, account.gid));
    let own = (geteuid().as_raw(), getegid().as_raw());
    // Accounts for more users are other data; servers without any are the same for all.
    let users = if recipe.names("users") { format!("\nusers {}", values.users) } else { String::new() };
    let identity = format!(
        "{recipe:#?}\nconfiguration {config:#?}\nfiles {files:#?}\nsteps {steps:#?}\nprogram {program:?} {version:?} \
         {file:?}\naccount {account:?} of {own:?}{users}"
    );
    GoldenKey { name: recipe.name.clone(), identity }
}

/// The data of a server.
#[derive(Debug)]
pub(super) struct ServerData {
    directory: DataDirectory,
    /// Programs that read them into memory.
    warm: Vec<StepProcess>,
}

impl ServerData {
    /// Puts the data of a server into place: from their golden copy, or by the steps of its recipe. Data that are
    /// restored later are then copied, unless contents are to be loaded into them first.
    ///
    /// # Errors
    /// A step fails, or a file cannot be written.
    pub(super) fn make(
        builder: &ProcessBuilder,
        recipe: &Recipe,
        folder: WorkDir,
        golden: Option<GoldenPlace>,
    ) -> Result<ServerData, SutError> {
        let owner = Account::for_start(&recipe.start);
        let mut directory = DataDirectory::create(builder.values.data.clone(), folder, owner.as_ref())?;
        match golden {
            Some(GoldenPlace { found: GoldenLookUp::Found(copy), .. }) => {
                directory.set_golden(copy);
                directory.restore()?;
                builder.run_steps(recipe, &[StepTime::Prepared])?;
            }
            Some(GoldenPlace { found: GoldenLookUp::Vacant(vacant), awaits_contents }) => {
                builder.run_steps(recipe, &[StepTime::Made, StepTime::Prepared])?;
                directory.set_vacant(vacant);
                if !awaits_contents {
                    directory.keep(&builder.values.password)?;
                }
            }
            None => builder.run_steps(recipe, &[StepTime::Made, StepTime::Prepared])?,
        }
        Ok(ServerData { directory, warm: builder.warm_steps(recipe)? })
    }

    /// Returns whether contents are still to be loaded.
    pub(super) fn lacks_contents(&self) -> bool {
        self.directory.lacks_contents()
    }

    /// Returns whether they come from a copy that an earlier run kept; `None` if they have no copy.
    pub(super) fn are_kept(&self) -> Option<bool> {
        Some(self.directory.golden()?.is_kept)
    }

    /// Copies the data with their contents; to be called while the server does not run.
    ///
    /// # Errors
    /// The copy cannot be written.
    pub(super) fn keep(&mut self, password: &str) -> Result<(), SutError> {
        self.directory.keep(password)
    }

    /// Replaces the data by the golden copy; to be called while the server does not run.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn restore(&self) -> Result<(), SutError> {
        self.directory.restore()
    }

    /// Writes the files to disk, and evicts their pages from the page cache.
    ///
    /// # Errors
    /// A file cannot be opened or written to disk.
    pub(super) fn evict(&self) -> Result<(), SutError> {
        self.directory.evict()
    }

    /// Has the data read until a repeated pass reads almost nothing from disk, or `is_over` returns true. The programs
    /// run in the group of the server; `read` returns the bytes that the server has read from disk so far.
    ///
    /// # Errors
    /// A step fails.
    pub(super) fn warm(
        &mut self,
        group: Option<&ControlGroup>,
        read: impl Fn() -> Option<u64>,
        is_over: impl Fn() -> bool,
    ) -> Result<DataWarmUp, SutError> {
        let pass = || {
            let reads: Result<Vec<_>, _> =
                self.warm.iter_mut().map(|step| step.run(group, STEP_MAX)).collect();
            Ok(reads?.into_iter().sum())
        };
        warm_until_proven(self.directory.bytes(), read, pass, is_over)
    }
}
