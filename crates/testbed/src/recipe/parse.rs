//! The parser of recipes: a recipe, or everything that is wrong with its text.

use std::collections::BTreeMap;

use languages::reader::{TomlTable, ValueError, read_toml, toml_schema};
use languages::spec::{ValueSpec, choice, choice_among, flag, text, whole_u32};
use languages::{Diagnostics, NamedValues};
use model::{Family, GatewayKind};
use observe::StatusKind;
use serde_json::Value;

use super::companion::built_in_names;
use super::gateway::RequiredFile;
use super::placeholder::port_placeholder;
use super::value::{check_path_below, companion_name, format, path_below, port_name, request_path, template};
use super::{
    BENCHMARK_PROFILE, CompanionRecipe, ConfigRecipe, DataRecipe, GatewayRecipe, ProfileRecipe,
    ProgramRecipe, Ready, Recipe, Reset, StartRecipe, StatusRecipe, StepRecipe, StepTime, StopRecipe,
    WebVariant,
};

/// The version of the recipe format.
const FORMAT: u32 = 2;

impl Recipe {
    /// Reads a recipe; `file_name` is what messages call the text.
    ///
    /// # Errors
    /// Everything that is wrong, as far as it can be found at once: syntax, unknown and missing keys, wrong types,
    /// unknown placeholders.
    pub fn parse(file_name: &str, text: &str) -> Result<Recipe, Diagnostics> {
        read_toml("a recipe", file_name, text, read_recipe)
    }
}

impl CompanionRecipe {
    /// Reads a companion from a text of its own, in the same way.
    pub(super) fn parse(file_name: &str, text: &str) -> Result<CompanionRecipe, Diagnostics> {
        read_toml("a companion", file_name, text, read_companion)
    }
}

/// Returns the JSON Schema (2020-12) of recipes.
pub fn recipe_schema() -> Value {
    toml_schema("Plimsoll SUT recipe", read_recipe)
}

/// Every key is read before the first `?`, so that all mistakes are found; `None` means that one was reported.
fn read_recipe(mut top: TomlTable) -> Option<Recipe> {
    top.describe("Recipe", "A recipe to run one server as a system under test.");
    let format = top.required("format", "The version of this format: 2.", format(FORMAT));
    let about = "The family of benchmarks that load this server; without it, none does.";
    let family = top.optional("family", about, started_family());
    let name = top.required("name", "The name that users type.", text().rule("minLength", 1));
    let title = top.required("title", "The name for people.", text().rule("minLength", 1));
    let ready = top.required("ready", "The readiness check.", choice());
    let about = "For `ready = \"log\"`: part of the line by which the server says that it is ready.";
    let ready_log = top.optional("ready-log", about, text());
    let about = "For `ready = \"command\"`: the command that ends with status 0 once the server is ready, with \
                 placeholders.";
    let ready_command = top.optional_items("ready-command", about, template()).unwrap_or_default();
    let reset = top.required("reset", "The action between load points.", choice());
    let about = "Whether it is stopped while another server is measured in turns with it, and started again with the data \
                 that it had: for servers that use memory, disks or CPUs also without load. If absent: `false`.";
    let alone = top.optional("alone", about, flag()).unwrap_or_default();
    let about = "Names of further ports: `imap` is the placeholder `{imap_port}`.";
    let ports = top.optional_items("ports", about, port_name()).unwrap_or_default();
    let about = "Why only root can start the server; without it any user can.";
    let needs_root = top.optional("needs-root", about, text());
    let data = top.optional_table("data", "Its data, if it keeps any.").and_then(read_data);
    let about = "Commands that make its data, prepare its start, run after each start or warm its data, in this order.";
    let steps = top.optional_tables("steps", about);
    let steps: Vec<StepRecipe> = steps.into_iter().flatten().filter_map(read_step).collect();
    let about = "Directories that the server needs below its work directory.";
    let directories = top.optional_items("directories", about, path_below());
    let program = top.required_table("program", "The program.").and_then(|table| read_program(table, text()));
    let start = top.required_table("start", "The start command.").and_then(read_start);
    let stop = top.optional_table("stop", "The way to stop it.").map(read_stop);
    let config =
        top.optional_table("config", "Its configuration file, if it needs one.").and_then(read_config);
    let about = "Other files that it reads, by name, with placeholders.";
    let files = top.optional_table("files", about).map(read_files);
    let settings =
        read_settings(&mut top, "Settings that the disclosure shows besides the configuration file.");
    let status = top.optional_table("status", "Its status page.").and_then(read_status);
    let about = "Other configurations, by name; `[config]` and `[settings]` are the profile `benchmark`.";
    let profiles = top.optional_table("profiles", about).map(|table| read_profiles(table, family));
    let about = "Variants of the server: values of `{variant}`, by name. Web servers have `h1` (HTTP/1), `tls` (HTTP/1 \
                 over TLS) and `h2` (HTTP/2 over TLS), without this table only the first; recipes of other families \
                 name theirs freely.";
    let variants = top.optional_table("variants", about).map(|table| read_own_variants(table, family));
    refuse_transports(&mut top);
    let about =
        "Programs that run beside the server for a gateway, by name, in addition to the built-in ones.";
    let companions = top.optional_table("companions", about);
    let own_names = companions.iter().flat_map(TomlTable::keys);
    let known: Vec<String> = own_names.chain(built_in_names()).map(str::to_owned).collect();
    let companions = companions.map(read_companions);
    let about =
        "Programs that always run beside the server: names from `[companions]`, or of built-in companions.";
    let beside = top.optional_items("beside", about, companion_name(known.clone())).unwrap_or_default();
    let gateways = top.optional_table("gateways", "Its gateways to programs that generate pages.");
    let gateways = gateways.map(|table| read_gateways(table, &known));
    check_readiness(&top, ready, ready_log.is_some(), !ready_command.is_empty());
    check_data(&top, reset, data.is_some(), &steps);
    top.report_unknown();
    let recipe = Recipe {
        format: format?,
        family,
        name: name?,
        title: title?,
        ready: ready?,
        ready_log,
        ready_command,
        reset: reset?,
        alone,
        ports,
        beside,
        needs_root,
        data,
        steps,
        directories: directories.unwrap_or_default(),
        program: program?,
        start: start?,
        stop: stop.unwrap_or_default(),
        config,
        files: files.unwrap_or_default(),
        settings,
        status,
        profiles: profiles.unwrap_or_default(),
        variants: variants.unwrap_or_default(),
        gateways: gateways.unwrap_or_default(),
        companions: companions.unwrap_or_default(),
    };
    if let Some(port) = recipe.undeclared_port().filter(|_| !top.has_mistake()) {
        let error = ValueError::new(format!("`{{{}}}` is not a port of this recipe", port_placeholder(port)));
        top.reject("ports", error.hint(format!("add `{port}` to `ports`")));
    }
    Some(recipe)
}

/// Returns the value that is a family of which servers are started.
fn started_family() -> ValueSpec<Family> {
    choice_among(|family: &Family| family.is_started())
}

/// Reads a program; `candidate` is for its names and paths.
fn read_program(mut table: TomlTable, candidate: ValueSpec<String>) -> Option<ProgramRecipe> {
    table.describe("Program", "The program of a server, and its possible locations.");
    let about = "Names, which are searched on the search path, and paths; the first that exists is used.";
    let find = table.required("find", about, candidate.non_empty_list());
    let install = table.optional("install", "The command that installs it.", text());
    let version = table.optional_items("version", "Arguments that print its version.", text());
    table.finish();
    Some(ProgramRecipe { find: find?, install, version: version.unwrap_or_default() })
}

fn read_start(mut table: TomlTable) -> Option<StartRecipe> {
    table.describe("Start", "The start command of a server.");
    let about =
        "The program to start, with placeholders, if steps make it; otherwise the one that was found.";
    let program = table.optional("program", about, template());
    let about = "Arguments that keep it in the foreground, where it can be supervised.";
    let arguments = table.required_items("arguments", about, template());
    let environment = table.optional_table("environment", "Additional environment variables.");
    let environment = environment.map(read_templates).unwrap_or_default();
    let about = "The account under which root starts it; other users start it under their own.";
    let account = table.optional("account", about, text());
    let about = "Whether it insists on leading a session of its own; if absent: `false`.";
    let own_session = table.optional("own-session", about, flag()).unwrap_or_default();
    table.finish();
    Some(StartRecipe { program, arguments: arguments?, environment, account, own_session })
}

fn read_data(mut table: TomlTable) -> Option<DataRecipe> {
    table.describe("Data", "The data that a server keeps.");
    let about = "Their directory, which is `{data}`, below a folder that is made for the run on disk. It belongs to the \
                 server's account alone.";
    let directory = table.required("directory", about, path_below());
    table.finish();
    Some(DataRecipe { directory: directory? })
}

fn read_step(mut table: TomlTable) -> Option<StepRecipe> {
    table.describe("Step", "A command that runs to its end, under the account of the server.");
    let when = table.required("when", "The time at which it runs.", choice());
    let about = "The program and its arguments, with placeholders.";
    let run = table.required("run", about, template().non_empty_list());
    let input = table.optional("input", "Its standard input, with placeholders.", template());
    table.finish();
    Some(StepRecipe { when: when?, run: run?, input: input.unwrap_or_default() })
}

/// Checks that a readiness check has the text or the command that it needs.
fn check_readiness(top: &TomlTable, ready: Option<Ready>, has_log: bool, has_command: bool) {
    let missing = match ready {
        Some(Ready::Log) if !has_log => "ready-log",
        Some(Ready::Command) if !has_command => "ready-command",
        _ => return,
    };
    let error = ValueError::new(format!("this check needs `{missing}`"));
    top.reject("ready", error.hint(format!("add `{missing}`, or choose `connect`")));
}

/// Checks that what is made or restored has a directory.
fn check_data(top: &TomlTable, reset: Option<Reset>, has_data: bool, steps: &[StepRecipe]) {
    if has_data {
        return;
    }
    let hint = "add `[data]` with its `directory`";
    if reset == Some(Reset::Restore) {
        top.reject("reset", ValueError::new("nothing to restore").hint(hint));
    }
    if steps.iter().any(|step| [StepTime::Made, StepTime::Warm].contains(&step.when)) {
        top.reject("steps", ValueError::new("a step makes or warms data that have no directory").hint(hint));
    }
}

fn read_stop(mut table: TomlTable) -> StopRecipe {
    table.describe("Stop", "The way to stop a server.");
    let standard = StopRecipe::default();
    let signal =
        table.optional("signal", "The signal that asks it to terminate; if absent: `term`.", choice());
    let about = "Time limit in seconds, after which it is killed; if absent: 3.";
    let seconds = table.optional("seconds", about, whole_u32(0..=u32::from(u16::MAX)));
    table.finish();
    StopRecipe {
        signal: signal.unwrap_or(standard.signal),
        seconds: seconds.map_or(standard.seconds, |seconds| seconds as u16),
    }
}

fn read_config(mut table: TomlTable) -> Option<ConfigRecipe> {
    table.describe("Config", "A configuration file.");
    let file = table.required("file", "Its name in the work directory.", path_below());
    let text = table.required("text", "Its text, with placeholders.", template());
    table.finish();
    Some(ConfigRecipe { file: file?, text: text? })
}

fn read_files(mut table: TomlTable) -> BTreeMap<String, String> {
    let name_of = |name: &str| check_path_below(name).map(|()| name.to_owned());
    table.named_by(name_of, &template()).into_iter().collect()
}

fn read_status(mut table: TomlTable) -> Option<StatusRecipe> {
    let about = "The place where a server says how busy it is, on the port that it serves: a status page, read over \
                 plain HTTP only, or the operation `STATS` of application servers and of those of order-entry data.";
    table.describe("Status", about);
    let kind = table.required("kind", "The form.", choice());
    let path = match kind {
        Some(StatusKind::AppStats | StatusKind::OrderStats) => Some(None),
        _ => {
            table.report_missing("path");
            table.optional("path", "The path of a page, including a query.", request_path()).map(Some)
        }
    };
    let about = "The maximum number of connections of one worker, if the page does not state it: a number or a \
                 placeholder.";
    let connections_per_worker = table.optional("connections-per-worker", about, template());
    table.finish();
    Some(StatusRecipe { kind: kind?, path: path?, connections_per_worker })
}

fn read_profiles(mut table: TomlTable, family: Option<Family>) -> BTreeMap<String, ProfileRecipe> {
    let mut profiles = BTreeMap::new();
    for (name, table) in table.named_tables() {
        if name == BENCHMARK_PROFILE {
            let error = ValueError::new("this profile is defined by `[config]` and `[settings]`");
            table.reject_all(error.hint("give this one another name"));
        }
        profiles.extend(read_profile(table, family).map(|profile| (name.to_owned(), profile)));
    }
    profiles
}

fn read_profile(mut table: TomlTable, family: Option<Family>) -> Option<ProfileRecipe> {
    table.describe("Profile", "Another configuration of the same server.");
    let text = table.required("text", "Text that replaces that of `[config]`.", template());
    let settings = read_settings(&mut table, "Settings that replace `[settings]`.");
    let about = "The status page that replaces `[status]`; without it this profile has none.";
    let status = table.optional_table("status", about).and_then(read_status);
    let variants = table.optional_table("variants", "Values of `{variant}` in this profile, if different.");
    let variants = variants.map(|table| read_variants(table, family)).unwrap_or_default();
    refuse_transports(&mut table);
    table.finish();
    Some(ProfileRecipe { text: text?, settings, status, variants })
}

/// Reads the variants of a server or of one of its profiles; those of a web server are the ones of web benchmarks.
fn read_variants(mut table: TomlTable, family: Option<Family>) -> BTreeMap<String, String> {
    let known: Vec<&str> = WebVariant::ALL.into_iter().map(WebVariant::name).collect();
    let name_of = |name: &str| {
        if family == Some(Family::Web) && !known.contains(&name) {
            let error = ValueError::new("web benchmarks ask for no such variant");
            return Err(error.hint(format!("those of web servers are `{}`", known.join("`, `"))));
        }
        Ok(name.to_owned())
    };
    table.named_by(name_of, &template()).into_iter().collect()
}

/// Reads the variants of a server: a web server that has any has HTTP/1 without encryption, too.
fn read_own_variants(table: TomlTable, family: Option<Family>) -> BTreeMap<String, String> {
    let plain = WebVariant::Http1.name();
    if family == Some(Family::Web) && !table.is_empty() && table.value(plain).is_none() {
        table.reject_all(ValueError::new(format!("expected `{plain}` beside the other variants")));
    }
    read_variants(table, family)
}

/// Refuses the table that variants have replaced.
fn refuse_transports(table: &mut TomlTable) {
    let hint = "write `variants` for `transports`, in it `h1`, `tls` and `h2` for `plain`, `tls` and `tls-http2`, and \
                `{variant}` for `{listen}`";
    table.refuse("transports", ValueError::new("recipes have variants instead of transports").hint(hint));
}

fn read_gateways(mut table: TomlTable, companions: &[String]) -> BTreeMap<GatewayKind, GatewayRecipe> {
    let mut read = |((name, kind), about): (&(&'static str, GatewayKind), &&[&str])| {
        let inner = table.optional_table(name, about.concat().trim())?;
        Some((*kind, read_gateway(inner, companions)))
    };
    let gateways = GatewayKind::NAMES.iter().zip(GatewayKind::ABOUTS).filter_map(&mut read).collect();
    table.finish();
    gateways
}

fn read_gateway(mut table: TomlTable, companions: &[String]) -> GatewayRecipe {
    table.describe("Gateway", "The setup of a server for one kind of gateway.");
    let about = "The value of `{gateway}` in the server's configuration.";
    let config = table.optional("config", about, template());
    let about =
        "The value of `{upstream}` there: for servers that declare upstream servers in a separate place.";
    let upstream = table.optional("upstream", about, template());
    let about = "Programs that run beside the server: names from `[companions]`, or of built-in companions.";
    let companions = table.optional_items("companions", about, companion_name(companions.to_vec()));
    let about = "Files that must be installed besides the programs, such as modules.";
    let needs = table.optional_tables("needs", about);
    let needs = needs.into_iter().flatten().filter_map(read_need).collect();
    let settings =
        read_settings(&mut table, "Settings that the disclosure shows besides those of the server.");
    table.finish();
    GatewayRecipe {
        config: config.unwrap_or_default(),
        upstream: upstream.unwrap_or_default(),
        companions: companions.unwrap_or_default(),
        needs,
        settings,
    }
}

fn read_need(mut table: TomlTable) -> Option<RequiredFile> {
    table.describe("Need", "A file that must be installed.");
    let title = table.required("title", "Its name for people.", text());
    let find = table.required_items("find", "Its possible paths; the first that exists is used.", text());
    table.describe_rule("find", "minItems", 1);
    let install = table.optional("install", "The command that installs it.", text());
    table.finish();
    Some(RequiredFile { title: title?, find: find?, install })
}

fn read_companions(mut table: TomlTable) -> BTreeMap<String, CompanionRecipe> {
    let companion = |(name, table): (&str, TomlTable)| Some((name.to_owned(), read_companion(table)?));
    table.named_tables().into_iter().filter_map(companion).collect()
}

fn read_companion(mut table: TomlTable) -> Option<CompanionRecipe> {
    let about = "A program that runs beside a server, on the same CPUs and under the same quota, and is accounted with it.";
    table.describe("Companion", about);
    let title = table.required("title", "The name for people.", text());
    let about = "Its address when it is ready: the path of a Unix socket, or an address and port.";
    let listens = table.required("listens", about, template());
    let about = "Whether that socket is created for it and passed as its standard input, as FastCGI programs expect; if \
                 absent: `false`.";
    let inherits_socket = table.optional("inherits-socket", about, flag()).unwrap_or_default();
    let program = table.required_table("program", "The program.");
    let program = program.and_then(|table| read_program(table, template()));
    let start = table.required_table("start", "The start command.").and_then(read_start);
    let config = table.optional_table("config", "Its configuration file, if it needs one.");
    let config = config.and_then(read_config);
    table.finish();
    Some(CompanionRecipe {
        title: title?,
        listens: listens?,
        inherits_socket,
        program: program?,
        start: start?,
        config,
    })
}

/// Reads `settings`.
fn read_settings(table: &mut TomlTable, about: &str) -> BTreeMap<String, String> {
    table.optional_table("settings", about).map(read_templates).unwrap_or_default()
}

/// Reads texts with placeholders under names that their writer chose.
fn read_templates(mut table: TomlTable) -> BTreeMap<String, String> {
    table.named(template()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::StopSignal;
    use proptest::prelude::*;
    use testkit::{is_published, keys_named, keys_read, schema_faults};

    const SMALL: &str = r#"
format = 2
family = "web"
name = "mine"
title = "Mine"
ready = "connect"
reset = "none"
[program]
find = ["mine"]
[start]
arguments = ["--port", "{port}"]
"#;

    /// A recipe with every key.
    const EVERY_KEY: &str = include_str!("every_key.toml");

    /// Returns all problems of a recipe after a piece of it was replaced.
    fn problems_of(recipe: &str, piece: &str, replacement: &str) -> Vec<String> {
        assert!(recipe.contains(piece), "{piece}");
        let text = recipe.replacen(piece, replacement, 1);
        let diagnostics = Recipe::parse("mine.toml", &text).expect_err(replacement);
        let describe = |problem: &languages::Diagnostic| {
            let (line, column) = diagnostics.position(problem);
            let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            let written = &text[problem.span.clone()];
            format!("{line}:{column}, `{written}`: {}: {}{hint}", problem.message, problem.label)
        };
        diagnostics.problems.iter().map(describe).collect()
    }

    /// Returns the only problem of the recipe with every key after each replacement.
    fn problems<const N: usize>(slips: [(&str, &str); N]) -> String {
        let problem = |(piece, replacement)| match &problems_of(EVERY_KEY, piece, replacement)[..] {
            [problem] => problem.clone(),
            problems => panic!("{replacement}: {problems:#?}"),
        };
        slips.map(problem).join("\n")
    }

    #[test]
    fn a_small_recipe_has_defaults() {
        let recipe = Recipe::parse("mine.toml", SMALL).unwrap();
        assert_eq!((recipe.stop.signal, recipe.stop.seconds), (StopSignal::Term, 3));
        assert!(recipe.config.is_none() && !recipe.needs_root());
        assert_eq!(recipe.variant_names(), ["h1"]);
        assert_eq!(recipe.family, Some(Family::Web));
        let of_no_benchmark = Recipe::parse("mine.toml", &SMALL.replace("family = \"web\"\n", "")).unwrap();
        assert_eq!(of_no_benchmark.family, None);
    }

    /// Goal: whoever has a recipe with transports is told which lines to change.
    #[test]
    fn transports_are_refused_with_the_lines_to_change() {
        let old =
            format!("{SMALL}[config]\nfile = \"x\"\ntext = \"{{listen}}\"\n[transports]\nplain = \"\"\n");
        insta::assert_snapshot!(Recipe::parse("mine.toml", &old).unwrap_err());
    }

    /// Other families name their variants freely.
    #[test]
    fn variants_of_web_servers_are_those_that_benchmarks_ask_for() {
        let refused = |variants: &str| {
            let text = format!("{SMALL}[variants]\n{variants}\n");
            assert!(
                Recipe::parse("mine.toml", &text.replace("\"web\"", "\"application\"")).is_ok(),
                "{variants}"
            );
            Recipe::parse("mine.toml", &text).unwrap_err().to_string()
        };
        insta::assert_snapshot!([refused("h1 = \"\"\nh3 = \"\""), refused("tls = \"\"")].join("\n"));
    }

    #[test]
    fn keys_that_need_others_say_so() {
        let problems = [
            ("\"connect\"", "\"log\""),
            ("\"connect\"", "\"command\""),
            ("\"none\"", "\"restore\""),
            ("[program]", "[[steps]]\nwhen = \"made\"\nrun = [\"init\"]\n[program]"),
            ("{port}", "{imap_port}"),
        ]
        .map(|(piece, replacement)| problems_of(SMALL, piece, replacement).join("\n"));
        insta::assert_snapshot!(problems.join("\n"));
    }

    #[test]
    fn every_key_is_read() {
        let recipe = Recipe::parse("every.toml", EVERY_KEY).unwrap();
        insta::assert_debug_snapshot!(recipe);
    }

    /// Goal: a description asks for every key, in whatever case it is read.
    #[test]
    fn the_schema_names_the_keys_that_are_read_and_no_others() {
        let of_names = ["/environment", "/files", "/settings", "/variants", "/profiles", "/companions"];
        let mut read = keys_read(&[EVERY_KEY], &of_names);
        // The recipe has all keys of these elsewhere.
        read.insert("/profiles/*/status".to_owned(), read["/status"].clone());
        read.insert("/companions/*/start".to_owned(), read["/start"].clone());
        let mut named = keys_named(recipe_schema());
        let kinds = GatewayKind::ALL.map(|kind| kind.name().to_owned());
        assert_eq!(named["/gateways"], kinds.into());
        // They are all alike.
        named.insert("/gateways".to_owned(), read["/gateways"].clone());
        named.retain(|path, _| !path.starts_with("/gateways/") || path.starts_with("/gateways/cgi"));
        assert_eq!(read, named);
    }

    #[test]
    fn the_schema_refuses_what_the_program_refuses() {
        let schema = recipe_schema();
        let faults = |text: &str| schema_faults(&schema, &toml::from_str::<Value>(text).unwrap());
        let built_in = crate::BUILT_IN_RECIPES.iter().chain(crate::BUILT_IN_ACCELERATORS);
        for (name, text) in built_in.chain(&[("small", SMALL), ("every", EVERY_KEY)]) {
            assert_eq!(faults(text), [""; 0], "{name}");
        }
        for (piece, replacement) in [
            ("format = 2", "format = 1"),
            ("title = \"Every key\"\n", ""),
            ("title = \"Every key\"", "title = \"Every key\"\nflavor = 1"),
            ("title = \"Every key\"", "title = \"Every key\"\ntransports = {}"),
            ("\"order-entry\"", "\"database\""),
            ("\"http-get\"", "\"https-get\""),
            ("\"made\"", "\"make\""),
            ("[\"temp\", \"logs/old\"]", "\"temp\""),
            ("[\"every\", \"/opt/every\"]", "[]"),
            ("file = \"every.conf\"\n", ""),
            ("title = \"A module\"\n", ""),
            ("listens = \"127.0.0.1:{gateway_port}\"\n", ""),
            ("inherits-socket = true", "inherits_socket = true"),
            ("[gateways.cgi]", "[gateways.cig]"),
        ] {
            assert!(EVERY_KEY.contains(piece), "{piece}");
            let text = EVERY_KEY.replacen(piece, replacement, 1);
            assert!(!faults(&text).is_empty(), "{replacement}");
            assert!(Recipe::parse("every.toml", &text).is_err(), "{replacement}");
        }
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        is_published("recipe.schema.json", recipe_schema());
    }

    #[test]
    fn mistyped_keys_are_found_in_every_table() {
        let tables = EVERY_KEY.lines().filter(|line| line.starts_with('['));
        let own_names = [
            "[files]",
            "[settings]",
            "[profiles.default.settings]",
            "[variants]",
            "[profiles.default.variants]",
        ];
        let tables: Vec<&str> = tables.filter(|line| !own_names.contains(line)).collect();
        assert_eq!(tables.len(), 13, "{tables:?}");
        for table in tables {
            let problems = problems_of(EVERY_KEY, &format!("{table}\n"), &format!("{table}\nflavor = 1\n"));
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains("unknown key `flavor` in `"), "{problems:?}");
        }
        insta::assert_snapshot!(problems([
            ("version = [\"-v\"]", "versoin = [\"-v\"]"),
            ("title = \"Every key\"", "title = \"Every key\"\nflavor = 1"),
            ("settings = { \"gateway\" = \"{gateway_workers}\" }", "[gateways.cig]"),
            ("inherits-socket = true", "inherits_socket = true"),
        ]));
    }

    #[test]
    fn missing_keys_are_found() {
        insta::assert_snapshot!(problems([
            ("title = \"Every key\"\n", ""),
            ("find = [\"every\", \"/opt/every\"]\n", ""),
            ("arguments = [\"--port\", \"{port}\", '\\d{root}']\n", ""),
            ("file = \"every.conf\"\n", ""),
            ("text = \"{access_log}\"\n", ""),
            ("title = \"A module\"\n", ""),
            ("listens = \"127.0.0.1:{gateway_port}\"\n", ""),
            ("path = \"/status?auto\"\n", ""),
        ]));
    }

    #[test]
    fn wrong_values_are_refused() {
        insta::assert_snapshot!(problems([
            ("format = 2", "format = 1"),
            ("format = 2", "format = 3"),
            ("format = 2", "format = -1"),
            ("\"order-entry\"", "\"database\""),
            // Plimsoll starts no such servers.
            ("\"order-entry\"", "\"sql\""),
            ("[\"log\"]", "[\"Log\"]"),
            ("[\"log\"]", "[\"gateway\"]"),
            ("\"made\"", "\"make\""),
            ("name = \"every\"", "name = 5"),
            ("\"http-get\"", "\"https-get\""),
            ("\"restart\"", "\"reboot\""),
            ("\"logs/old\"", "\"../old\""),
            ("\"logs/old\"", "\"lock\""),
            ("\"logs/old\"", "\"/etc\""),
            ("\"logs/old\"", "5"),
            ("[\"temp\", \"logs/old\"]", "\"temp\""),
            ("[\"every\", \"/opt/every\"]", "[]"),
            ("[\"-v\"]", "\"-v\""),
            ("\"quit\"", "\"kill\""),
            ("0x10", "70000"),
            ("\"every.conf\"", "\"\""),
            ("\"logs/types\"", "\"/etc/types\""),
            ("access log\" = \"off\"", "access log\" = false"),
            ("\"apache-auto\"", "\"apache\""),
            ("\"/status?auto\"", "\"status\""),
            ("\"/status?auto\"", "\"/a b\""),
            ("[profiles.default]\n", "[profiles.benchmark]\ntext = \"\"\n[profiles.default]\n"),
            ("[\"mine\", \"fcgiwrap\"]", "[\"mine\", \"php-fmp\"]"),
            ("[\"mine\", \"fcgiwrap\"]", "[\"mine\", \"own\"]"),
            ("[[gateways.cgi.needs]]", "[gateways.cgi.needs]"),
            ("inherits-socket = true", "inherits-socket = 1"),
            ("program = {", "program = 5 # {"),
        ]));
    }

    #[test]
    fn mistyped_placeholders_are_shown_at_their_position() {
        insta::assert_snapshot!(problems([
            ("{port}", "{prot}"),
            ("'\\d{root}'", "'\\d{rot}'"),
            ("{work_dir}", "{workdir}"),
            ("{variant}", "{varaint}"),
            ("text {user}", "text {uesr}"),
            ("\"off\"", "\"{flavor}\""),
            ("\"{connections}\"", "\"{connection}\""),
            ("\"{address}\"", "\"{adress}\""),
            ("text = \"{access_log}\"", "text = \"\\\"{acces_log}\\\"\""),
            ("\"{cgi_program}\"", "\"{cgi-program} {cgi_programm}\""),
            ("{gateway_port}", "{gateway_prot}"),
            ("\"{plimsoll}\"", "\"{plimsol}\""),
            ("{gateway_dir}", "{gateway_dri}"),
        ]));
    }

    #[test]
    fn texts_that_are_not_toml_are_explained() {
        insta::assert_snapshot!(problems([
            ("[start]", "[start"),
            ("name = \"every\"", "name = mine"),
            ("name = \"every\"", "name = nginx"),
        ]));
    }

    #[test]
    fn a_companion_of_its_own_is_known_even_if_it_is_not_valid() {
        let problems = problems_of(EVERY_KEY, "title = \"Mine\"\n", "");
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("`companions.mine.title` is missing"), "{problems:?}");
    }

    proptest! {
        /// A piece of a valid recipe is overwritten.
        #[test]
        fn any_slip_in_a_recipe_is_answered(at: u16, length in 0usize..12, slip in "\\PC{0,12}") {
            let mut text = EVERY_KEY.to_owned();
            let at = usize::from(at) % text.len();
            text.replace_range(at..(at + length).min(text.len()), &slip);
            if let Err(diagnostics) = Recipe::parse("any.toml", &text) {
                prop_assert!(!diagnostics.problems.is_empty());
                prop_assert!(!diagnostics.to_string().is_empty());
            }
        }
    }
    #[test]
    fn all_mistakes_are_shown_at_once() {
        let text = SMALL.replace("title", "titel").replace("none", "restrat").replace("{port}", "{prot}");
        insta::assert_snapshot!(Recipe::parse("mine.toml", &text).unwrap_err());
    }
}
