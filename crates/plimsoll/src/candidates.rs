//! The servers of a run: one, or several that are compared.

use drivers::TargetPolicy;
use fleet::{ExternalServer, FleetError};
use languages::{foreign_text, without_credentials};
use model::{Family, Gateway, GatewayKind};
use testbed::{Recipe, SutError};

use crate::arguments::SutArguments;
use crate::candidate::{Candidate, ChosenAccelerator, ChosenServer, behind_name, server_name, with_cpus};
use crate::embedded_server::EmbeddedServer;
use crate::exit::Failure;
use crate::family::{StartedServers, command_line};
use crate::placement::BUILT_IN;
use crate::server_choice::none_started;
use crate::settings::SettingCombination;

/// Default number of page workers.
const WORKERS: u32 = 4;

/// Lists the servers to run: all combinations of server, gateway, number of workers, accelerator and number of CPUs,
/// each repeated as requested. `pages` are the URLs of servers that are compared by pages of their own, and
/// `has_dynamic_pages` is whether programs generate pages of the workload.
pub(crate) fn candidates(
    arguments: &SutArguments,
    settings: &[SettingCombination],
    pages: &[&str],
    family: Family,
    has_dynamic_pages: bool,
) -> Result<Vec<Candidate>, Failure> {
    refuse_flags_of_others(arguments, family)?;
    let has_gateway_flags = !arguments.gateway.is_empty() || !arguments.workers.is_empty();
    if has_gateway_flags && !has_dynamic_pages {
        let error = "`--gateway` and `--workers` apply to dynamic pages, but this benchmark has only files";
        return Err(Failure::usage(error));
    }
    let servers = servers(arguments, pages, family)?;
    let accelerators = accelerators(arguments)?;
    let mut bare = Vec::new();
    for NamedServer { name, address, state, page, server } in &servers {
        let gateways = gateways(arguments, server, has_dynamic_pages)?;
        if let ChosenServer::Recipe(recipe) = server {
            check_recipe(recipe, arguments.profile.as_deref(), &gateways)?;
        }
        for gateway in gateways {
            let label = server_name(name, gateway, arguments.profile.as_deref());
            let title = if address.is_empty() { label.clone() } else { format!("{label} ({address})") };
            let server = server.clone();
            bare.push(Candidate {
                label,
                title,
                server,
                gateway,
                accelerator: None,
                group: None,
                settings: Vec::new(),
                state: state.clone(),
                address: address.clone(),
                page: *page,
            });
        }
    }
    let mut all = with_settings(&behind(&bare, &accelerators), settings);
    let settle = command_line(family).settle;
    all.iter_mut().try_for_each(|one| settle(one, arguments))?;
    for (index, one) in all.iter().enumerate() {
        if all[..index].iter().any(|other| other.label == one.label) {
            return Err(Failure::usage(format!("`{}` is listed twice", one.label))
                .hint("to run a server twice, use `--repeat 2`"));
        }
    }
    let times = arguments.repeat_max.or(arguments.repeat).unwrap_or(1);
    Ok(repeated(in_groups(all, &arguments.sut_groups), times))
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
        let title = format!("{}{label}", one.title);
        let label = format!("{}{label}", one.label);
        Candidate { title, label, settings: settings.clone(), ..one.clone() }
    };
    all.iter().flat_map(|one| combinations.iter().map(move |settings| with(one, settings))).collect()
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

/// Refuses flags that are about servers of another family only.
fn refuse_flags_of_others(arguments: &SutArguments, family: Family) -> Result<(), Failure> {
    let others = Family::ALL.into_iter().filter(|other| *other != family);
    let mut given = others.filter_map(|other| Some((other, (command_line(other).own_flag)(arguments)?)));
    match given.next() {
        Some((other, flag)) => {
            let error =
                format!("`{flag}` applies to {other} servers, but this benchmark loads {family} servers");
            Err(Failure::usage(error)
                .hint(format!("omit `{flag}`; `--sut` or `--target` chooses the server")))
        }
        None => Ok(()),
    }
}

/// Refuses a target whose scheme belongs to another family.
fn check_scheme(target: &str, family: Family) -> Result<(), Failure> {
    let scheme = target.split_once("://").map_or("", |(scheme, _)| scheme);
    let has_scheme =
        |other: &Family| command_line(*other).own_schemes.iter().any(|own| own.eq_ignore_ascii_case(scheme));
    match Family::ALL.into_iter().filter(|other| *other != family).find(has_scheme) {
        Some(other) => {
            let error = format!(
                "this benchmark loads {family} servers, but `{target}` is a server of the family {other}"
            );
            let own = command_line(family);
            let hint = format!("name {} {family} server: `--target {}`", own.article, own.target_form);
            Err(Failure::usage(error).hint(hint))
        }
        None => Ok(()),
    }
}

/// Lists the accelerators to use with each server, in the order of the command line.
fn accelerators(arguments: &SutArguments) -> Result<Vec<Option<ChosenAccelerator>>, Failure> {
    let named =
        |name: &String| match name.as_str() {
            "" => Err(Failure::usage("`--accelerator` has an empty name")
                .hint("write `--accelerator none,plimsoll`")),
            ChosenAccelerator::NONE => Ok(None),
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

/// A server by its names.
struct NamedServer {
    /// The name of its run.
    name: String,
    /// Its address, if its name does not say that.
    address: String,
    /// The label of its state.
    state: Option<String>,
    /// The number of its page.
    page: usize,
    server: ChosenServer,
}

/// Lists the servers: the targets, those of `--sut`, or the one that the family loads without either. All that were
/// started by their names have the same label.
fn servers(arguments: &SutArguments, pages: &[&str], family: Family) -> Result<Vec<NamedServer>, Failure> {
    let state = arguments.label.first().cloned();
    if let [_, _, ..] = arguments.target.as_slice() {
        return targets(arguments, pages, family);
    }
    if 1 < arguments.label.len() {
        return Err(Failure::usage(format!("`--label` is given {} times", arguments.label.len()))
            .hint("several servers that are already running, by URLs or `--target`, have a label each"));
    }
    if let Some(url) = arguments.target.first() {
        let server = ChosenServer::External(external(url, arguments, family)?);
        return Ok(vec![NamedServer { name: url.clone(), address: String::new(), state, page: 0, server }]);
    }
    let default = default_data(family).map_or(BUILT_IN, |data| data.name);
    let names = match arguments.sut.as_slice() {
        [] => vec![default],
        names => names.iter().map(String::as_str).collect(),
    };
    let of_name = |name: &str| {
        let server = named(name, family)?;
        let name = name.to_owned();
        Ok(NamedServer { name, address: String::new(), state: state.clone(), page: 0, server })
    };
    names.into_iter().map(of_name).collect()
}

/// Lists several targets. Their runs are named by labels, A and B unless the user gives others: addresses can be long, and
/// those of two pages of one server are the same.
fn targets(arguments: &SutArguments, pages: &[&str], family: Family) -> Result<Vec<NamedServer>, Failure> {
    let of_target = |(index, target): (usize, &String)| {
        let own = arguments.label.get(index).cloned();
        let name = own.unwrap_or_else(|| letter(index));
        let shown = pages.get(index).map_or_else(|| without_credentials(target), |page| (*page).to_owned());
        Ok(NamedServer {
            address: foreign_text(&shown),
            state: Some(name.clone()),
            name,
            page: if pages.is_empty() { 0 } else { index },
            server: ChosenServer::External(external(target, arguments, family)?),
        })
    };
    arguments.target.iter().enumerate().map(of_target).collect()
}

/// Returns the letter of a server: A, B.
fn letter(index: usize) -> String {
    let index = u8::try_from(index % 26).unwrap_or_default();
    char::from(b'A' + index).to_string()
}

/// Returns the data that a family loads where no server is named, in place of one; `None` of a family that loads a server.
fn default_data(family: Family) -> Option<&'static EmbeddedServer> {
    command_line(family).embedded.filter(|data| data.is_default)
}

/// Returns the server of a name that `--sut` can have.
fn named(name: &str, family: Family) -> Result<ChosenServer, Failure> {
    if name.is_empty() {
        return Err(Failure::usage("`--sut` has an empty name").hint("write `--sut nginx,apache`"));
    }
    if let Some(data) = default_data(family).filter(|data| data.name == name) {
        return Ok(ChosenServer::Embedded(data));
    }
    let started = command_line(family).started.as_ref().ok_or_else(|| none_started(family))?;
    match (name, &started.built_in) {
        (BUILT_IN, Some(_)) => Ok(ChosenServer::BuiltIn),
        (BUILT_IN, None) => {
            let error = format!("there is no built-in {family} server");
            Err(Failure::usage(error).hint(started.sut_hint))
        }
        _ => Ok(ChosenServer::Recipe(Box::new(load_recipe(name, family, started)?))),
    }
}

/// Returns the recipe of a server of a family.
fn load_recipe(name: &str, family: Family, started: &StartedServers) -> Result<Recipe, Failure> {
    let recipe = Recipe::load(name)?;
    if recipe.family == Some(family) {
        (started.check_recipe)(name, &recipe)?;
        return Ok(recipe);
    }
    let other = match recipe.family {
        Some(other) => format!("is a server of the family {other}"),
        None => "is a server that no benchmark loads: its recipe names no family".to_owned(),
    };
    let error = format!("this benchmark loads {family} servers, and `{name}` {other}");
    Err(Failure::usage(error).hint(started.sut_hint))
}

/// Returns the server that a target names, in the notation of the family.
fn external(target: &str, arguments: &SutArguments, family: Family) -> Result<ExternalServer, Failure> {
    check_scheme(target, family)?;
    let server = (command_line(family).read_target)(target, arguments)?;
    if let Some((host, port)) = server.host_and_port() {
        // A forbidden address is refused before anything else happens.
        TargetPolicy.resolve(host, port).map_err(FleetError::from)?;
    }
    Ok(server)
}

fn gateways(
    arguments: &SutArguments,
    server: &ChosenServer,
    has_dynamic_pages: bool,
) -> Result<Vec<Option<Gateway>>, Failure> {
    let kinds: Vec<GatewayKind> = match (server, arguments.gateway.as_slice()) {
        (ChosenServer::External(_) | ChosenServer::Embedded(_), _) => return Ok(vec![None]),
        _ if !has_dynamic_pages => return Ok(vec![None]),
        (ChosenServer::BuiltIn, []) => vec![GatewayKind::Native],
        (ChosenServer::Recipe(_), []) => vec![GatewayKind::Cgi],
        (_, asked) => asked.to_vec(),
    };
    let is_built_in = matches!(server, ChosenServer::BuiltIn);
    if let Some(kind) = kinds.iter().find(|kind| (**kind == GatewayKind::Native) != is_built_in) {
        let (error, hint) = if is_built_in {
            (
                format!("the built-in server generates pages itself and has no `{}`", kind.name()),
                "choose a server with `--sut`, or use `--gateway native`",
            )
        } else {
            (
                "`native` is the gateway of the built-in server; no recipe has it".to_owned(),
                "omit `--sut`, or choose another `--gateway`",
            )
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
            state: None,
            address: String::new(),
            page: 0,
        };
        let labels = |groups: &[usize]| -> Vec<String> {
            in_groups(vec![one.clone()], groups).into_iter().map(|one| one.label).collect()
        };
        assert_eq!(labels(&[2]), ["nginx, profile default"]);
        assert_eq!(labels(&[1, 2]), ["nginx, profile default, 1 CPU", "nginx, profile default, 2 CPUs"]);
    }
}
