//! Processes with their files, ready to start.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use super::SutError;
use super::account::Account;
use super::certificate::Certificate;
use super::launch::{LaunchSpec, find_program, version_of};
use super::managed_process::{ListenAddress, ManagedProcess};
use super::recipe_selection::RecipeSelection;
use super::step::{STEP_MAX, StepProcess};
use super::values::PlaceholderValues;
use super::work_dir::WorkDir;
use crate::recipe::{
    CompanionRecipe, ConfigRecipe, ProgramRecipe, Ready, Recipe, StartRecipe, StepRecipe, StepTime,
    StopRecipe,
};

/// A builder of managed processes with their files.
pub(super) struct ProcessBuilder<'a> {
    pub values: &'a PlaceholderValues,
    pub work_dir: &'a WorkDir,
    pub cpus: &'a [u32],
    /// Search path for programs, before the usual directories.
    pub search_path: &'a [PathBuf],
}

impl ProcessBuilder<'_> {
    pub(super) fn make_directories(&self, recipe: &Recipe) -> Result<(), SutError> {
        let account = Account::for_start(&recipe.start);
        let mut directories = recipe.directories.iter().map(|name| self.values.work_dir.join(name));
        directories.try_for_each(|path| {
            self.work_dir.make_directory(&path)?;
            let owned = account.as_ref().map(|account| chown(&path, Some(account.uid), Some(account.gid)));
            owned.unwrap_or(Ok(())).map_err(|source| SutError::File {
                what: "server directory",
                path,
                source,
            })
        })
    }

    /// Runs the steps of some times to their end.
    ///
    /// # Errors
    /// The first that fails.
    pub(super) fn run_steps(&self, recipe: &Recipe, times: &[StepTime]) -> Result<(), SutError> {
        self.steps(recipe, times)?.iter_mut().try_for_each(|step| step.run(None, STEP_MAX).map(drop))
    }

    /// Returns the steps of some times, in the order of the recipe.
    pub(super) fn steps(&self, recipe: &Recipe, times: &[StepTime]) -> Result<Vec<StepProcess>, SutError> {
        let steps = recipe.steps.iter().filter(|step| times.contains(&step.when));
        steps.map(|step| self.step(recipe, &step.run, &step.input, "steps.log")).collect()
    }

    /// Returns the steps that read the data into memory.
    pub(super) fn warm_steps(&self, recipe: &Recipe) -> Result<Vec<StepProcess>, SutError> {
        let own = self.steps(recipe, &[StepTime::Warm])?;
        if !own.is_empty() {
            return Ok(own);
        }
        let StepRecipe { run, input, .. } = StepRecipe::read_all();
        Ok(vec![self.step(recipe, &run, &input, "steps.log")?])
    }

    pub(super) fn ready_command(&self, recipe: &Recipe) -> Result<Option<StepProcess>, SutError> {
        let asked = Some(&recipe.ready_command).filter(|_| recipe.ready == Ready::Command);
        asked.map(|run| self.step(recipe, run, "", "ready.log")).transpose()
    }

    /// Returns a program of the recipe that runs to its end.
    fn step(&self, recipe: &Recipe, run: &[String], input: &str, log: &str) -> Result<StepProcess, SutError> {
        let (program, arguments) = run.split_first().unwrap_or((&recipe.title, &[]));
        let find = ProgramRecipe {
            find: vec![self.values.fill(program)],
            install: recipe.program.install.clone(),
            version: Vec::new(),
        };
        let program = find_program(&recipe.title, &find, &self.values.plimsoll, self.search_path)?;
        let start = StartRecipe { program: None, arguments: arguments.to_vec(), ..recipe.start.clone() };
        let launch = self.launch(&program, &start, log);
        let process = ManagedProcess::new(&recipe.title, None, launch, StopRecipe::default());
        Ok(StepProcess { process, input: self.values.fill(input) })
    }

    /// Creates the certificate shown to clients, if TLS ends here. Its key belongs to the account of the server.
    pub(super) fn certificate(
        &self,
        recipe: &Recipe,
        choice: &RecipeSelection,
    ) -> Result<Option<Certificate>, SutError> {
        if !choice.has_certificate(recipe) {
            return Ok(None);
        }
        let certificate = write_certificate(self.values, self.work_dir)?;
        if let Some(account) = Account::for_start(&recipe.start) {
            let path = self.values.key_file();
            chown(&path, Some(account.uid), Some(account.gid)).map_err(|source| SutError::File {
                what: "key",
                path,
                source,
            })?;
        }
        Ok(Some(certificate))
    }

    pub(super) fn server(
        &self,
        recipe: &Recipe,
        choice: &RecipeSelection,
        program: PathBuf,
        version: Option<String>,
    ) -> Result<ManagedProcess, SutError> {
        let launch = LaunchSpec {
            announces: recipe.ready == Ready::Announced,
            ..self.launch(&program, &recipe.start, "output.log")
        };
        let mut process = ManagedProcess::new(&recipe.title, version, launch, recipe.stop.clone());
        process.logs.push(self.values.error_log());
        if let (Some(config), Some(text)) = (&recipe.config, &choice.config_text) {
            process.config = Some(self.write_config(&config.file, text)?);
        }
        let files = recipe.files.iter().map(|(name, text)| self.write_config(name, text));
        process.files = files.collect::<Result<_, _>>()?;
        Ok(process)
    }

    /// Returns the companions of a selection, with their addresses.
    pub(super) fn companions(
        &self,
        choice: &RecipeSelection,
        programs: Vec<PathBuf>,
    ) -> Result<Vec<(ManagedProcess, ListenAddress)>, SutError> {
        let with_programs = choice.companions.iter().zip(programs);
        with_programs.map(|((name, companion), program)| self.companion(name, companion, program)).collect()
    }

    pub(super) fn companion(
        &self,
        name: &str,
        recipe: &CompanionRecipe,
        program: PathBuf,
    ) -> Result<(ManagedProcess, ListenAddress), SutError> {
        let listens = ListenAddress::parse(&self.values.fill(&recipe.listens));
        let mut launch = self.launch(&program, &recipe.start, &format!("{name}-output.log"));
        launch.inherited_socket = match &listens {
            ListenAddress::Unix(path) if recipe.inherits_socket => Some(path.clone()),
            _ => None,
        };
        let version = version_of(&program, &recipe.program);
        let mut process = ManagedProcess::new(&recipe.title, version, launch, StopRecipe::default());
        if let Some(ConfigRecipe { file, text }) = &recipe.config {
            process.config = Some(self.write_config(file, text)?);
        }
        Ok((process, listens))
    }

    fn launch(&self, program: &Path, start: &StartRecipe, log: &str) -> LaunchSpec {
        let fill = |text: &String| self.values.fill(text);
        let environment = start.environment.iter();
        LaunchSpec {
            program: start.program.as_ref().map_or_else(|| program.to_owned(), |made| fill(made).into()),
            arguments: start.arguments.iter().map(fill).collect(),
            environment: environment.map(|(name, value)| (name.clone(), fill(value))).collect(),
            account: Account::for_start(start).map(|account| (account, self.values.work_dir.clone())),
            passing_group: self.values.service.gid,
            own_session: start.own_session,
            cpus: self.cpus.to_vec(),
            output_log: self.values.work_dir.join(log),
            announces: false,
            inherited_socket: None,
        }
    }

    fn write_config(&self, file: &str, template: &str) -> Result<(String, String), SutError> {
        let text = self.values.fill(template);
        self.work_dir.write(&self.values.work_dir.join(file), &text)?;
        Ok((file.to_owned(), text))
    }
}

fn write_certificate(values: &PlaceholderValues, work_dir: &WorkDir) -> Result<Certificate, SutError> {
    let certificate = Certificate::create()?;
    work_dir.write(&values.certificate_file(), &certificate.pem)?;
    work_dir.write_secret(&values.key_file(), &certificate.key_pem)?;
    Ok(certificate)
}
