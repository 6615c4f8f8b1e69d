//! Tests of what is started for each built-in recipe: all that a server is given, in every profile and variant, through
//! every gateway.
//!
//! One snapshot per recipe. It has the first combination in whole; a further one is a line with the numbers of the
//! hunks by which it differs from the first. A hunk stands where it occurs first.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use model::{Family, Gateway, GatewayKind};

use super::account::Account;
use super::buffer_sizes::BufferSizes;
use super::line_diff::common_lengths;
use super::managed_process::ManagedProcess;
use super::processes::ProcessBuilder;
use super::recipe_selection::RecipeSelection;
use super::values::{PlaceholderValues, config_file};
use super::web::{Origin, WebValues};
use super::work_dir::WorkDir;
use crate::recipe::{BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES, ProgramRecipe, Recipe, RequiredFile};

/// Stands for the directory of a run.
const WORK_DIR: &str = "/work";

#[test]
fn servers_are_given_what_their_recipes_say() {
    for (name, _) in BUILT_IN_RECIPES {
        let recipe = Recipe::load(name).unwrap();
        insta::assert_snapshot!(*name, combinations(&recipe, None));
    }
}

#[test]
fn accelerators_are_given_what_their_recipes_say() {
    let origin = Origin { address: "127.0.0.2:8081".parse().unwrap(), cache_bytes: 100_000_000 };
    for (name, _) in BUILT_IN_ACCELERATORS {
        let recipe = Recipe::load_accelerator(name).unwrap();
        insta::assert_snapshot!(format!("accelerator_{name}"), combinations(&recipe, Some(origin)));
    }
}

/// Renders every combination of a recipe.
fn combinations(recipe: &Recipe, origin: Option<Origin>) -> String {
    let gateways: Vec<Option<GatewayKind>> =
        std::iter::once(None).chain(recipe.gateways.keys().copied().map(Some)).collect();
    let none = (!recipe.is_of(Family::Web)).then_some(None);
    let variants: Vec<Option<&str>> =
        none.into_iter().chain(recipe.variant_names().into_iter().map(Some)).collect();
    let mut first = Vec::new();
    let mut known: Vec<String> = Vec::new();
    let mut text = String::new();
    for profile in recipe.profile_names() {
        for variant in &variants {
            for gateway in &gateways {
                let kind = gateway.map_or("none", GatewayKind::name);
                let shown = variant.unwrap_or("none");
                text += &format!("profile {profile}, variant {shown}, gateway {kind}:");
                let asked = gateway.map(|kind| Gateway { kind, workers: 3 });
                let choice = RecipeSelection::make(recipe, Some(profile), *variant)
                    .unwrap()
                    .with_web(recipe, asked)
                    .unwrap();
                let lines = render(recipe, &choice, origin);
                if first.is_empty() {
                    text += &format!("\n{}\n\n", lines.join("\n"));
                    first = lines;
                    continue;
                }
                let mut new = String::new();
                for hunk in hunks(&first, &lines) {
                    let number = known.iter().position(|one| *one == hunk).unwrap_or_else(|| {
                        new += &format!("hunk {}, {hunk}\n", known.len());
                        known.push(hunk);
                        known.len() - 1
                    });
                    text += &format!(" {number}");
                }
                text += &format!("\n{new}");
            }
        }
    }
    text
}

/// Renders one combination, line by line.
fn render(recipe: &Recipe, choice: &RecipeSelection, origin: Option<Origin>) -> Vec<String> {
    let base = tempfile::tempdir().unwrap();
    let work_dir = WorkDir::create(base.path()).unwrap();
    let values = values(recipe, work_dir.path(), origin).with_parts_of(choice);
    let builder = ProcessBuilder { values: &values, work_dir: &work_dir, cpus: &[], search_path: &[] };
    builder.make_directories(recipe).unwrap();
    let program = || PathBuf::from("/program");
    let server = builder.server(recipe, choice, program(), None).unwrap();
    let mut text = format!("ready {:?}, reset {:?}\n", recipe.ready, recipe.reset);
    text += &format!("directories {:?}\n", recipe.directories);
    text += &program_text(&recipe.program);
    text += &process_text(&server);
    text += &data_text(recipe, &values);
    if let Some(status) = &choice.status {
        let connections = status.connections_per_worker.as_deref().map(|text| values.fill(text));
        let path = status.path.as_deref().unwrap_or_default();
        text += &format!("status page {:?} {path}, {connections:?} connections\n", status.kind);
    }
    for (name, template) in &choice.settings {
        text += &format!("setting {name}: {}\n", values.fill(template));
    }
    text += &needs_text(choice.web.needs());
    for (name, companion) in &choice.companions {
        let (process, address) = builder.companion(name, companion, program()).unwrap();
        text += &format!("companion {name}, listens at {address:?}\n");
        text += &program_text(&companion.program);
        text += &process_text(&process);
    }
    let text = text.replace(work_dir.path().to_str().unwrap(), WORK_DIR);
    text.lines().map(str::to_owned).collect()
}

fn values(recipe: &Recipe, work_dir: &Path, origin: Option<Origin>) -> PlaceholderValues {
    PlaceholderValues {
        address: Ipv4Addr::LOCALHOST,
        port: 8080,
        work_dir: work_dir.to_owned(),
        data: work_dir.join("data"),
        program_dir: PathBuf::from("/bin"),
        password: "0123".to_owned(),
        ports: Default::default(),
        config_file: config_file(recipe),
        user: "operator".to_owned(),
        users: 300,
        workers: 2,
        open_files: 20_000,
        service: Account { name: "www-data".to_owned(), uid: 33, gid: 33 },
        variant: String::new(),
        companion_port: 9001,
        plimsoll: PathBuf::from("/usr/bin/plimsoll"),
        sizes: BufferSizes::of(Some(874 << 20), 1 << 40),
        web: WebValues { root: PathBuf::from("/files"), workers: 3, origin, ..WebValues::default() },
    }
}

fn program_text(ProgramRecipe { find, install, version }: &ProgramRecipe) -> String {
    format!("find {find:?}\ninstall {install:?}\nversion {version:?}\n")
}

fn process_text(process: &ManagedProcess) -> String {
    let ManagedProcess { title, launch, stop, logs, config, files, .. } = process;
    let mut text = format!("{title}: {}\n", launch.command_line());
    for (name, value) in &launch.environment {
        text += &format!("environment {name}={value}\n");
    }
    text += &format!("announces {}, standard input {:?}\n", launch.announces, launch.inherited_socket);
    text += &format!("stop by {:?} within {} s, logs {logs:?}\n", stop.signal, stop.seconds);
    for (name, content) in config.iter().chain(files) {
        text += &format!("file {name}:\n{content}\nend of file {name}\n");
    }
    text
}

/// Renders what a recipe with data has beside others; nothing for one without.
fn data_text(recipe: &Recipe, values: &PlaceholderValues) -> String {
    let filled = |run: &[String]| run.iter().map(|part| values.fill(part)).collect::<Vec<_>>().join(" ");
    let account = recipe.start.account.iter().map(|account| format!("account {account}\n"));
    let data = recipe.data.iter().map(|data| format!("data in {}\n", data.directory));
    let steps = recipe.steps.iter().map(|step| {
        format!("when {}: {}\n{}", step.when, filled(&step.run), values.fill(&step.input).trim_start())
    });
    let ready = Some(&recipe.ready_command).filter(|command| !command.is_empty());
    let ready = ready.map(|command| format!("ready when {}\n", filled(command)));
    account.chain(data).chain(steps).chain(ready).collect()
}

fn needs_text(needs: &[RequiredFile]) -> String {
    let needs = needs.iter();
    needs
        .map(|need| format!("needs {}: find {:?}, install {:?}\n", need.title, need.find, need.install))
        .collect()
}

/// Returns the runs of lines by which a text differs from the first one, each with its line in the first.
fn hunks(first: &[String], other: &[String]) -> Vec<String> {
    let texts = [first, other].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    let common = common_lengths(&texts[0], &texts[1]);
    let mut i = 0;
    let mut j = 0;
    let mut hunks = Vec::new();
    while i < first.len() || j < other.len() {
        let start = i;
        let mut removed = String::new();
        let mut added = String::new();
        while (i < first.len() || j < other.len()) && (first.get(i) != other.get(j)) {
            if j < other.len() && (i == first.len() || common[i + 1][j] < common[i][j + 1]) {
                added += &format!("\n+{}", other[j]);
                j += 1;
            } else {
                removed += &format!("\n-{}", first[i]);
                i += 1;
            }
        }
        if !removed.is_empty() || !added.is_empty() {
            hunks.push(format!("line {}:{removed}{added}", start + 1));
        }
        (i, j) = (i + 1, j + 1);
    }
    hunks
}
