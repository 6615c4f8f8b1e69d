//! From a request to everything that a start needs: files in place, programs found.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use model::GatewayKind;

use super::account::Account;
use super::certificate::Certificate;
use super::choice::Choice;
use super::launch::{Launch, find_companion_program, find_program, version_of};
use super::member::{Listens, Member};
use super::values::{Parts, Values, workers_for};
use super::work_dir::{WorkDir, clean_stale};
use super::{SutError, SutRequest};
use crate::affinity::available_cpus;
use crate::inventory::user_name;
use crate::open_files::open_files_max;
use crate::populate::{Populated, populate};
use crate::recipe::{CompanionRecipe, ConfigRecipe, ProgramRecipe, Ready, Recipe, StartRecipe, StopRecipe};

/// A system under test that is yet to be started.
pub struct Prepared {
    pub recipe: Recipe,
    pub choice: Choice,
    pub values: Values,
    pub certificate: Option<Certificate>,
    pub populated: Option<Populated>,
    pub server: Member,
    /// What runs beside it, and where it is reached.
    pub companions: Vec<(Member, Listens)>,
    pub work_dir: WorkDir,
}

impl Prepared {
    /// Looks everything up, then makes the directory with all files.
    pub fn make(request: SutRequest) -> Result<Prepared, SutError> {
        let recipe = request.server.into_recipe();
        let choice = Choice::make(&recipe, request.profile.as_deref(), request.transport, request.gateway)?;
        let programs = Programs::find(&recipe, &choice, &request.program, &request.search_path)?;
        clean_stale(&request.work_dir);
        let work_dir = WorkDir::create(&request.work_dir)?;
        let limits = &request.limits;
        let n_cpus = if limits.cpus.is_empty() { available_cpus().len() } else { limits.cpus.len() };
        let root = request.root.as_ref().map(|populated| populated.directory.clone());
        let mut values = Values {
            port: port(&recipe, request.port)?,
            work_dir: work_dir.path().to_owned(),
            root: root.unwrap_or_else(|| work_dir.path().join("root")),
            config_file: recipe.config.as_ref().map(|config| config.file.clone()).unwrap_or_default(),
            user: user_name(),
            workers: workers_for(n_cpus, limits.quota),
            open_files: open_files_max(),
            service: Account::for_service(),
            parts: Parts::default(),
            gateway_workers: request.gateway.map_or(0, |gateway| gateway.workers),
            gateway_port: if choice.companions.is_empty() { 0 } else { free_port(0)? },
            plimsoll: request.program,
        };
        values.parts = parts(&choice, &values);
        let populated = match (recipe.needs_root(), request.root) {
            (false, _) => None,
            (true, None) => Some(populate(&values.root, request.files, |_| {})?),
            (true, Some(populated)) => Some(populated),
        };
        let certificate = match choice.transport.is_tls() {
            true => Some(write_certificate(&values, &work_dir)?),
            false => None,
        };
        for directory in &recipe.directories {
            work_dir.make_directory(&work_dir.path().join(directory))?;
        }
        if let Some((gateway, _)) = &choice.gateway {
            write_page_programs(gateway.kind, &values, &work_dir)?;
        }
        let maker = MemberMaker { values: &values, work_dir: &work_dir, cpus: request.limits.cpus };
        let server = maker.server(&recipe, &choice, programs.server)?;
        let with_programs = choice.companions.iter().zip(programs.companions);
        let companions = with_programs
            .map(|((name, companion), program)| maker.companion(name, companion, program))
            .collect::<Result<_, _>>()?;
        Ok(Prepared { recipe, choice, certificate, populated, server, companions, values, work_dir })
    }
}

/// Where the programs are.
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
        let ProgramRecipe { find, install, .. } = &recipe.program;
        let server = find_program(&recipe.title, find, install.as_deref(), search_path)?;
        for need in choice.gateway.iter().flat_map(|(_, gateway)| &gateway.needs) {
            need.look()?;
        }
        let companions = choice.companions.iter();
        let companions =
            companions.map(|(_, companion)| find_companion_program(companion, plimsoll, search_path));
        Ok(Programs { server, companions: companions.collect::<Result<_, _>>()? })
    }
}

/// Makes members with their files.
struct MemberMaker<'a> {
    values: &'a Values,
    work_dir: &'a WorkDir,
    cpus: Vec<u32>,
}

impl MemberMaker<'_> {
    fn server(&self, recipe: &Recipe, choice: &Choice, program: PathBuf) -> Result<Member, SutError> {
        let launch = Launch {
            announces: recipe.ready == Ready::Announced,
            ..self.launch(&program, &recipe.start, "output.log")
        };
        let version = version_of(&program, &recipe.program);
        let mut member = Member::new(&recipe.title, version, launch, recipe.stop.clone());
        member.logs.push(self.values.error_log());
        if let (Some(config), Some(text)) = (&recipe.config, &choice.config_text) {
            member.config = Some(self.write_config(&config.file, text)?);
        }
        Ok(member)
    }

    fn companion(
        &self,
        name: &str,
        recipe: &CompanionRecipe,
        program: PathBuf,
    ) -> Result<(Member, Listens), SutError> {
        let listens = Listens::parse(&self.values.fill(&recipe.listens));
        let mut launch = self.launch(&program, &recipe.start, &format!("{name}-output.log"));
        launch.inherited_socket = match &listens {
            Listens::Unix(path) if recipe.inherits_socket => Some(path.clone()),
            _ => None,
        };
        let version = version_of(&program, &recipe.program);
        let mut member = Member::new(&recipe.title, version, launch, StopRecipe::default());
        if let Some(ConfigRecipe { file, text }) = &recipe.config {
            member.config = Some(self.write_config(file, text)?);
        }
        Ok((member, listens))
    }

    fn launch(&self, program: &Path, start: &StartRecipe, log: &str) -> Launch {
        let fill = |text: &String| self.values.fill(text);
        let environment = start.environment.iter();
        Launch {
            program: program.to_owned(),
            arguments: start.arguments.iter().map(fill).collect(),
            environment: environment.map(|(name, value)| (name.clone(), fill(value))).collect(),
            cpus: self.cpus.clone(),
            output_log: self.work_dir.path().join(log),
            announces: false,
            inherited_socket: None,
        }
    }

    fn write_config(&self, file: &str, template: &str) -> Result<(String, String), SutError> {
        let text = self.values.fill(template);
        self.work_dir.write(&self.work_dir.path().join(file), &text)?;
        Ok((file.to_owned(), text))
    }
}

/// Returns the parts of the configuration that stand for what was asked for; other values are in them already.
pub fn parts(choice: &Choice, values: &Values) -> Parts {
    let gateway = choice.gateway.as_ref().map(|(_, recipe)| recipe);
    Parts {
        listen: values.fill(&choice.listen),
        upstream: gateway.map(|gateway| values.fill(&gateway.upstream)).unwrap_or_default(),
        gateway: gateway.map(|gateway| values.fill(&gateway.config)).unwrap_or_default(),
    }
}

fn write_certificate(values: &Values, work_dir: &WorkDir) -> Result<Certificate, SutError> {
    let certificate = Certificate::create()?;
    work_dir.write(&values.tls_certificate(), &certificate.pem)?;
    work_dir.write_secret(&values.tls_key(), &certificate.key_pem)?;
    Ok(certificate)
}

fn write_page_programs(kind: GatewayKind, values: &Values, work_dir: &WorkDir) -> Result<(), SutError> {
    let write = |name: &str, text: &str| work_dir.write(&values.gateway_dir().join(name), text);
    work_dir.make_directory(&values.gateway_dir())?;
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

/// Returns the port to use. One that announces its address chooses itself, else a free one is looked for. That
/// the port is free is seen before the start: two servers that both share their port would share the load as well.
fn port(recipe: &Recipe, asked: Option<u16>) -> Result<u16, SutError> {
    match asked {
        None if recipe.ready == Ready::Announced => Ok(0),
        _ => free_port(asked.unwrap_or(0)),
    }
}

fn free_port(port: u16) -> Result<u16, SutError> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| listener.local_addr());
    free.map(|address| address.port()).map_err(|source| SutError::PortTaken { port, source })
}
