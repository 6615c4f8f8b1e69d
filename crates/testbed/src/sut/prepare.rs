//! Preparation of a start, in stages: selection, folders, values, processes.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use observe::{available_cpus, open_files_max, user_name};
use rustix::process::geteuid;

use super::account::Account;
use super::buffer_sizes::{BufferSizes, DataContents, machine_memory};
use super::certificate::Certificate;
use super::launch::version_of;
use super::managed_process::{ListenAddress, ManagedProcess};
use super::ports::{free_port, free_ports, place};
use super::processes::ProcessBuilder;
use super::programs::Selection;
use super::recipe_selection::RecipeSelection;
use super::server_data::{GoldenPlace, ServerData};
use super::step::StepProcess;
use super::values::{PlaceholderValues, config_file, workers_for};
use super::web::RunningWeb;
use super::work_dir::{WorkDir, clean_stale};
use super::{SutError, SutRequest, app_programs, web};
use crate::private_folder::let_group_through;
use crate::recipe::{Recipe, StepTime};

/// A function of a family that writes the programs that a server of it runs, if its recipe asks for any.
type WriteServerPrograms =
    fn(&Recipe, &RecipeSelection, &PlaceholderValues, &WorkDir) -> Result<(), SutError>;

/// The families whose servers run programs that Plimsoll brings along.
const SERVER_PROGRAMS: [WriteServerPrograms; 2] = [web::write_programs, app_programs::write_programs];

/// A system under test that has not been started.
pub(super) struct PreparedSut {
    pub recipe: Recipe,
    pub choice: RecipeSelection,
    pub values: PlaceholderValues,
    pub certificate: Option<Certificate>,
    pub web: RunningWeb,
    pub server: ManagedProcess,
    /// Its companions, with their addresses.
    pub companions: Vec<(ManagedProcess, ListenAddress)>,
    /// Programs that run after each start.
    pub started: Vec<StepProcess>,
    /// The command that checks whether it is ready.
    pub ready_command: Option<StepProcess>,
    pub data: Option<ServerData>,
    pub work_dir: WorkDir,
}

impl PreparedSut {
    /// Finds all programs, then creates the directory with all files. `contents` are loaded into the data
    /// when the server runs: a golden copy of data with other contents is another one, and none is made before.
    pub(super) fn make(
        request: &SutRequest,
        contents: Option<&DataContents>,
    ) -> Result<PreparedSut, SutError> {
        let selection = Selection::make(request)?;
        let Folders { work_dir, data: data_folder } = Folders::create(request, &selection.recipe)?;
        let data_path = data_folder.as_ref().map(|folder| data_path(&selection.recipe, folder.path()));
        let mut values =
            choose_values(request, &selection, work_dir.path(), data_path.unwrap_or_default(), contents)?;
        if selection.takes_other_rights() {
            let_service_through(&values)?;
        }
        let populated = request.web.lay_out(&selection.recipe, &values.web.root)?;
        let version = version_of(&selection.programs.server, &selection.recipe.program);
        let golden = GoldenPlace::find(request, &selection, &values, version.as_deref(), contents)?;
        if let Some(password) = golden.as_ref().and_then(GoldenPlace::password) {
            password.clone_into(&mut values.password);
        }
        let Selection { recipe, choice, programs, proxy } = selection;
        let cpus = request.limits.cpus.as_slice();
        let builder =
            ProcessBuilder { values: &values, work_dir: &work_dir, cpus, search_path: &request.search_path };
        builder.make_directories(&recipe)?;
        let own_certificate = builder.certificate(&recipe, &choice)?;
        SERVER_PROGRAMS.iter().try_for_each(|write| write(&recipe, &choice, &values, &work_dir))?;
        let server = builder.server(&recipe, &choice, programs.server, version)?;
        let data = match data_folder {
            Some(folder) => Some(ServerData::make(&builder, &recipe, folder, golden)?),
            None => {
                builder.run_steps(&recipe, &[StepTime::Prepared])?;
                None
            }
        };
        let started = builder.steps(&recipe, &[StepTime::Started])?;
        let ready_command = builder.ready_command(&recipe)?;
        let companions = builder.companions(&choice, programs.companions)?;
        let proxy = proxy.map(|one| one.prepare(&values, request.port, &work_dir, cpus)).transpose()?;
        let (proxy, certificate) = match proxy {
            Some((proxy, certificate)) => (Some(proxy), certificate),
            None => (None, own_certificate),
        };
        let web = RunningWeb::new(&request.web, populated, proxy);
        Ok(PreparedSut {
            recipe,
            choice,
            values,
            certificate,
            web,
            server,
            companions,
            started,
            ready_command,
            data,
            work_dir,
        })
    }
}

/// The folders of a start, made for it alone.
struct Folders {
    work_dir: WorkDir,
    /// That of the data; `None` of a server without data.
    data: Option<WorkDir>,
}

impl Folders {
    /// Creates them, and removes those that killed runs have left.
    fn create(request: &SutRequest, recipe: &Recipe) -> Result<Folders, SutError> {
        clean_stale(&request.work_dir);
        let work_dir = WorkDir::create(&request.work_dir)?;
        let data = recipe.data.is_some().then(|| {
            clean_stale(&request.data_dir);
            WorkDir::create(&request.data_dir)
        });
        Ok(Folders { work_dir, data: data.transpose()? })
    }
}

/// Chooses the values of placeholders for a start in these folders.
fn choose_values(
    request: &SutRequest,
    Selection { recipe, choice, programs, proxy }: &Selection,
    work_dir: &Path,
    data: PathBuf,
    contents: Option<&DataContents>,
) -> Result<PlaceholderValues, SutError> {
    let limits = &request.limits;
    let memory = limits.memory.map_or_else(machine_memory, |limit| limit.min(machine_memory()));
    let n_cpus = if limits.cpus.is_empty() { available_cpus().len() } else { limits.cpus.len() };
    let (address, port) = place(recipe, proxy.is_some(), request.port)?;
    let values = PlaceholderValues {
        address,
        port,
        work_dir: work_dir.to_owned(),
        data,
        program_dir: programs.server.parent().map(Path::to_owned).unwrap_or_default(),
        password: random_password()?,
        ports: free_ports(&recipe.ports)?,
        config_file: config_file(recipe),
        user: user_name(),
        users: request.users,
        workers: workers_for(n_cpus, limits.quota),
        open_files: open_files_max(),
        service: Account::for_service(),
        variant: String::new(),
        companion_port: if choice.companions.is_empty() { 0 } else { free_port(Ipv4Addr::LOCALHOST, 0)? },
        plimsoll: request.program.clone(),
        sizes: BufferSizes::of(contents.and_then(|contents| contents.bytes), memory),
        web: request.web.values(work_dir),
    };
    Ok(values.with_parts_of(choice))
}

/// Returns the directory of a server's data in a folder.
fn data_path(recipe: &Recipe, folder: &Path) -> PathBuf {
    recipe.data.as_ref().map_or_else(PathBuf::new, |data| folder.join(&data.directory))
}

/// Gives the service account access to the server's own directory and its files.
fn let_service_through(values: &PlaceholderValues) -> Result<(), SutError> {
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
