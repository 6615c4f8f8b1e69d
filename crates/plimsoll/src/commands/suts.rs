//! `suts`: lists the servers and accelerators that recipes can start, and how to install missing ones. Recipes of families
//! that no benchmark loads are left out.

use model::Family;
use serde_json::json;
use testbed::{GatewayListing, SutListing};

use super::{print, print_json};
use crate::exit::{Exit, Failure};
use crate::paths;

/// Lists the servers, then the accelerators.
pub(super) fn perform(as_json: bool) -> Result<Exit, Failure> {
    let search_path = paths::search_path();
    let program = std::env::current_exe()?;
    let mut suts = testbed::suts(&search_path, &program);
    suts.retain(|sut| sut.family.is_some());
    let accelerators = testbed::accelerators(&search_path, &program);
    if as_json {
        let values = |list: &[SutListing]| list.iter().map(value).collect::<Vec<_>>();
        print_json(&json!({ "format": 1, "suts": values(&suts), "accelerators": values(&accelerators) }))?;
        return Ok(Exit::Valid);
    }
    for sut in &suts {
        print(&text(sut))?;
    }
    print("\naccelerators, for use in front of a server with `run --accelerator`:")?;
    for accelerator in &accelerators {
        print(&text(accelerator))?;
    }
    Ok(Exit::Valid)
}

fn value(sut: &SutListing) -> serde_json::Value {
    let gateway = |gateway: &GatewayListing| {
        let missing = gateway.missing.iter();
        json!({
            "kind": gateway.kind.name(),
            "missing": missing.map(|one| json!({ "title": one.title, "install": one.install })).collect::<Vec<_>>(),
        })
    };
    json!({
        "name": sut.name,
        "title": sut.title,
        "family": sut.family.map(Family::name),
        "program": sut.installed.as_ref().map(|installed| &installed.program),
        "version": sut.installed.as_ref().map(|installed| &installed.version),
        "install": sut.install,
        "profiles": sut.profiles,
        "variants": sut.variants,
        "gateways": sut.gateways.iter().map(gateway).collect::<Vec<_>>(),
    })
}

/// Formats a server: the first line says whether it is installed.
fn text(sut: &SutListing) -> String {
    let state = match (&sut.installed, &sut.install) {
        (Some(installed), _) => {
            installed.version.clone().unwrap_or_else(|| installed.program.display().to_string())
        }
        (None, Some(install)) => format!("not installed: `{install}`"),
        (None, None) => "not installed".to_owned(),
    };
    let mut lines = vec![format!("{:<16} {state}", sut.name)];
    let mut add = |name: &str, list: Vec<String>| {
        if !list.is_empty() {
            lines.push(format!("{:16} {name:<11} {}", "", list.join(", ")));
        }
    };
    let family = sut.family.filter(|family| *family != Family::Web);
    add("family", family.map(|family| family.name().to_owned()).into_iter().collect());
    add("profiles", sut.profiles.clone());
    add("variants", sut.variants.clone());
    let (ready, not_ready): (Vec<_>, Vec<_>) =
        sut.gateways.iter().partition(|gateway| gateway.missing.is_empty());
    add("gateways", ready.iter().map(|gateway| gateway.kind.name().to_owned()).collect());
    add("not ready", not_ready.iter().map(|gateway| missing_text(gateway)).collect());
    lines.join("\n")
}

fn missing_text(gateway: &GatewayListing) -> String {
    let needs = gateway.missing.iter().map(|missing| match &missing.install {
        Some(install) => format!("{} (`{install}`)", missing.title),
        None => missing.title.clone(),
    });
    format!("{} needs {}", gateway.kind.name(), needs.collect::<Vec<_>>().join(" and "))
}
