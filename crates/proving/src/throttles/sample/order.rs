//! The command lines of Plimsoll for a case: to name its bottleneck, and to learn a rate.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::case::{RunMode, SampleCase};
use super::scene::CaseScene;
use super::setting::Setting;
use super::work::{UserPacing, Work};
use crate::shell::root;
use crate::throttles::attempt::Attempt;

/// Files of 150 MiB in all, for recipes.
const FILES: &str = "crates/proving/src/throttles/files.toml";

/// The most URLs that are given one by one; more are a definition with a parameter.
const URLS_MAX: u32 = 64;

/// The settle phase of a run whose throttle is replaced: what was queued and lost before is over when it ends.
const SWITCHED_SETTLE: &str = "2s";

/// The aim of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunAim {
    /// The bottleneck: from one user to many, with the processes that Plimsoll is told to watch.
    Name,
    /// The same, for a bottleneck that is present from the first second.
    NameBriefly,
    /// The rate: many users only, and briefly.
    Rate,
    /// The bottleneck of two load points with many users each, between which the throttle is replaced.
    Moves,
    /// The same, for bottlenecks that are present from the first second.
    MovesBriefly,
}

/// Runs Plimsoll once for a case with these numbers.
pub(super) fn try_case(
    case: &SampleCase,
    setting: &Setting,
    plimsoll: &Path,
    aim: RunAim,
) -> Result<Attempt> {
    let scene = CaseScene::begin(case, setting, plimsoll)?;
    Attempt::of(&mut command(case, setting, &scene, plimsoll, aim)?)
}

/// Returns the command that runs Plimsoll once in a scene.
pub(super) fn command(
    case: &SampleCase,
    setting: &Setting,
    scene: &CaseScene,
    plimsoll: &Path,
    aim: RunAim,
) -> Result<Command> {
    let mut arguments = match case.mode {
        RunMode::Recipe => recipe_arguments(case, setting, scene)?,
        _ => target_arguments(setting, scene)?,
    };
    arguments.extend(load_arguments(setting, aim));
    if case.mode == RunMode::Watch && aim != RunAim::Rate {
        arguments.extend(["--watch".to_owned(), scene.watched(case.is_told)]);
    }
    let mut command = scene.network.generator_command(plimsoll);
    command.args(["--json", "run"]).args(arguments).args(["--progress", "plain"]);
    command.arg("--out").arg(scene.path("run.plim")).current_dir(root());
    Ok(command)
}

/// Returns load and phases.
fn load_arguments(setting: &Setting, aim: RunAim) -> Vec<String> {
    let (flag, most) = match setting.pace {
        UserPacing::Rate(rate) => ("--rate", rate),
        _ => ("--load", setting.users),
    };
    let least = if flag == "--rate" { most / 5 } else { 1 };
    let rising = format!("{least},{most}");
    // Load points differ in load.
    let moving = format!("{least},{},{most}", most - 1);
    let (load, settle, steady) = match aim {
        RunAim::Name => (rising, "1s", "5s"),
        RunAim::NameBriefly => (rising, "1s", "3s"),
        // A generator with fewer ports than users is refused; what it can do is what as many users as ports do.
        RunAim::Rate => (most.min(setting.ports.unwrap_or(most)).to_string(), "1s", "2s"),
        RunAim::Moves => (moving, SWITCHED_SETTLE, "5s"),
        RunAim::MovesBriefly => (moving, SWITCHED_SETTLE, "3s"),
    };
    let phases = ["--duration", steady, "--settle", settle, "--ramp-up", "0s", "--ramp-down", "0s"];
    let cpus = list(&setting.load_cpus);
    [&[flag, &load, "--load-cpus", &cpus], &phases[..]].concat().into_iter().map(str::to_owned).collect()
}

/// Returns what is requested from a running server: its URLs, or a definition where users think or files are many.
fn target_arguments(setting: &Setting, scene: &CaseScene) -> Result<Vec<String>> {
    let base = scene.url();
    let paths = setting.work.paths();
    let mut arguments = match (setting.pace, setting.work) {
        (UserPacing::Think(time), _) => {
            let think = format!("think = {{ exponential = \"{time} ms\" }}");
            let path = write_definition(scene, &think, &paths[0], "reply = \"any\"")?;
            vec![path, "--target".to_owned(), base]
        }
        (_, Work::Files { n, .. }) if URLS_MAX < n => {
            let reply = format!("parameters.number = {{ from = 1, count = {n} }}\nreply = \"any\"");
            let path = write_definition(scene, "", "files/{number}.bin", &reply)?;
            vec![path, "--target".to_owned(), base]
        }
        _ if paths.len() == 1 => vec![base + &paths[0]],
        _ => {
            let urls: Vec<String> = paths.iter().map(|path| format!("{base}{path}")).collect();
            let path = scene.path("urls.txt");
            fs::write(&path, urls.join("\n"))?;
            vec!["--urls".to_owned(), path.display().to_string()]
        }
    };
    if setting.request_bytes != 0 {
        arguments
            .extend(["-H".to_owned(), format!("X-Fill: {}", "x".repeat(setting.request_bytes as usize))]);
    }
    if setting.has_new_connections {
        arguments.extend(["--connection", "per-request"].map(str::to_owned));
    }
    Ok(arguments)
}

/// Returns the benchmark and the server of a recipe, with the limits that it is told.
fn recipe_arguments(case: &SampleCase, setting: &Setting, scene: &CaseScene) -> Result<Vec<String>> {
    let has_pages = matches!(setting.work, Work::Wait(_) | Work::Lock(_));
    let benchmark = match setting.work {
        Work::Wait(time) => page_definition(scene, &format!("wait={time}"))?,
        Work::Lock(time) => page_definition(scene, &format!("lock={time}"))?,
        // All objects are fetched at once before load begins: large ones would not pass a slow link in time.
        Work::Files { n, .. } if n <= URLS_MAX => "one-object".to_owned(),
        _ => FILES.to_owned(),
    };
    let quota = setting.quota.map_or_else(|| "none".to_owned(), |cpus| cpus.to_string());
    let mut arguments =
        vec![benchmark, "--sut".into(), case.server.name().into(), "--sut-quota".into(), quota];
    arguments.extend(["--sut-cpus".into(), list(&setting.cpus)]);
    if has_pages {
        let workers = setting.workers.to_string();
        arguments.extend(["--gateway", "fastcgi", "--workers", &workers].map(str::to_owned));
    }
    arguments
        .extend(setting.memory.into_iter().flat_map(|mib| ["--sut-memory".into(), format!("{mib} MiB")]));
    let disk = [
        setting.reads.map(|n| format!("reads={n}")),
        setting.read_kib.map(|kib| format!("read-bytes={kib}KiB")),
    ];
    arguments.extend(disk.into_iter().flatten().flat_map(|limit| ["--sut-disk".into(), limit]));
    if matches!(setting.work, Work::DiskReads { .. }) {
        arguments.extend(["--profile", "direct-io"].map(str::to_owned));
    }
    Ok(arguments)
}

/// Writes the definition of a page that a gateway's program makes, and returns its path.
fn page_definition(scene: &CaseScene, query: &str) -> Result<String> {
    let reply = "parameters.seed = { count = 2_147_483_648 }\nreply = { letters = 1000 }";
    write_definition(scene, "", &format!("dyn?size=1000&seed={{seed}}&{query}"), reply)
}

/// Writes a definition of one kind of request and returns its path; `workload` and `request` are further lines.
fn write_definition(scene: &CaseScene, workload: &str, path: &str, request: &str) -> Result<String> {
    let text = format!(
        "format = 1\nid = \"throttled\"\nversion = 1\ntitle = \"Throttled\"\nsummary = \"A page.\"\n\
        family = \"web\"\nheadline = \"request-rate\"\n\n[workload]\n{workload}\n\n[[workload.requests]]\n\
        name = \"page\"\nweight = 1\npath = \"/{path}\"\n{request}\n\n[protocol]\nhttp = \"1.1\"\n\
        connection = \"keep-alive\"\ntime-limit = \"10 s\"\n\n[load]\nusers = \"1\"\n\n[phases]\nsteady = \"5 s\"\n"
    );
    let file = scene.path("throttled.toml");
    fs::write(&file, text)?;
    Ok(file.display().to_string())
}

fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}
