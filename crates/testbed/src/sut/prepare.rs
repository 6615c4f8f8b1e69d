//! Preparation of a start: files in place, programs found.

use std::net::Ipv4Addr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::{Family, FileSet};
use observe::{available_cpus, open_files_max, user_name};
use rustix::process::{getegid, geteuid};

use super::account::{Account, takes_other_rights};
use super::app_programs::write_app_servers;
use super::buffer_sizes::{BufferSizes, DataContents, machine_memory};
use super::certificate::Certificate;
use super::choice::Choice;
use super::data_directory::DataDirectory;
use super::golden::{self, GoldenKey, GoldenLookUp};
use super::launch::version_of;
use super::managed_process::{ListenAddress, ManagedProcess};
use super::ports::{free_port, free_ports, place};
use super::processes::ProcessBuilder;
use super::programs::Programs;
use super::step::StepProcess;
use super::values::{Values, config_file, workers_for};
use super::web::{ReverseProxySetup, RunningWeb, WebValues, write_page_programs};
use super::work_dir::{WorkDir, clean_stale};
use super::{SutError, SutRequest};
use crate::populate::populate;
use crate::private_folder::let_group_through;
use crate::recipe::{Recipe, Reset, StepTime};

/// A system under test that has not been started.
pub(super) struct Prepared {
    pub recipe: Recipe,
    pub choice: Choice,
    pub values: Values,
    pub certificate: Option<Certificate>,
    pub web: RunningWeb,
    pub server: ManagedProcess,
    /// Its data.
    pub data: Option<DataDirectory>,
    /// Programs that run after each start.
    pub started: Vec<StepProcess>,
    /// Programs that read its data into memory.
    pub warm: Vec<StepProcess>,
    /// The command that checks whether it is ready.
    pub ready_command: Option<StepProcess>,
    /// Its companions, with their addresses.
    pub companions: Vec<(ManagedProcess, ListenAddress)>,
    pub work_dir: WorkDir,
}

impl Prepared {
    /// Finds all programs, then creates the directory with all files. `contents` are loaded into the data
    /// when the server runs: a golden copy of data with other contents is another one, and none is made before.
    pub(super) fn make(request: SutRequest, contents: Option<&DataContents>) -> Result<Prepared, SutError> {
        let recipe = request.server.into_recipe();
        let web = request.web;
        let proxy_setup = web.accelerator.map(|accelerator| {
            let variant = request.variant.as_deref();
            ReverseProxySetup::look_up(accelerator, variant, &request.program, &request.search_path)
        });
        let proxy_setup = proxy_setup.transpose()?;
        // Traffic between an accelerator and its server stays on this machine.
        let variant = request.variant.as_deref().filter(|_| proxy_setup.is_none());
        let choice = Choice::make(&recipe, request.profile.as_deref(), variant)?;
        let choice = choice.with_web(&recipe, web.gateway)?;
        let programs = Programs::find(&recipe, &choice, &request.program, &request.search_path)?;
        clean_stale(&request.work_dir);
        let work_dir = WorkDir::create(&request.work_dir)?;
        let data_folder = recipe.data.is_some().then(|| {
            clean_stale(&request.data_dir);
            WorkDir::create(&request.data_dir)
        });
        let data_folder = data_folder.transpose()?;
        let limits = &request.limits;
        let memory = limits.memory.map_or_else(machine_memory, |limit| limit.min(machine_memory()));
        let n_cpus = if limits.cpus.is_empty() { available_cpus().len() } else { limits.cpus.len() };
        let root = web.root.as_ref().map(|populated| populated.directory.clone());
        let (address, port) = place(&recipe, proxy_setup.is_some(), request.port)?;
        let values = Values {
            address,
            port,
            work_dir: work_dir.path().to_owned(),
            data: data_folder.as_ref().map_or_else(PathBuf::new, |folder| data_path(&recipe, folder.path())),
            program_dir: programs.server.parent().map(Path::to_owned).unwrap_or_default(),
            password: random_password()?,
            ports: free_ports(&recipe.ports)?,
            config_file: config_file(&recipe),
            user: user_name(),
            workers: workers_for(n_cpus, limits.quota),
            open_files: open_files_max(),
            service: Account::for_service(),
            variant: String::new(),
            companion_port: if choice.companions.is_empty() { 0 } else { free_port(Ipv4Addr::LOCALHOST, 0)? },
            plimsoll: request.program,
            sizes: BufferSizes::of(contents.and_then(|contents| contents.bytes), memory),
            web: WebValues {
                root: root.unwrap_or_else(|| work_dir.path().join("root")),
                workers: web.gateway.map_or(0, |gateway| gateway.workers),
                origin: web.origin,
                ..WebValues::default()
            },
        };
        let mut values = values.with_parts_of(&choice);
        if takes_other_rights(&recipe, &choice)
            || proxy_setup.as_ref().is_some_and(ReverseProxySetup::takes_other_rights)
        {
            let_service_through(&values)?;
        }
        let populated = match (recipe.needs_root(), web.root) {
            (false, _) => None,
            (true, None) => {
                Some(populate(&values.web.root, web.files.unwrap_or(&FileSet::default()), |_| {})?)
            }
            (true, Some(populated)) => Some(populated),
        };
        let cpus = request.limits.cpus;
        let version = version_of(&programs.server, &recipe.program);
        let golden = match (recipe.reset, &data_folder) {
            (Reset::Restore, Some(_)) => {
                let program = (programs.server.as_path(), version.as_deref());
                let key = golden_key(&recipe, &choice, &values, program)
                    .with_contents(contents.map(|contents| contents.identity.as_str()));
                Some((golden::look_up(&request.data_dir, key)?, contents.is_some()))
            }
            _ => None,
        };
        if let Some((GoldenLookUp::Found(copy), _)) = &golden {
            values.password = copy.password.clone();
        }
        let maker = ProcessBuilder { values: &values, work_dir: &work_dir, cpus: cpus.clone() };
        maker.make_directories(&recipe)?;
        let own_certificate = maker.certificate(&recipe, &choice)?;
        match choice.web.asked() {
            Some(gateway) => write_page_programs(gateway.kind, &values, &work_dir)?,
            None if recipe.is_of(Family::App) && recipe.names("gateway_dir") => {
                write_app_servers(&values, &work_dir)?;
            }
            None => {}
        }
        let server = maker.server(&recipe, &choice, programs.server, version)?;
        let data = maker.data(&recipe, data_folder, golden, &request.search_path)?;
        let started = maker.steps(&recipe, &[StepTime::Started], &request.search_path)?;
        let warm = maker.warm_steps(&recipe, &request.search_path)?;
        let ready_command = maker.ready_command(&recipe, &request.search_path)?;
        let with_programs = choice.companions.iter().zip(programs.companions);
        let companions = with_programs
            .map(|((name, companion), program)| maker.companion(name, companion, program))
            .collect::<Result<_, _>>()?;
        let proxy = proxy_setup.map(|one| one.prepare(&values, request.port, &work_dir, cpus)).transpose()?;
        let (proxy, certificate) = match proxy {
            Some((proxy, certificate)) => (Some(proxy), certificate),
            None => (None, own_certificate),
        };
        let web = RunningWeb::new(web.files, choice.web.asked().is_some(), populated, proxy);
        Ok(Prepared {
            recipe,
            choice,
            certificate,
            web,
            server,
            data,
            started,
            warm,
            ready_command,
            companions,
            values,
            work_dir,
        })
    }
}

/// Returns the directory of a server's data in a folder.
pub(super) fn data_path(recipe: &Recipe, folder: &Path) -> PathBuf {
    recipe.data.as_ref().map_or_else(PathBuf::new, |data| folder.join(&data.directory))
}

/// Returns all that the data of a server depend on: its recipe and profile with the values of this machine, its program
/// and account. Values that are chosen for each start are left out. The program comes with its version.
fn golden_key(
    recipe: &Recipe,
    choice: &Choice,
    values: &Values,
    (program, version): (&Path, Option<&str>),
) -> GoldenKey {
    let fixed = values.of_every_start().with_parts_of(choice);
    let fill = |text: &String| fixed.fill(text);
    let config = choice.config_text.as_ref().map(fill);
    let files: Vec<_> = recipe.files.values().map(fill).collect();
    let steps: Vec<_> =
        recipe.steps.iter().flat_map(|step| step.run.iter().chain([&step.input])).map(fill).collect();
    let file = std::fs::metadata(program).map(|meta| (meta.len(), meta.mtime())).ok();
    let account = Account::for_start(&recipe.start).map(|account| (account.uid, account.gid));
    let own = (geteuid().as_raw(), getegid().as_raw());
    let identity = format!(
        "{recipe:#?}\nconfiguration {config:#?}\nfiles {files:#?}\nsteps {steps:#?}\nprogram {program:?} {version:?} \
         {file:?}\naccount {account:?} of {own:?}"
    );
    GoldenKey { name: recipe.name.clone(), identity }
}

/// Gives the service account access to the server's own directory and its files.
fn let_service_through(values: &Values) -> Result<(), SutError> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let paths = [&values.work_dir, &values.web.root, &values.data]
        .into_iter()
        .filter(|path| **path != PathBuf::new());
    paths.into_iter().try_for_each(|path| {
        let_group_through(path, values.service.gid).map_err(|source| SutError::File {
            what: "folders above",
            path: path.clone(),
            source,
        })
    })
}

/// Returns 128 random bits as hexadecimal digits.
fn random_password() -> Result<String, SutError> {
    let mut bits = [0; 16];
    rustix::rand::getrandom(&mut bits[..], rustix::rand::GetRandomFlags::empty())
        .map_err(|errno| SutError::Random(errno.into()))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}
