//! The parser of recipes: a recipe, or everything that is wrong with its text.

use std::collections::BTreeMap;

use languages::reader::{TomlTable, ValueError, choice, flag, list, read_toml, text, whole_u32};
use languages::{Diagnostics, Named};
use model::GatewayKind;
use observe::StatusKind;
use toml::de::DeValue;

use super::companion::built_in_names;
use super::gateway::Need;
use super::placeholder::port_placeholder;
use super::value::{check_path_below, companion_name, format, path_below, port_name, request_path, template};
use super::{
    BENCHMARK_PROFILE, CompanionRecipe, ConfigRecipe, DataRecipe, GatewayRecipe, ProfileRecipe,
    ProgramRecipe, Ready, Recipe, Reset, ServerFamily, StartRecipe, StatusRecipe, StepRecipe, StepTime,
    StopRecipe, WebVariant,
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

/// Every key is read before the first `?`, so that all mistakes are found; `None` means that one was reported.
fn read_recipe(mut top: TomlTable) -> Option<Recipe> {
    let format = top.required_undescribed("format", format(FORMAT));
    let family = top.required_undescribed("family", choice);
    let name = top.required_undescribed("name", text);
    let title = top.required_undescribed("title", text);
    let ready = top.required_undescribed("ready", choice);
    let ready_log = top.optional_undescribed("ready-log", text);
    let ready_command = top.optional_items_undescribed("ready-command", template).unwrap_or_default();
    let reset = top.required_undescribed("reset", choice);
    let alone = top.optional_undescribed("alone", flag).unwrap_or_default();
    let ports = top.optional_items_undescribed("ports", port_name).unwrap_or_default();
    let needs_root = top.optional_undescribed("needs-root", text);
    let data = top.optional_table_undescribed("data").and_then(read_data);
    let steps: Vec<StepRecipe> =
        top.optional_tables_undescribed("steps").into_iter().flatten().filter_map(read_step).collect();
    let directories = top.optional_items_undescribed("directories", path_below);
    let program = top.required_table_undescribed("program").and_then(|table| read_program(table, text));
    let start = top.required_table_undescribed("start").and_then(read_start);
    let stop = top.optional_table_undescribed("stop").map(read_stop);
    let config = top.optional_table_undescribed("config").and_then(read_config);
    let files = top.optional_table_undescribed("files").map(read_files);
    let settings = read_templates(&mut top, "settings");
    let status = top.optional_table_undescribed("status").and_then(read_status);
    let profiles = top.optional_table_undescribed("profiles").map(|table| read_profiles(table, family));
    let variants = top.optional_table_undescribed("variants").map(|table| read_own_variants(table, family));
    refuse_transports(&mut top);
    let companions = top.optional_table_undescribed("companions");
    let own_names = companions.iter().flat_map(TomlTable::keys);
    let known: Vec<&str> = own_names.chain(built_in_names()).collect();
    let companions = companions.map(read_companions);
    let beside = top.optional_items_undescribed("beside", companion_name(&known)).unwrap_or_default();
    let gateways = top.optional_table_undescribed("gateways").map(|table| read_gateways(table, &known));
    check_readiness(&top, ready, ready_log.is_some(), !ready_command.is_empty());
    check_data(&top, reset, data.is_some(), &steps);
    if alone && reset == Some(Reset::None) {
        let error = ValueError::new("it is stopped between turns, but the recipe keeps it running");
        top.reject("alone", error.hint("write `reset = \"restart\"`"));
    }
    top.report_unknown();
    let recipe = Recipe {
        format: format?,
        family: family?,
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

/// Reads a program; `candidate` reads its names and paths.
fn read_program(
    mut table: TomlTable,
    candidate: impl Fn(&DeValue) -> Result<String, ValueError>,
) -> Option<ProgramRecipe> {
    let find = table.required_undescribed("find", list(candidate));
    let install = table.optional_undescribed("install", text);
    let version = table.optional_items_undescribed("version", text).unwrap_or_default();
    table.finish();
    Some(ProgramRecipe { find: find?, install, version })
}

fn read_start(mut table: TomlTable) -> Option<StartRecipe> {
    let program = table.optional_undescribed("program", template);
    let arguments = table.required_items_undescribed("arguments", template);
    let environment = read_templates(&mut table, "environment");
    let account = table.optional_undescribed("account", text);
    let own_session = table.optional_undescribed("own-session", flag).unwrap_or_default();
    table.finish();
    Some(StartRecipe { program, arguments: arguments?, environment, account, own_session })
}

fn read_data(mut table: TomlTable) -> Option<DataRecipe> {
    let directory = table.required_undescribed("directory", path_below);
    table.finish();
    Some(DataRecipe { directory: directory? })
}

fn read_step(mut table: TomlTable) -> Option<StepRecipe> {
    let when = table.required_undescribed("when", choice);
    let run = table.required_undescribed("run", list(template));
    let input = table.optional_undescribed("input", template).unwrap_or_default();
    table.finish();
    Some(StepRecipe { when: when?, run: run?, input })
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
    let standard = StopRecipe::default();
    let signal = table.optional_undescribed("signal", choice).unwrap_or(standard.signal);
    let seconds = table.optional_undescribed("seconds", whole_u32(0..=u32::from(u16::MAX)));
    table.finish();
    StopRecipe { signal, seconds: seconds.map_or(standard.seconds, |seconds| seconds as u16) }
}

fn read_config(mut table: TomlTable) -> Option<ConfigRecipe> {
    let file = table.required_undescribed("file", path_below);
    let text = table.required_undescribed("text", template);
    table.finish();
    Some(ConfigRecipe { file: file?, text: text? })
}

fn read_files(mut table: TomlTable) -> BTreeMap<String, String> {
    let file = |name: &str, value: &DeValue| check_path_below(name).and_then(|()| template(value));
    table.named_undescribed(file).into_iter().collect()
}

fn read_status(mut table: TomlTable) -> Option<StatusRecipe> {
    let kind = table.required_undescribed("kind", choice);
    let path = match kind {
        Some(StatusKind::AppStats | StatusKind::OrderStats) => Some(None),
        _ => table.required_undescribed("path", request_path).map(Some),
    };
    let connections_per_worker = table.optional_undescribed("connections-per-worker", template);
    table.finish();
    Some(StatusRecipe { kind: kind?, path: path?, connections_per_worker })
}

fn read_profiles(mut table: TomlTable, family: Option<ServerFamily>) -> BTreeMap<String, ProfileRecipe> {
    let mut profiles = BTreeMap::new();
    for (name, table) in table.named_tables_undescribed() {
        if name == BENCHMARK_PROFILE {
            let error = ValueError::new("this profile is defined by `[config]` and `[settings]`");
            table.reject_all(error.hint("give this one another name"));
        }
        profiles.extend(read_profile(table, family).map(|profile| (name.to_owned(), profile)));
    }
    profiles
}

fn read_profile(mut table: TomlTable, family: Option<ServerFamily>) -> Option<ProfileRecipe> {
    let text = table.required_undescribed("text", template);
    let settings = read_templates(&mut table, "settings");
    let status = table.optional_table_undescribed("status").and_then(read_status);
    let variants =
        table.optional_table_undescribed("variants").map(|table| read_variants(table, family)).unwrap_or_default();
    refuse_transports(&mut table);
    table.finish();
    Some(ProfileRecipe { text: text?, settings, status, variants })
}

/// Reads the variants of a server or of one of its profiles; those of a web server are the ones of web benchmarks.
fn read_variants(mut table: TomlTable, family: Option<ServerFamily>) -> BTreeMap<String, String> {
    let known: Vec<&str> = WebVariant::ALL.into_iter().map(WebVariant::name).collect();
    let variant = |name: &str, value: &DeValue| match family {
        Some(ServerFamily::Web) if !known.contains(&name) => {
            let error = ValueError::new("web benchmarks ask for no such variant");
            Err(error.hint(format!("those of web servers are `{}`", known.join("`, `"))))
        }
        _ => template(value),
    };
    table.named_undescribed(variant).into_iter().collect()
}

/// Reads the variants of a server: a web server that has any has HTTP/1 without encryption, too.
fn read_own_variants(table: TomlTable, family: Option<ServerFamily>) -> BTreeMap<String, String> {
    let plain = WebVariant::Http1.name();
    if family == Some(ServerFamily::Web) && !table.is_empty() && table.value(plain).is_none() {
        table.reject_all(ValueError::new(format!("expected `{plain}` beside the other variants")));
    }
    read_variants(table, family)
}

/// Refuses the table that variants have replaced.
fn refuse_transports(table: &mut TomlTable) {
    if table.optional_table_undescribed("transports").is_some() {
        let error = ValueError::new("recipes have variants instead of transports");
        table.reject(
            "transports",
            error.hint(
                "write `variants` for `transports`, in it `h1`, `tls` and `h2` for `plain`, `tls` and `tls-http2`, and \
                 `{variant}` for `{listen}`",
            ),
        );
    }
}

fn read_gateways(mut table: TomlTable, companions: &[&str]) -> BTreeMap<GatewayKind, GatewayRecipe> {
    let read = |(name, kind): &(&'static str, GatewayKind)| {
        Some((*kind, read_gateway(table.optional_table_undescribed(name)?, companions)))
    };
    let gateways = GatewayKind::NAMES.iter().filter_map(read).collect();
    table.finish();
    gateways
}

fn read_gateway(mut table: TomlTable, companions: &[&str]) -> GatewayRecipe {
    let config = table.optional_undescribed("config", template).unwrap_or_default();
    let upstream = table.optional_undescribed("upstream", template).unwrap_or_default();
    let companions = table.optional_items_undescribed("companions", companion_name(companions)).unwrap_or_default();
    let needs = table.optional_tables_undescribed("needs").into_iter().flatten().filter_map(read_need).collect();
    let settings = read_templates(&mut table, "settings");
    table.finish();
    GatewayRecipe { config, upstream, companions, needs, settings }
}

fn read_need(mut table: TomlTable) -> Option<Need> {
    let title = table.required_undescribed("title", text);
    let find = table.required_items_undescribed("find", text);
    let install = table.optional_undescribed("install", text);
    table.finish();
    Some(Need { title: title?, find: find?, install })
}

fn read_companions(mut table: TomlTable) -> BTreeMap<String, CompanionRecipe> {
    let companion = |(name, table): (&str, TomlTable)| Some((name.to_owned(), read_companion(table)?));
    table.named_tables_undescribed().into_iter().filter_map(companion).collect()
}

fn read_companion(mut table: TomlTable) -> Option<CompanionRecipe> {
    let title = table.required_undescribed("title", text);
    let listens = table.required_undescribed("listens", template);
    let inherits_socket = table.optional_undescribed("inherits-socket", flag).unwrap_or_default();
    let program = table.required_table_undescribed("program").and_then(|table| read_program(table, template));
    let start = table.required_table_undescribed("start").and_then(read_start);
    let config = table.optional_table_undescribed("config").and_then(read_config);
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

/// Reads texts with placeholders under names that their writer chose.
fn read_templates(table: &mut TomlTable, key: &'static str) -> BTreeMap<String, String> {
    let texts = table.optional_table_undescribed(key).map(|mut inner| inner.named_undescribed(|_, value| template(value)));
    texts.unwrap_or_default().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::StopSignal;
    use proptest::prelude::*;

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
            assert!(Recipe::parse("mine.toml", &text.replace("\"web\"", "\"file\"")).is_ok(), "{variants}");
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
            ("[\"log\"]", "[\"Log\"]"),
            ("[\"log\"]", "[\"gateway\"]"),
            ("\"made\"", "\"make\""),
            ("name = \"every\"", "name = 5"),
            ("\"http-get\"", "\"https-get\""),
            ("\"restart\"", "\"reboot\""),
            ("\"restart\"", "\"none\""),
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
