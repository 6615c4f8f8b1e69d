//! The servers of a run: one, or several that are compared.

use std::path::PathBuf;

use drivers::database::DatabasePassword;
use drivers::web::Target;
use drivers::{TargetPolicy, Trust};
use fleet::{DatabaseUrlError, ExternalDatabase, ExternalServer, FleetError, ServerChoice, UrlEncryption};
use model::{
    AcceleratorPlan, AppProtocol, AppWorkload, ChosenSetting, DataReset, DatabaseMode, DatabaseProduct,
    Family, FileSet, Gateway, GatewayKind, HttpVersion, OrderEntryWorkload, OrderSql, Plan, Setting,
    SettingValue, Tls, Workload,
};
use observe::StatusKind;
use testbed::{Acceleration, Recipe, Server, SutError};

use crate::access::{first_given, web_target};
use crate::arguments::SutArguments;
use crate::database_password::password_for;
use crate::exit::Failure;
use crate::local_server::is_here;
use crate::paths;
use crate::placement::BUILT_IN;
use crate::settings::{SettingCombination, filelist};

/// Default number of page workers.
const WORKERS: u32 = 4;

/// Directory of the built-in application server below the persistent private one.
const APP_FILES: &str = "app-files";

/// Directory of order-entry data on SQLite, of the built-in server or embedded, below the persistent private one.
const ORDER_FILES: &str = "order-files";

/// Schemes of targets that only one family has.
const OWN_SCHEMES: [(&str, Family); 2] = [("app", Family::App), ("orders", Family::OrderEntry)];

/// The fewest requests that may wait in the built-in order-entry server; there is room for one of each user.
const QUEUE_MIN: u32 = 1024;

/// Name of the embedded database, in place of that of the built-in server.
const EMBEDDED: &str = "embedded SQLite";

/// Value of `--accelerator` for no accelerator.
const NONE: &str = "none";

/// Default cache memory beyond 5/4 of the size of the files, in bytes: overhead per object, and free space.
const CACHE_BYTES_SPARE: u64 = 64 << 20;

/// A server to run, with its settings.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// Name of its run among several: `nginx-php-fpm-4 #2`.
    pub label: String,
    /// Name of the server, the same for all repetitions: `nginx-php-fpm-4`.
    pub title: String,
    /// The server.
    pub server: ChosenServer,
    /// How it runs the programs that generate pages.
    pub gateway: Option<Gateway>,
    /// The accelerator in front of it, if any.
    pub accelerator: Option<ChosenAccelerator>,
    /// Number of CPUs; `None` if numbers of CPUs are not compared.
    pub group: Option<usize>,
    /// The settings of the benchmark's family that it is loaded with.
    pub settings: Vec<ChosenSetting>,
}

/// The accelerator that the user chose.
#[derive(Debug, Clone)]
pub(crate) struct ChosenAccelerator {
    /// Its recipe.
    pub recipe: Box<Recipe>,
    /// Cache memory, in bytes; `None` for a cache that holds all files.
    pub cache_bytes: Option<u64>,
}

impl ChosenAccelerator {
    /// Returns its part of the plan, in front of a server with these files.
    pub(crate) fn plan(&self, files: &FileSet) -> AcceleratorPlan {
        let default_bytes = files.bytes() + files.bytes() / 4 + CACHE_BYTES_SPARE;
        AcceleratorPlan {
            name: self.recipe.name.clone(),
            cache_bytes: self.cache_bytes.unwrap_or(default_bytes),
        }
    }
}

/// The server that the user chose.
#[derive(Debug, Clone)]
pub(crate) enum ChosenServer {
    /// A server that is already running.
    External(ExternalServer),
    /// An installed server, started by its recipe.
    Recipe(Box<Recipe>),
    /// The built-in server.
    BuiltIn,
    /// None, but a database within this process.
    Embedded,
}

impl Candidate {
    /// Returns the name of the server in plans.
    pub(crate) fn name(&self) -> &str {
        match &self.server {
            ChosenServer::External(_) => "external",
            ChosenServer::BuiltIn => BUILT_IN,
            ChosenServer::Embedded => "embedded",
            ChosenServer::Recipe(recipe) => &recipe.name,
        }
    }

    /// Returns the URL of a web server that is already running.
    pub(crate) fn web_target(&self) -> Option<&Target> {
        if let ChosenServer::External(ExternalServer::Web(target, _)) = &self.server {
            Some(target)
        } else {
            None
        }
    }

    /// Returns the encryption that the URL of a database asks for.
    pub(crate) fn url_encryption(&self) -> UrlEncryption {
        if let ChosenServer::External(ExternalServer::Sql(one) | ExternalServer::Database(one)) = &self.server
        {
            one.encryption
        } else {
            UrlEncryption::Unsaid
        }
    }

    /// Returns whether it is already running, on this machine.
    pub(crate) fn is_running_here(&self) -> bool {
        match &self.server {
            ChosenServer::External(server) => {
                let (host, port) = server.host_and_port();
                is_here(host, port)
            }
            _ => false,
        }
    }

    /// Returns whether a setting has this value.
    fn has_choice(&self, setting: &str, value: &'static str) -> bool {
        let value = SettingValue::Choice(value, None);
        self.settings.iter().any(|one| one.setting.name == setting && *one.value() == value)
    }

    /// Gives a database with a user's own statements the password that the definition has a source for.
    pub(crate) fn take_password(&mut self, password: &DatabasePassword) {
        if let ChosenServer::External(ExternalServer::Sql(database)) = &mut self.server {
            database.password = Some(password.clone());
        }
    }

    /// Returns whether Plimsoll starts it, in its own work directory.
    pub(crate) fn is_started(&self) -> bool {
        matches!(self.server, ChosenServer::Recipe(_) | ChosenServer::BuiltIn)
    }

    /// Returns the server to use for a plan of a benchmark; `trust` is the set of certificates accepted from a running
    /// server.
    pub(crate) fn server(
        &self,
        benchmark: &str,
        plan: &Plan,
        trust: &Trust,
    ) -> Result<ServerChoice, Failure> {
        Ok(match &self.server {
            ChosenServer::External(server) => ServerChoice::External(match server {
                ExternalServer::Web(target, _) => ExternalServer::Web(target.clone(), trust.clone()),
                ExternalServer::Database(database) => {
                    ExternalServer::Database(trusting(database, plan, trust))
                }
                ExternalServer::Sql(database) => ExternalServer::Sql(trusting(database, plan, trust)),
                ExternalServer::App(_) | ExternalServer::OrderEntry(_) => server.clone(),
                #[cfg(feature = "echo")]
                ExternalServer::Echo(_) => server.clone(),
            }),
            ChosenServer::Recipe(recipe) => {
                ServerChoice::Start(Server::Recipe(recipe.clone()), self.acceleration(plan))
            }
            ChosenServer::BuiltIn => {
                let server = built_in(benchmark, filelist(&self.settings), plan)?;
                ServerChoice::Start(server, self.acceleration(plan))
            }
            ChosenServer::Embedded => ServerChoice::Embedded(data_directory(ORDER_FILES)?),
        })
    }

    fn acceleration(&self, plan: &Plan) -> Option<Acceleration> {
        let (chosen, planned) = self.accelerator.as_ref().zip(plan.sut.accelerator())?;
        Some(Acceleration { recipe: chosen.recipe.clone(), cache_bytes: planned.cache_bytes })
    }
}

/// Returns a database with the certificates that are accepted from it, where connections to it are encrypted.
fn trusting(database: &ExternalDatabase, plan: &Plan, trust: &Trust) -> ExternalDatabase {
    let trust = plan.workload.is_encrypted().then(|| trust.clone());
    ExternalDatabase { trust, ..database.clone() }
}

/// Lists the servers to run: all combinations of server, gateway, number of workers, accelerator and number of CPUs,
/// each repeated as requested. `has_dynamic_pages` is whether programs generate pages of the workload.
pub(crate) fn candidates(
    arguments: &SutArguments,
    settings: &[SettingCombination],
    family: Family,
    has_dynamic_pages: bool,
) -> Result<Vec<Candidate>, Failure> {
    refuse_web_flags(arguments, family)?;
    let has_gateway_flags = !arguments.gateway.is_empty() || !arguments.workers.is_empty();
    if has_gateway_flags && !has_dynamic_pages {
        let error = "`--gateway` and `--workers` apply to dynamic pages, but this benchmark has only files";
        return Err(Failure::usage(error));
    }
    let servers = servers(arguments, family)?;
    let accelerators = accelerators(arguments)?;
    let mut bare = Vec::new();
    for (name, server) in &servers {
        let gateways = gateways(arguments, server, has_dynamic_pages)?;
        if let ChosenServer::Recipe(recipe) = server {
            check_recipe(recipe, arguments.profile.as_deref(), &gateways)?;
        }
        for gateway in gateways {
            let label = server_name(name, gateway, arguments.profile.as_deref());
            let (title, server) = (label.clone(), server.clone());
            bare.push(Candidate {
                label,
                title,
                server,
                gateway,
                accelerator: None,
                group: None,
                settings: Vec::new(),
            });
        }
    }
    let mut all = with_settings(&behind(&bare, &accelerators), settings);
    match family {
        Family::App => all.iter_mut().try_for_each(settle_protocol)?,
        Family::OrderEntry => all.iter_mut().try_for_each(|one| settle_database(one, arguments))?,
        Family::Sql => all.iter_mut().try_for_each(settle_socket)?,
        // Nothing about such a server is a setting.
        Family::Web => {}
        #[cfg(feature = "echo")]
        Family::Echo => {}
    }
    for (index, one) in all.iter().enumerate() {
        if all[..index].iter().any(|other| other.label == one.label) {
            return Err(Failure::usage(format!("`{}` is listed twice", one.label))
                .hint("to run a server twice, use `--repeat 2`"));
        }
    }
    Ok(repeated(in_groups(all, &arguments.sut_groups), arguments.repeat))
}

/// Returns the name of a server with its settings, as shown everywhere: `nginx-php-fpm-4, profile default`.
pub(crate) fn server_name(server: &str, gateway: Option<Gateway>, profile: Option<&str>) -> String {
    let gateway = gateway.map(|gateway| format!("-{}-{}", gateway.kind.name(), gateway.workers));
    let profile = profile.map(|profile| format!(", profile {profile}"));
    [Some(server.to_owned()), gateway, profile].into_iter().flatten().collect()
}

/// Returns the name of a server behind an accelerator: `nginx behind varnish`.
pub(crate) fn behind_name(server: &str, accelerator: &str) -> String {
    format!("{server} behind {accelerator}")
}

/// Returns the name of a server whose runs with different numbers of CPUs are compared: `nginx, 2 CPUs`.
pub(crate) fn with_cpus(server: &str, n_cpus: usize) -> String {
    format!("{server}, {n_cpus} CPU{}", if n_cpus == 1 { "" } else { "s" })
}

/// Puts every accelerator in front of every server.
fn behind(bare: &[Candidate], accelerators: &[Option<ChosenAccelerator>]) -> Vec<Candidate> {
    let put = |one: &Candidate, accelerator: &Option<ChosenAccelerator>| match accelerator {
        Some(chosen) => {
            let label = behind_name(&one.label, &chosen.recipe.name);
            Candidate { title: label.clone(), label, accelerator: accelerator.clone(), ..one.clone() }
        }
        None => one.clone(),
    };
    bare.iter().flat_map(|one| accelerators.iter().map(move |accelerator| put(one, accelerator))).collect()
}

/// Loads every server with every combination of settings; a setting with several values is shown in the label.
fn with_settings(all: &[Candidate], combinations: &[SettingCombination]) -> Vec<Candidate> {
    let with = |one: &Candidate, SettingCombination { settings, label }: &SettingCombination| {
        let label = format!("{}{label}", one.label);
        Candidate { title: label.clone(), label, settings: settings.clone(), ..one.clone() }
    };
    all.iter().flat_map(|one| combinations.iter().map(move |settings| with(one, settings))).collect()
}

/// Gives an application server the protocol that it speaks as a setting, so that servers that differ in it are compared
/// as such.
///
/// # Errors
/// The setting is there with another value.
fn settle_protocol(one: &mut Candidate) -> Result<(), Failure> {
    let protocol = match &one.server {
        ChosenServer::External(ExternalServer::App(server)) => server.protocol,
        ChosenServer::Recipe(recipe) => recipe.app_protocol(),
        ChosenServer::External(_) | ChosenServer::BuiltIn | ChosenServer::Embedded => AppProtocol::Binary,
    };
    settle(one, Family::App, Setting::APP_PROTOCOL, &[protocol.name()])
}

/// Gives a server of order-entry data the encryption and the form of SQL that it understands as settings; of a database, a
/// call of a stored procedure, which is most like the one request of our own servers. Where the database is to be
/// embedded, there is no server.
///
/// # Errors
/// The setting is there with another value, or an argument concerns a server that there is not.
fn settle_database(one: &mut Candidate, arguments: &SutArguments) -> Result<(), Failure> {
    if one.has_choice(Setting::ORDER_DATABASE, DatabaseMode::Embedded.name()) {
        refuse_for_embedded(one, arguments)?;
        one.server = ChosenServer::Embedded;
        for name in [&mut one.label, &mut one.title] {
            *name = name.replacen(BUILT_IN, EMBEDDED, 1);
        }
    }
    let database = match &one.server {
        ChosenServer::External(ExternalServer::Database(database)) => Some(database.product),
        ChosenServer::Recipe(recipe) => recipe.database(),
        ChosenServer::External(_) | ChosenServer::BuiltIn | ChosenServer::Embedded => None,
    };
    if database.is_none() || !matches!(one.server, ChosenServer::External(_)) {
        refuse_unreset(one)?;
    }
    // A socket of this machine needs no encryption.
    let is_remote = match &one.server {
        ChosenServer::External(ExternalServer::Database(database)) => database.host.is_some(),
        ChosenServer::External(_)
        | ChosenServer::Recipe(_)
        | ChosenServer::BuiltIn
        | ChosenServer::Embedded => database.is_some(),
    };
    let encryption = if is_remote { &["off", "on"][..] } else { &["off"] };
    settle(one, Family::OrderEntry, Setting::DATABASE_TLS, encryption)?;
    let forms = database.map_or(&[OrderSql::Request][..], DatabaseProduct::forms);
    let names: Vec<&'static str> = forms.iter().map(|form| form.name()).collect();
    settle(one, Family::OrderEntry, Setting::ORDER_SQL, &names)
}

/// Refuses encryption of a socket of this machine.
///
/// # Errors
/// The setting is there.
fn settle_socket(one: &mut Candidate) -> Result<(), Failure> {
    let is_socket = matches!(
        &one.server,
        ChosenServer::External(ExternalServer::Sql(database)) if database.host.is_none()
    );
    if is_socket { settle(one, Family::Sql, Setting::DATABASE_TLS, &["off"]) } else { Ok(()) }
}

/// Refuses to leave the data of a server as they are which is not a database that was there already.
fn refuse_unreset(one: &Candidate) -> Result<(), Failure> {
    match one.has_choice(Setting::ORDER_RESET, DataReset::Never.name()) {
        true => Err(Failure::usage(format!(
            "`reset=none` applies to a PostgreSQL or MariaDB that is already running, not to {}",
            one.title
        ))
        .hint(
            "name the database by `--target postgres://USER@HOST:PORT/DATABASE` or `--target mysql://USER@HOST:PORT`, or \
             omit `--set reset=none`",
        )),
        false => Ok(()),
    }
}

/// Refuses arguments and settings that concern a server, or connections to it, where the database is embedded.
fn refuse_for_embedded(one: &Candidate, arguments: &SutArguments) -> Result<(), Failure> {
    let of_server = [
        ("--target", arguments.target.is_some()),
        ("--sut", !arguments.sut.is_empty()),
        ("--sut-cpus", arguments.sut_cpus.is_some()),
        ("--sut-groups", !arguments.sut_groups.is_empty()),
        ("--sut-quota", arguments.sut_quota.is_some()),
        ("--sut-memory", arguments.sut_memory.is_some()),
        ("--sut-disk", arguments.sut_disk.is_some()),
        ("--source-addresses", !arguments.source_addresses.is_empty()),
    ];
    let given = of_server.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag.to_owned());
    let is_of_server = |name: &str| [Setting::ORDER_SQL, Setting::DATABASE_TLS].contains(&name);
    let set = one.settings.iter().filter(|set| is_of_server(set.setting.name));
    let set = set.map(|set| format!("--set {}={}", set.setting.name, set.value()));
    match given.chain(set).next() {
        None => Ok(()),
        Some(flag) => {
            let error = format!(
                "`{flag}` applies to a database server; with `database=embedded` the database is in the process \
                 of the load generator"
            );
            Err(Failure::usage(error).hint(format!("omit `{flag}`, or `--set database=embedded`")))
        }
    }
}

/// Gives a server the first of the values of a setting that it can have, unless it has one of them.
///
/// # Errors
/// It has another one.
fn settle(
    one: &mut Candidate,
    family: Family,
    name: &'static str,
    possible: &[&'static str],
) -> Result<(), Failure> {
    let is_possible =
        |value: &SettingValue| possible.iter().any(|name| *value == SettingValue::Choice(name, None));
    match one.settings.iter().find(|chosen| chosen.setting.name == name) {
        Some(chosen) if !is_possible(chosen.value()) => {
            let speaks = possible.join("`, `");
            let error =
                format!("{} speaks `{speaks}`, which contradicts `{name}={}`", one.title, chosen.value());
            Err(Failure::usage(error).hint(format!("leave `{name}` out: it follows from the server")))
        }
        Some(_) => Ok(()),
        None => {
            let value = possible.first().copied().unwrap_or_default();
            one.settings.push(family.choose_setting(name, value).map_err(Failure::usage)?);
            Ok(())
        }
    }
}

/// Gives every server every number of CPUs; with several, the label shows the number.
fn in_groups(all: Vec<Candidate>, groups: &[usize]) -> Vec<Candidate> {
    if groups.is_empty() {
        return all;
    }
    let on = |one: &Candidate, cpus: usize| {
        let label = if groups.len() == 1 { one.label.clone() } else { with_cpus(&one.label, cpus) };
        Candidate { title: label.clone(), label, group: Some(cpus), ..one.clone() }
    };
    all.iter().flat_map(|one| groups.iter().map(move |cpus| on(one, *cpus))).collect()
}

/// Repeats every server, with a number in its label.
fn repeated(all: Vec<Candidate>, times: u32) -> Vec<Candidate> {
    if times == 1 {
        return all;
    }
    let repetition =
        |one: &Candidate, time: u32| Candidate { label: format!("{} #{time}", one.label), ..one.clone() };
    (1..=times).flat_map(|time| all.iter().map(move |one| repetition(one, time))).collect()
}

/// Checks that a recipe has the profile and the gateways.
fn check_recipe(recipe: &Recipe, profile: Option<&str>, gateways: &[Option<Gateway>]) -> Result<(), Failure> {
    let lacks = |what: &'static str, asked: &str, known: Vec<String>| {
        let title = recipe.title.clone();
        Err(Failure::usage(SutError::Lacks { title, what, asked: asked.to_owned(), known }))
    };
    if let Some(profile) = profile.filter(|profile| recipe.profile_names().all(|name| name != *profile)) {
        return lacks("profile", profile, recipe.profile_names().map(str::to_owned).collect());
    }
    let mut kinds = gateways.iter().flatten().map(|gateway| gateway.kind);
    match kinds.find(|kind| !recipe.gateways.contains_key(kind)) {
        Some(kind) => {
            lacks("gateway", kind.name(), recipe.gateways.keys().map(GatewayKind::to_string).collect())
        }
        None => Ok(()),
    }
}

/// Refuses flags of web servers where servers of another family are loaded.
fn refuse_web_flags(arguments: &SutArguments, family: Family) -> Result<(), Failure> {
    let given = [
        ("--accelerator", arguments.accelerator.iter().any(|name| name != NONE)),
        ("--gateway", !arguments.gateway.is_empty()),
        ("--workers", !arguments.workers.is_empty()),
    ];
    let given = given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
    match given.or_else(|| first_given(arguments)).filter(|_| family != Family::Web) {
        Some(flag) => {
            let error = format!("`{flag}` applies to web servers, but this benchmark loads {family} servers");
            Err(Failure::usage(error)
                .hint(format!("omit `{flag}`; `--sut` or `--target` chooses the server")))
        }
        None => Ok(()),
    }
}

/// Refuses a target whose scheme belongs to another family.
fn check_scheme(target: &str, family: Family) -> Result<(), Failure> {
    let scheme = target.split_once("://").map_or("", |(scheme, _)| scheme);
    match OWN_SCHEMES.iter().find(|(own, other)| own.eq_ignore_ascii_case(scheme) && *other != family) {
        Some((_, other)) => {
            let error = format!(
                "this benchmark loads {family} servers, but `{target}` is a server of the family {other}"
            );
            let article = if family == Family::Web { "a" } else { "an" };
            let form = target_form(family);
            Err(Failure::usage(error).hint(format!("name {article} {family} server: `--target {form}`")))
        }
        None => Ok(()),
    }
}

/// Returns the form of targets of a family.
fn target_form(family: Family) -> &'static str {
    match family {
        Family::Web => "http://HOST:PORT/",
        Family::App => "app://HOST:PORT",
        Family::OrderEntry => "orders://HOST:PORT",
        Family::Sql => "postgres://USER@HOST:PORT/DATABASE",
        #[cfg(feature = "echo")]
        Family::Echo => "HOST:PORT",
    }
}

/// Lists the accelerators to use with each server, in the order of the command line.
fn accelerators(arguments: &SutArguments) -> Result<Vec<Option<ChosenAccelerator>>, Failure> {
    let named =
        |name: &String| match name.as_str() {
            "" => Err(Failure::usage("`--accelerator` has an empty name")
                .hint("write `--accelerator none,plimsoll`")),
            NONE => Ok(None),
            name => Ok(Some(ChosenAccelerator {
                recipe: Box::new(Recipe::load_accelerator(name)?),
                cache_bytes: arguments.accelerator_memory,
            })),
        };
    match arguments.accelerator.as_slice() {
        [] => Ok(vec![None]),
        names => names.iter().map(named).collect(),
    }
}

fn servers(arguments: &SutArguments, family: Family) -> Result<Vec<(String, ChosenServer)>, Failure> {
    if let Some(url) = &arguments.target {
        check_scheme(url, family)?;
        return Ok(vec![(url.clone(), ChosenServer::External(external(url, arguments, family)?))]);
    }
    if !family.is_started() {
        return Err(no_built_in(family));
    }
    let named = |name: &String| match name.as_str() {
        "" => Err(Failure::usage("`--sut` has an empty name").hint("write `--sut nginx,apache`")),
        BUILT_IN => Ok((BUILT_IN.to_owned(), ChosenServer::BuiltIn)),
        name => {
            let recipe = load_recipe(name, family)?;
            if family == Family::OrderEntry && recipe.database().is_none() {
                return Err(no_driver(name));
            }
            Ok((name.to_owned(), ChosenServer::Recipe(Box::new(recipe))))
        }
    };
    match arguments.sut.as_slice() {
        [] => Ok(vec![(BUILT_IN.to_owned(), ChosenServer::BuiltIn)]),
        names => names.iter().map(named).collect(),
    }
}

/// Returns the error of a database whose protocol no driver speaks.
fn no_driver(name: &str) -> Failure {
    let error = format!("this benchmark loads PostgreSQL, MariaDB and the built-in server, not `{name}`");
    Failure::usage(error)
        .hint("choose `--sut postgresql` or `--sut mariadb`, or omit `--sut` for the built-in server")
}

/// Returns the recipe of a server of a family.
fn load_recipe(name: &str, family: Family) -> Result<Recipe, Failure> {
    let recipe = Recipe::load(name)?;
    if recipe.family == Some(family) {
        return Ok(recipe);
    }
    let other = match recipe.family {
        Some(other) => format!("is a server of the family {other}"),
        None => "is a server that no benchmark loads: its recipe names no family".to_owned(),
    };
    let hint = if family == Family::Web {
        "choose a web server, such as `--sut nginx`; `plimsoll suts` lists them"
    } else {
        "omit `--sut` for the built-in server; `plimsoll suts` lists the others"
    };
    let error = format!("this benchmark loads {family} servers, and `{name}` {other}");
    Err(Failure::usage(error).hint(hint))
}

/// Returns the server that a target names, in the notation of the family.
fn external(target: &str, arguments: &SutArguments, family: Family) -> Result<ExternalServer, Failure> {
    let server = match family {
        Family::Web => ExternalServer::Web(web_target(target, arguments)?, Trust::Any),
        Family::App => ExternalServer::App(target.parse().map_err(Failure::usage)?),
        Family::OrderEntry if is_database(target) => {
            let database = database(target)?;
            if database.product == DatabaseProduct::MariaDb && !database.database.is_empty() {
                let error = "order entry creates its own database, but the target names one";
                return Err(Failure::usage(error).hint("end the target after the port"));
            }
            ExternalServer::Database(database)
        }
        Family::Sql => ExternalServer::Sql(database(target)?),
        Family::OrderEntry => ExternalServer::OrderEntry(target.parse().map_err(Failure::usage)?),
        #[cfg(feature = "echo")]
        Family::Echo => ExternalServer::Echo(target.parse().map_err(Failure::usage)?),
    };
    let (host, port) = server.host_and_port();
    // A forbidden address is refused before anything else happens.
    TargetPolicy.resolve(host, port).map_err(FleetError::from)?;
    Ok(server)
}

/// Returns the database that a target names, with its password.
fn database(target: &str) -> Result<ExternalDatabase, Failure> {
    let refused = |error: DatabaseUrlError| Failure::usage(error.text).hint(error.hint);
    let mut database: ExternalDatabase = target.parse().map_err(refused)?;
    database.password = password_for(&database)?;
    Ok(database)
}

/// Returns whether a target is a database that speaks SQL.
fn is_database(target: &str) -> bool {
    target.split_once("://").is_some_and(|(scheme, _)| ExternalDatabase::product_of_scheme(scheme).is_some())
}

fn gateways(
    arguments: &SutArguments,
    server: &ChosenServer,
    has_dynamic_pages: bool,
) -> Result<Vec<Option<Gateway>>, Failure> {
    let kinds: Vec<GatewayKind> = match (server, arguments.gateway.as_slice()) {
        (ChosenServer::External(_) | ChosenServer::Embedded, _) => return Ok(vec![None]),
        _ if !has_dynamic_pages => return Ok(vec![None]),
        (ChosenServer::BuiltIn, []) => vec![GatewayKind::Native],
        (ChosenServer::Recipe(_), []) => vec![GatewayKind::Cgi],
        (_, asked) => asked.to_vec(),
    };
    let is_built_in = matches!(server, ChosenServer::BuiltIn);
    if let Some(kind) = kinds.iter().find(|kind| (**kind == GatewayKind::Native) != is_built_in) {
        let (error, hint) = match is_built_in {
            true => (
                format!("the built-in server generates pages itself and has no `{}`", kind.name()),
                "choose a server with `--sut`, or use `--gateway native`",
            ),
            false => (
                "`native` is the gateway of the built-in server; no recipe has it".to_owned(),
                "omit `--sut`, or choose another `--gateway`",
            ),
        };
        return Err(Failure::usage(error).hint(hint));
    }
    let workers = match arguments.workers.as_slice() {
        [] => &[WORKERS],
        asked => asked,
    };
    // The built-in server is single-threaded.
    let workers = if is_built_in { &[1] } else { workers };
    let all = kinds
        .iter()
        .flat_map(|kind| workers.iter().map(|workers| Gateway { kind: *kind, workers: *workers }));
    Ok(all.map(Some).collect())
}

/// Returns the name of a candidate's run file: `nginx-php-fpm-4.plim`.
pub(crate) fn file_name(candidate: &Candidate) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = candidate.label.replace(" × ", "-").replace(", ", "-").chars().map(plain).collect();
    PathBuf::from(format!("{}.plim", name.trim_matches('-')))
}

/// Returns the built-in server of a plan's family.
pub(crate) fn built_in(benchmark: &str, filelist: Option<&str>, plan: &Plan) -> Result<Server, Failure> {
    let (of_family, status) = match &plan.workload {
        Workload::Web(_) => (web_arguments(benchmark, filelist, plan), None),
        Workload::App(app) => (app_arguments(app, plan)?, Some(StatusKind::AppStats)),
        Workload::OrderEntry(orders) => (order_entry_arguments(orders, plan)?, Some(StatusKind::OrderStats)),
        Workload::Sql(_) => return Err(no_built_in(plan.workload.family())),
        #[cfg(feature = "echo")]
        Workload::Echo(_) => return Err(no_built_in(plan.workload.family())),
    };
    let mut args = vec!["serve".to_owned()];
    args.extend(of_family);
    // Behind an accelerator, this is not the primary address.
    args.extend(["--listen", "{address}:{port}"].map(str::to_owned));
    if let Some(share) = plan.sut.quota {
        args.extend(["--cpu-allowance".to_owned(), share.to_string()]);
    }
    let family = plan.workload.family();
    Ok(Server::BuiltIn { family, status, program: std::env::current_exe()?, args })
}

/// Returns the error of a family of which Plimsoll starts no server.
fn no_built_in(family: Family) -> Failure {
    let error = format!("this benchmark loads {family} servers, but Plimsoll starts none");
    Failure::usage(error).hint(format!("name a running server: `--target {}`", target_form(family)))
}

/// Returns the arguments of the built-in application server, with service threads for the highest load of a plan.
fn app_arguments(app: &AppWorkload, plan: &Plan) -> Result<Vec<String>, Failure> {
    let clients = plan.level_max().ceil() as u32;
    let cpus = match plan.sut.cpus.len() {
        0 => observe::available_cpus().len(),
        n => n,
    };
    let threads = servers::app::service_threads(clients, cpus as u32);
    let mut args = vec!["app".to_owned()];
    let mut add = |name: &str, value: String| args.extend([name.to_owned(), value]);
    add("--threads", threads.to_string());
    add("--clients-max", clients.to_string());
    if app.needs_files() {
        add("--file-max", format!("{} B", app.file_bytes_max()));
        add("--directory", data_directory(APP_FILES)?.to_string_lossy().into_owned());
    }
    Ok(args)
}

/// Returns the arguments of the built-in order-entry server, with the data of a plan and for its highest load.
fn order_entry_arguments(orders: &OrderEntryWorkload, plan: &Plan) -> Result<Vec<String>, Failure> {
    let users = plan.level_max().ceil() as u32;
    let mut args = vec!["orders".to_owned()];
    let mut add = |name: &str, value: String| args.extend([name.to_owned(), value]);
    add("--warehouses", orders.scale.warehouses().to_string());
    add("--divisor", orders.scale.divisor().to_string());
    add("--seed", orders.population_seed.to_string());
    add("--directory", data_directory(ORDER_FILES)?.to_string_lossy().into_owned());
    // One more has the data restored and checked.
    add("--terminals-max", users.saturating_add(1).to_string());
    add("--queue-max", users.max(QUEUE_MIN).to_string());
    Ok(args)
}

/// Returns the directory of a built-in server's files, below the persistent private one.
fn data_directory(name: &str) -> Result<PathBuf, Failure> {
    Ok(paths::make_private(&paths::persistent_dir())?.join(name))
}

/// Returns the arguments of the built-in web server, with the file set and the protocol of a plan.
fn web_arguments(benchmark: &str, filelist: Option<&str>, plan: &Plan) -> Vec<String> {
    let mut args = vec!["web".to_owned(), benchmark.to_owned()];
    if let Some(filelist) = filelist {
        args.extend(["--filelist".to_owned(), filelist.to_owned()]);
    }
    args.extend(["--max-load".to_owned(), plan.level_max().to_string()]);
    // An accelerator terminates TLS.
    let protocol = plan.workload.web().map(|web| web.protocol).filter(|_| plan.sut.accelerator().is_none());
    if protocol.is_some_and(|protocol| protocol.tls != Tls::Off) {
        // The testbed replaces the placeholders by the files it creates for the run.
        let files = ["--tls-certificate", "{tls_certificate}", "--tls-key", "{tls_key}"];
        args.extend(files.map(str::to_owned));
    }
    if protocol.is_some_and(|protocol| protocol.http == HttpVersion::Http2) {
        args.push("--http2".to_owned());
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_cpus_is_in_the_label_only_if_several_are_compared() {
        let label = "nginx, profile default".to_owned();
        let title = label.clone();
        let one = Candidate {
            label,
            title,
            server: ChosenServer::BuiltIn,
            gateway: None,
            accelerator: None,
            group: None,
            settings: Vec::new(),
        };
        let labels = |groups: &[usize]| -> Vec<String> {
            in_groups(vec![one.clone()], groups).into_iter().map(|one| one.label).collect()
        };
        assert_eq!(labels(&[2]), ["nginx, profile default"]);
        assert_eq!(labels(&[1, 2]), ["nginx, profile default, 1 CPU", "nginx, profile default, 2 CPUs"]);
    }
}
