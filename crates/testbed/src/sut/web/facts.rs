//! The disclosure about a web server: its transport, file set, accelerator and gateway.

use model::{Fact, FactSection};
use units::Bytes;

use super::reverse_proxy::ReverseProxy;
use crate::sut::facts::{RECIPE, SET, configuration, environment, fact, software};
use crate::sut::running::RunningSut;

/// Returns the address of a web server as a URL, without an accelerator in front of it.
pub(in crate::sut) fn address(sut: &RunningSut) -> String {
    format!("{}://{}/", sut.choice.web_variant().scheme(), sut.server_addr())
}

/// Describes the transport of requests to the server itself.
pub(in crate::sut) fn transport(sut: &RunningSut) -> Fact {
    fact("transport", sut.choice.web_variant().title(), SET)
}

/// Describes the file set; nothing of a server that is given none.
pub(in crate::sut) fn file_set(sut: &RunningSut) -> Vec<Fact> {
    let Some(populated) = &sut.web.populated else { return Vec::new() };
    let size = format!("{} files, {} bytes ({})", populated.files, populated.bytes, Bytes(populated.bytes));
    vec![fact("file set", &size, SET), fact("file set in", &populated.directory.to_string_lossy(), SET)]
}

/// Returns the sections about the accelerator and the gateway; none of a server without them.
pub(in crate::sut) fn sections(sut: &RunningSut) -> Vec<FactSection> {
    let accelerator = sut.web.proxy.iter().flat_map(|proxy| accelerator(proxy, &sut.url()));
    accelerator.chain(gateway(sut)).collect()
}

/// Returns the values that this run has chosen, beside those of the server.
pub(in crate::sut) fn run_values(sut: &RunningSut) -> Option<Fact> {
    let proxy = sut.web.proxy.as_ref()?;
    Some(fact("accelerator_port", &proxy.values.port.to_string(), SET))
}

/// Returns the section about the gateway.
fn gateway(sut: &RunningSut) -> Option<FactSection> {
    let asked = sut.choice.web.asked()?;
    let mut facts = vec![
        fact("kind", asked.kind.name(), SET),
        fact("workers asked for", &asked.workers.to_string(), SET),
    ];
    for (companion, _) in &sut.companions {
        facts.push(fact("program", &companion.title, RECIPE));
        facts.extend(software(companion));
        facts.push(fact("command line", &companion.launch.command_line(), RECIPE));
        facts.extend(environment(companion));
    }
    Some(FactSection { title: "Gateway".into(), facts })
}

/// Returns the sections about the accelerator; CPUs and limits apply to both together.
fn accelerator(proxy: &ReverseProxy, url: &str) -> Vec<FactSection> {
    let mut facts = vec![fact("accelerator", &proxy.recipe.title, RECIPE)];
    facts.extend(software(&proxy.process));
    facts.extend([
        fact("command line", &proxy.process.launch.command_line(), RECIPE),
        fact("address", url, SET),
        fact("transport", proxy.variant().title(), SET),
        fact("processors and limits", "those of the server: both share them", SET),
        fact("between load points", "keeps running, with its cache", SET),
    ]);
    if let Some(origin) = proxy.values.web.origin {
        let memory = format!("{} bytes ({})", origin.cache_bytes, Bytes(origin.cache_bytes));
        let placement = if origin.address.ip() == proxy.address().ip() {
            "in front of the server, at the same address"
        } else {
            "in front of the server, which has a secondary address"
        };
        facts.push(fact("placement", placement, SET));
        facts.push(fact("server behind it", &format!("http://{}/", origin.address), SET));
        facts.push(fact("memory for copies", &memory, SET));
    }
    facts.push(fact("before the first load point", &warmed(proxy), SET));
    facts.extend(environment(&proxy.process));
    let settings = proxy.choice.settings.iter();
    facts.extend(settings.map(|(name, value)| fact(name, &proxy.values.fill(value), RECIPE)));
    let section = FactSection { title: "Accelerator".into(), facts };
    [Some(section), configuration(&proxy.process, "Accelerator configuration")]
        .into_iter()
        .flatten()
        .collect()
}

fn warmed(proxy: &ReverseProxy) -> String {
    match proxy.n_warmed {
        0 => "no files requested".to_owned(),
        n => format!("each of {n} files requested once"),
    }
}
