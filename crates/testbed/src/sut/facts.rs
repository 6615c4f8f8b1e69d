//! The disclosure about the system under test.

use std::collections::BTreeSet;
use std::fmt;

use model::{Fact, FactSection, FactState, Family, RUN_VALUES};
use observe::cgroup::Controller;
use observe::kernel_file::read;
use observe::{available_cpus, format_cpu_list, package_of};

use super::line_diff::changed_lines;
use super::managed_process::ManagedProcess;
use super::recipe_selection::RecipeSelection;
use super::running::RunningSut;
use super::values::PlaceholderValues;
use super::web::facts as web;
use crate::cgroup::memory_text;
use crate::recipe::{Recipe, Reset};

/// The profile with the server's own default configuration.
const DEFAULT_PROFILE: &str = "default";

/// Sources of facts.
pub(super) const RECIPE: &str = "recipe";
const PROGRAM: &str = "the program itself";
pub(super) const SET: &str = "set by this run";

/// Returns the sections about the server: its process, its companions, and their configuration.
pub(super) fn sections(sut: &RunningSut) -> Vec<FactSection> {
    let server = &sut.server;
    let is_web = sut.recipe.is_of(Family::Web);
    let address = if is_web { web::address(sut) } else { sut.server_addr().to_string() };
    let user = match &server.launch.account {
        Some((account, _)) => fact("user", &account.name, RECIPE),
        None => fact("user", &sut.values.user, "the user of this process"),
    };
    let mut facts = vec![fact("server", &sut.recipe.title, RECIPE)];
    facts.extend(software(server));
    facts.extend([
        fact("command line", &server.launch.command_line(), RECIPE),
        user,
        fact("address", &address, SET),
        if is_web { web::transport(sut) } else { variant(sut) },
        fact("profile", &sut.choice.profile, SET),
        fact("processors", &cpus(sut), SET),
        fact("CPU quota", &quota(sut), SET),
        fact("CPU time known from", sut.meter.description(), SET),
        fact("between load points", reset(&sut.recipe), RECIPE),
    ]);
    facts.extend(
        sut.asked.memory.map(|bytes| limit(sut, "memory limit", &memory_text(bytes), Controller::Memory)),
    );
    facts.extend(
        sut.web.memory_limit_proof.map(|proof| fact("memory limit in a warm-up", &proof.to_string(), SET)),
    );
    facts.extend(
        sut.asked.disk.as_ref().map(|disk| limit(sut, "disk limit", &disk.to_string(), Controller::Blkio)),
    );
    facts.extend(web::file_set(sut));
    facts.extend(environment(server));
    let settings = sut.choice.settings.iter();
    facts.extend(settings.map(|(name, value)| fact(name, &sut.values.fill(value), RECIPE)));
    let mut sections = vec![FactSection { title: "Server".into(), facts }];
    let mut configuration_of_server = configuration(server, "Server configuration");
    if let Some(section) = &mut configuration_of_server {
        section.facts.extend(change_of_profile(sut));
    }
    sections.extend(configuration_of_server);
    sections.extend(web::sections(sut));
    for (companion, _) in &sut.companions {
        sections.extend(configuration(companion, &format!("{} configuration", companion.title)));
    }
    sections.push(run_values(sut));
    sections
}

fn variant(sut: &RunningSut) -> Fact {
    fact("variant", sut.choice.variant.as_deref().unwrap_or("none"), SET)
}

/// Returns the section about values chosen by this run, so that comparisons can ignore them.
fn run_values(sut: &RunningSut) -> FactSection {
    // A server that announces its address has chosen the port itself.
    let values = PlaceholderValues { port: sut.server_addr().port(), ..sut.values.clone() };
    let mut facts: Vec<Fact> =
        values.of_this_start().iter().map(|(name, value)| fact(name, value, SET)).collect();
    facts.extend(web::run_values(sut));
    FactSection { title: RUN_VALUES.to_owned(), facts }
}

/// Describes a program: its version, its package, its loaded modules.
pub(super) fn software(process: &ManagedProcess) -> [Fact; 3] {
    let version = process.version.clone().ok_or("not reported");
    let maps = process.pid().and_then(|pid| read(format!("/proc/{pid}/maps")));
    let loaded = maps.map(|maps| libraries(&maps)).ok_or("its process cannot be read");
    [
        known("version", version, PROGRAM),
        known("package", package_of(&process.launch.program), "dpkg status"),
        known("modules and libraries", loaded, "/proc/PID/maps"),
    ]
}

/// Returns a fact, or that it is not known and why.
fn known(name: &str, found: Result<String, impl fmt::Display>, source: &str) -> Fact {
    match found {
        Ok(value) => fact(name, &value, source),
        Err(why) => Fact { state: FactState::NotDisclosed, ..fact(name, &why.to_string(), source) },
    }
}

/// Lists the files with code mapped by a process, without their directories.
fn libraries(maps: &str) -> String {
    let paths = maps.lines().filter_map(|line| line.split_once(" /"));
    let files = paths.map(|(_, path)| path.rsplit('/').next().unwrap_or(path));
    let names: BTreeSet<&str> = files.filter(|file| file.contains(".so")).collect();
    if names.is_empty() { "none".to_owned() } else { names.into_iter().collect::<Vec<_>>().join(", ") }
}

/// Lists the environment variables that a program is given.
pub(super) fn environment(process: &ManagedProcess) -> impl Iterator<Item = Fact> {
    let variables = process.launch.environment.iter();
    variables.map(|(name, value)| fact(&format!("environment variable {name}"), value, RECIPE))
}

/// Returns the section of the configuration files of a program; `None` of one without any.
pub(super) fn configuration(process: &ManagedProcess, title: &str) -> Option<FactSection> {
    let files = process.config.iter().chain(&process.files);
    let facts: Vec<Fact> = files.map(|(file, text)| fact(file, text, "as written for this run")).collect();
    (!facts.is_empty()).then(|| FactSection { title: title.to_owned(), facts })
}

/// Describes the differences from the default configuration of the server; `None` if the recipe does not
/// contain that, or it is used.
fn change_of_profile(sut: &RunningSut) -> Option<Fact> {
    let known = sut.recipe.profiles.contains_key(DEFAULT_PROFILE);
    if !known || sut.choice.profile == DEFAULT_PROFILE {
        return None;
    }
    let (_, ours) = sut.server.config.as_ref()?;
    let usual =
        RecipeSelection::make(&sut.recipe, Some(DEFAULT_PROFILE), sut.choice.variant.as_deref()).ok()?;
    let usual = usual.with_web(&sut.recipe, sut.choice.web.asked()).ok()?;
    let values = sut.values.clone().with_parts_of(&usual);
    let changed = changed_lines(&values.fill(usual.config_text.as_ref()?), ours)?;
    let text = if changed.is_empty() { "nothing".to_owned() } else { changed.join("\n") };
    Some(fact("changed from the profile `default`", &text, "recipe, both profiles"))
}

/// Returns a fact with its source.
pub(super) fn fact(name: &str, value: &str, source: &str) -> Fact {
    Fact::found(name, value).from(source)
}

fn cpus(sut: &RunningSut) -> String {
    let cpus = format_cpu_list(&sut.asked.cpus);
    match &sut.group {
        _ if cpus.is_empty() => format!("{} (all)", format_cpu_list(&available_cpus())),
        Ok(group) if !group.enforced_limits().cpus.is_empty() => {
            format!("{cpus} (pinned, and {})", group.enforcement(Controller::Cpuset))
        }
        _ => format!("{cpus} (pinned)"),
    }
}

/// Returns a requested limit, and how it is enforced or why it is not.
fn limit(sut: &RunningSut, name: &str, asked: &str, controller: Controller) -> Fact {
    fact(name, &format!("{asked}, {}", sut.enforcement(controller)), SET)
}

/// Returns the CPU time that the server may use, and how the limit is enforced or why it is not.
fn quota(sut: &RunningSut) -> String {
    match (&sut.group, sut.asked.quota) {
        (Ok(group), _) => group.quota_text(),
        (Err(why), None) => format!("none; no control group: {why}"),
        (Err(why), Some(asked)) => format!("{asked} CPUs requested, not enforced: {why}"),
    }
}

fn reset(recipe: &Recipe) -> &'static str {
    match recipe.reset {
        Reset::None if recipe.alone => "keeps running, and is stopped while other servers are measured",
        Reset::Restart if recipe.alone => "is restarted, and stopped while other servers are measured",
        Reset::Restore if recipe.alone => {
            "is restarted with a copy of its first data, and stopped while other servers are measured"
        }
        Reset::None => "keeps running",
        Reset::Restart => "is restarted",
        Reset::Restore => "is restarted with a copy of its first data",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaded_files_are_listed_once() {
        let maps = "55d0-55d1 r-xp 00000000 fe:00 1  /usr/sbin/nginx\n7f10-7f11 r--p 00000000 fe:00 2  /usr/lib/x/libc.so.6\n\
            7f11-7f12 r-xp 00000000 fe:00 2  /usr/lib/x/libc.so.6\n7f20-7f21 r-xp 0 fe:00 3  /usr/lib/nginx/modules/ngx_echo.so\n\
            7f30-7f31 rw-p 0 00:00 0 [heap]\n";
        assert_eq!(libraries(maps), "libc.so.6, ngx_echo.so");
        assert_eq!(libraries("55d0-55d1 r-xp 0 fe:00 1  /usr/bin/caddy\n"), "none");
    }
}
