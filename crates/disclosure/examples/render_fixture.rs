//! Writes the reports of the fixtures into a folder, to look at them: `render_fixture DIR`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::path::Path;

use disclosure::{CampaignRun, campaign_document, outline, render};

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    let runs = [
        ("quick", fixture::quick()),
        ("valid", fixture::valid()),
        ("incomplete", fixture::incomplete()),
        ("open-loop", fixture::open_loop()),
        ("full", fixture::full()),
        ("stages", fixture::stages()),
        ("stages-of-users", fixture::stages_of_users()),
    ];
    for (name, run) in runs {
        let document = outline(&run.report());
        std::fs::write(folder.join(format!("{name}.html")), render::html(&document))?;
        std::fs::write(folder.join(format!("{name}.md")), render::markdown(&document))?;
        std::fs::write(folder.join(format!("{name}.csv")), render::csv(&run.report()))?;
        std::fs::write(folder.join(format!("{name}.json")), render::json(&run.report()).to_string())?;
    }
    let servers = [("nginx", fixture::valid()), ("apache", fixture::full()), ("caddy", fixture::open_loop())];
    let campaign: Vec<CampaignRun> = servers
        .iter()
        .map(|(name, run)| CampaignRun { name, server: name, began: &[], report: run.report() })
        .collect();
    let document = campaign_document(&campaign);
    std::fs::write(folder.join("campaign.html"), render::html(&document))?;
    std::fs::write(folder.join("campaign.md"), render::markdown(&document))
}
