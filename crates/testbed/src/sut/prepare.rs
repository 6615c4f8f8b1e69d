//! Preparation of a start: files in place, programs found.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};

use model::{Family, FileSet, GatewayKind};
use observe::{available_cpus, open_files_max, user_name};
use rustix::process::{getegid, geteuid};

use super::account::Account;
use super::buffer_sizes::{BufferSizes, DataContents, machine_memory};
use super::certificate::Certificate;
use super::choice::Choice;
use super::data_directory::DataDirectory;
use super::golden::{self, GoldenKey, GoldenLookUp};
use super::launch::{Launch, check_installed, find_program, version_of};
use super::managed_process::{ListenAddress, ManagedProcess};
use super::step::{STEP_MAX, StepProcess};
use super::values::{Values, workers_for};
use super::web::{Acceleration, Origin, ReverseProxy, RunningWeb, WebLookUp, WebValues};
use super::work_dir::{WorkDir, clean_stale};
use super::{SutError, SutRequest};
use crate::populate::populate;
use crate::private_folder::let_group_through;
use crate::recipe::{
    CompanionRecipe, ConfigRecipe, ProgramRecipe, Ready, Recipe, Reset, StartRecipe, StepRecipe, StepTime,
    StopRecipe,
};

/// The address of a server behind an accelerator: the secondary address of this machine, as the accelerator
/// has the primary one.
const BEHIND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

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

/// A start to be checked in advance.
#[derive(Debug, Clone, Copy)]
pub struct SutLookUp<'a> {
    /// The server; `None` for Plimsoll itself, which needs nothing.
    pub server: Option<&'a Recipe>,
    /// The profile of the server's recipe; the one for benchmarks if `None`.
    pub profile: Option<&'a str>,
    /// The variant of whichever of them receives requests.
    pub variant: Option<&'a str>,
    /// The parts of a web server.
    pub web: WebLookUp<'a>,
    /// The path of Plimsoll itself.
    pub program: &'a Path,
    /// Search path for programs, before the usual directories.
    pub search_path: &'a [PathBuf],
}

impl SutLookUp<'_> {
    /// Checks that all programs are installed and the recipes have what is requested; starts nothing.
    ///
    /// # Errors
    /// The first missing item.
    pub fn check(&self) -> Result<(), SutError> {
        let variant = match self.web.accelerator {
            Some(recipe) => {
                Choice::make(recipe, None, self.variant)?;
                find_program(&recipe.title, &recipe.program, self.program, self.search_path)?;
                None
            }
            None => self.variant,
        };
        let Some(recipe) = self.server else { return Ok(()) };
        let choice = Choice::make(recipe, self.profile, variant)?.with_web(recipe, self.web.gateway)?;
        Programs::find(recipe, &choice, self.program, self.search_path).map(drop)
    }
}

/// A reverse proxy whose program was found.
struct ReverseProxySetup {
    recipe: Recipe,
    choice: Choice,
    program: PathBuf,
    cache_bytes: u64,
}

impl ReverseProxySetup {
    fn look_up(
        Acceleration { recipe, cache_bytes }: Acceleration,
        variant: Option<&str>,
        plimsoll: &Path,
        search_path: &[PathBuf],
    ) -> Result<ReverseProxySetup, SutError> {
        let choice = Choice::make(&recipe, None, variant)?;
        let program = find_program(&recipe.title, &recipe.program, plimsoll, search_path)?;
        Ok(ReverseProxySetup { recipe: *recipe, choice, program, cache_bytes })
    }

    fn takes_other_rights(&self) -> bool {
        takes_other_rights(&self.recipe, &self.choice)
    }

    /// Creates its own directory within the server's, and the address of that server.
    fn prepare(
        self,
        server: &Values,
        port: Option<u16>,
        work_dir: &WorkDir,
        cpus: Vec<u32>,
    ) -> Result<(ReverseProxy, Option<Certificate>), SutError> {
        let origin = SocketAddr::from((server.address, server.port));
        let values = Values {
            address: Ipv4Addr::LOCALHOST,
            port: free_port(Ipv4Addr::LOCALHOST, port.unwrap_or(0))?,
            work_dir: server.work_dir.join("accelerator"),
            config_file: config_file(&self.recipe),
            variant: String::new(),
            companion_port: 0,
            web: WebValues {
                root: server.web.root.clone(),
                origin: Some(Origin { address: origin, cache_bytes: self.cache_bytes }),
                ..WebValues::default()
            },
            ..server.clone()
        };
        let values = values.with_parts_of(&self.choice);
        work_dir.make_directory(&values.work_dir)?;
        let maker = ProcessBuilder { values: &values, work_dir, cpus };
        maker.make_directories(&self.recipe)?;
        let certificate = maker.certificate(&self.recipe, &self.choice)?;
        let version = version_of(&self.program, &self.recipe.program);
        let process = maker.server(&self.recipe, &self.choice, self.program, version)?;
        Ok((ReverseProxy::new(self.recipe, self.choice, values, process), certificate))
    }
}

/// The programs of the server and its companions.
struct Programs {
    server: PathBuf,
    companions: Vec<PathBuf>,
}

impl Programs {
    fn find(
        recipe: &Recipe,
        choice: &Choice,
        plimsoll: &Path,
        search_path: &[PathBuf],
    ) -> Result<Programs, SutError> {
        let server = find_program(&recipe.title, &recipe.program, plimsoll, search_path)?;
        Account::check(recipe, choice)?;
        choice.web.needs().iter().try_for_each(check_installed)?;
        let companions = choice.companions.iter();
        let companions =
            companions.map(|(_, one)| find_program(&one.title, &one.program, plimsoll, search_path));
        Ok(Programs { server, companions: companions.collect::<Result<_, _>>()? })
    }
}

/// A builder of managed processes with their files.
pub(super) struct ProcessBuilder<'a> {
    pub values: &'a Values,
    pub work_dir: &'a WorkDir,
    pub cpus: Vec<u32>,
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

    /// Puts the data of the server into place: from their golden copy, or by the steps of its recipe. Data that are
    /// restored later are then copied, unless contents are to be loaded into them first.
    fn data(
        &self,
        recipe: &Recipe,
        folder: Option<WorkDir>,
        golden: Option<(GoldenLookUp, bool)>,
        search_path: &[PathBuf],
    ) -> Result<Option<DataDirectory>, SutError> {
        let run = |times: &[StepTime]| {
            let mut steps = self.steps(recipe, times, search_path)?;
            steps.iter_mut().try_for_each(|step| step.run(None, STEP_MAX).map(drop))
        };
        let Some(folder) = folder else {
            run(&[StepTime::Prepared])?;
            return Ok(None);
        };
        let (path, owner) = (self.values.data.clone(), Account::for_start(&recipe.start));
        let mut data = DataDirectory::create(path, folder, owner.as_ref())?;
        match golden {
            Some((GoldenLookUp::Found(copy), _)) => {
                data.set_golden(copy);
                data.restore()?;
                run(&[StepTime::Prepared])?;
            }
            Some((GoldenLookUp::Vacant(vacant), true)) => {
                run(&[StepTime::Made, StepTime::Prepared])?;
                data.set_vacant(vacant);
            }
            Some((GoldenLookUp::Vacant(vacant), false)) => {
                run(&[StepTime::Made, StepTime::Prepared])?;
                let copy = vacant.fill(data.path(), &self.values.password)?;
                data.set_golden(copy);
            }
            None => run(&[StepTime::Made, StepTime::Prepared])?,
        }
        Ok(Some(data))
    }

    /// Returns the steps of some times, in the order of the recipe.
    fn steps(
        &self,
        recipe: &Recipe,
        times: &[StepTime],
        search_path: &[PathBuf],
    ) -> Result<Vec<StepProcess>, SutError> {
        let steps = recipe.steps.iter().filter(|step| times.contains(&step.when));
        steps.map(|step| self.step(recipe, &step.run, &step.input, "steps.log", search_path)).collect()
    }

    /// Returns the steps that read the data into memory; none for a server without data.
    fn warm_steps(&self, recipe: &Recipe, search_path: &[PathBuf]) -> Result<Vec<StepProcess>, SutError> {
        let own = self.steps(recipe, &[StepTime::Warm], search_path)?;
        if recipe.data.is_none() || !own.is_empty() {
            return Ok(own);
        }
        let StepRecipe { run, input, .. } = StepRecipe::read_all();
        Ok(vec![self.step(recipe, &run, &input, "steps.log", search_path)?])
    }

    fn ready_command(
        &self,
        recipe: &Recipe,
        search_path: &[PathBuf],
    ) -> Result<Option<StepProcess>, SutError> {
        let asked = Some(&recipe.ready_command).filter(|_| recipe.ready == Ready::Command);
        asked.map(|run| self.step(recipe, run, "", "ready.log", search_path)).transpose()
    }

    /// Returns a program of the recipe that runs to its end.
    fn step(
        &self,
        recipe: &Recipe,
        run: &[String],
        input: &str,
        log: &str,
        search_path: &[PathBuf],
    ) -> Result<StepProcess, SutError> {
        let (program, arguments) = run.split_first().unwrap_or((&recipe.title, &[]));
        let find = ProgramRecipe {
            find: vec![self.values.fill(program)],
            install: recipe.program.install.clone(),
            version: Vec::new(),
        };
        let program = find_program(&recipe.title, &find, &self.values.plimsoll, search_path)?;
        let start = StartRecipe { program: None, arguments: arguments.to_vec(), ..recipe.start.clone() };
        let launch = self.launch(&program, &start, log);
        let process = ManagedProcess::new(&recipe.title, None, launch, StopRecipe::default());
        Ok(StepProcess { process, input: self.values.fill(input) })
    }

    /// Creates the certificate shown to clients, if TLS ends here. Its key belongs to the account of the server.
    fn certificate(&self, recipe: &Recipe, choice: &Choice) -> Result<Option<Certificate>, SutError> {
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
        choice: &Choice,
        program: PathBuf,
        version: Option<String>,
    ) -> Result<ManagedProcess, SutError> {
        let launch = Launch {
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

    fn launch(&self, program: &Path, start: &StartRecipe, log: &str) -> Launch {
        let fill = |text: &String| self.values.fill(text);
        let environment = start.environment.iter();
        Launch {
            program: start.program.as_ref().map_or_else(|| program.to_owned(), |made| fill(made).into()),
            arguments: start.arguments.iter().map(fill).collect(),
            environment: environment.map(|(name, value)| (name.clone(), fill(value))).collect(),
            account: Account::for_start(start).map(|account| (account, self.values.work_dir.clone())),
            passing_group: self.values.service.gid,
            own_session: start.own_session,
            cpus: self.cpus.clone(),
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

fn write_certificate(values: &Values, work_dir: &WorkDir) -> Result<Certificate, SutError> {
    let certificate = Certificate::create()?;
    work_dir.write(&values.certificate_file(), &certificate.pem)?;
    work_dir.write_secret(&values.key_file(), &certificate.key_pem)?;
    Ok(certificate)
}

fn write_page_programs(kind: GatewayKind, values: &Values, work_dir: &WorkDir) -> Result<(), SutError> {
    let write = |name: &str, text: &str| work_dir.write(&values.programs_dir().join(name), text);
    work_dir.make_directory(&values.programs_dir())?;
    match kind {
        GatewayKind::Cgi => {
            let path = values.cgi_program();
            symlink(&values.plimsoll, &path).map_err(|source| SutError::File {
                what: "CGI program",
                path,
                source,
            })
        }
        GatewayKind::PhpFpm => write("dyn.php", include_str!("../../../../gateways/dyn.php")),
        GatewayKind::Wsgi => write("dyn.py", include_str!("../../../../gateways/dyn.py")),
        GatewayKind::FastCgi | GatewayKind::Native | GatewayKind::Proxy => Ok(()),
    }
}

fn write_app_servers(values: &Values, work_dir: &WorkDir) -> Result<(), SutError> {
    const PROGRAMS: [(&str, &str); 3] = [
        ("app.py", include_str!("../../../../gateways/app.py")),
        ("app.mjs", include_str!("../../../../gateways/app.mjs")),
        ("app.go", include_str!("../../../../gateways/app.go")),
    ];
    work_dir.make_directory(&values.programs_dir())?;
    PROGRAMS.iter().try_for_each(|(name, text)| work_dir.write(&values.programs_dir().join(name), text))
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

/// Returns whether a server, or a companion, gives up root's rights: in favor of the service account, or because
/// it is started under another.
fn takes_other_rights(recipe: &Recipe, choice: &Choice) -> bool {
    recipe.start.account.is_some()
        || ["service_user", "service_gid"].iter().any(|account| {
            recipe.names(account) || choice.companions.iter().any(|(_, companion)| companion.names(account))
        })
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

pub(super) fn config_file(recipe: &Recipe) -> String {
    recipe.config.as_ref().map(|config| config.file.clone()).unwrap_or_default()
}

/// Returns the address that a server listens on. Behind an accelerator that is the secondary address, if its
/// recipe leaves the choice to Plimsoll, and a port that is known before the start.
///
/// A server that announces its address otherwise chooses its port itself; for others a free one is searched.
/// The port is checked before the start: two servers that both share their port would share the load as well.
fn place(recipe: &Recipe, is_behind: bool, asked: Option<u16>) -> Result<(Ipv4Addr, u16), SutError> {
    if is_behind {
        let address = if recipe.names("address") { BEHIND } else { Ipv4Addr::LOCALHOST };
        return Ok((address, free_port(address, 0)?));
    }
    let port = match asked {
        None if recipe.ready == Ready::Announced => 0,
        _ => free_port(Ipv4Addr::LOCALHOST, asked.unwrap_or(0))?,
    };
    Ok((Ipv4Addr::LOCALHOST, port))
}

/// Returns 128 random bits as hexadecimal digits.
fn random_password() -> Result<String, SutError> {
    let mut bits = [0; 16];
    rustix::rand::getrandom(&mut bits[..], rustix::rand::GetRandomFlags::empty())
        .map_err(|errno| SutError::Random(errno.into()))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns a different free port for each name.
fn free_ports(names: &[String]) -> Result<BTreeMap<String, u16>, SutError> {
    let address = Ipv4Addr::LOCALHOST;
    let failed = |source| SutError::PortTaken { address, port: 0, source };
    // All are bound at once, or the same port could be found twice.
    let listeners = names.iter().map(|_| TcpListener::bind((address, 0))).collect::<Result<Vec<_>, _>>();
    let ports = listeners.map_err(failed)?.iter().map(|one| Ok(one.local_addr()?.port())).collect::<Vec<_>>();
    names.iter().zip(ports).map(|(name, port)| Ok((name.clone(), port.map_err(failed)?))).collect()
}

fn free_port(address: Ipv4Addr, port: u16) -> Result<u16, SutError> {
    let free = TcpListener::bind((address, port)).and_then(|listener| listener.local_addr());
    free.map(|free| free.port()).map_err(|source| SutError::PortTaken { address, port, source })
}
