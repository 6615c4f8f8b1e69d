//! What an operation costs of each resource, and the rate that this allows.

use analysis::LoadPointResult;
use analysis::attribute::{Attribution, DemandUnit, ResourceDemand};

use super::attributed;
use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, Text, numbers};

pub fn section(report: &Report) -> Option<Section> {
    let resources = resources(report);
    if resources.is_empty() {
        return None;
    }
    let text = "An operation needs so much of each resource; a resource that can give C per second therefore allows no \
                more than C ÷ demand operations per second, and the least of these is the bound. N* is the number of \
                users from which that bound, and not their own pace, limits the rate: (Z + ΣD) ÷ D of the scarcest \
                resource. Far below the bound, something else is waited for.";
    let blocks = vec![Block::Paragraph(Text::from(text)), Block::Table(table(report, &resources))];
    Some(Section { id: "service-demand", title: "Service demand".into(), blocks })
}

/// Returns the resources that any load point used, in the order of the first one that has them.
fn resources(report: &Report) -> Vec<(String, DemandUnit)> {
    let mut names: Vec<(String, DemandUnit)> = Vec::new();
    for demand in attributed(report).flat_map(|(_, attribution)| &attribution.demands) {
        if names.iter().all(|(name, _)| *name != demand.resource) {
            names.push((demand.resource.clone(), demand.unit));
        }
    }
    names
}

fn table(report: &Report, resources: &[(String, DemandUnit)]) -> Table {
    let mut columns = vec![Column::numbers(report.terms().load, "")];
    columns.extend(resources.iter().map(|(name, unit)| Column::numbers(name.clone(), unit_text(*unit))));
    columns.extend([Column::numbers("Bound", "/s"), Column::numbers("N*", "")]);
    let row = |(point, attribution): (&LoadPointResult, &Attribution)| {
        let of = |name: &String| attribution.demands.iter().find(|demand| demand.resource == *name);
        let mut cells = vec![load_number(point.load)];
        cells.extend(resources.iter().map(|(name, _)| demand_text(of(name))));
        cells.push(numbers::figure(attribution.bounds.rate_max));
        cells.push(numbers::figure(attribution.bounds.users));
        Row::plain(cells)
    };
    Table::new("Service demand per operation, and bounds", columns, attributed(report).map(row).collect()).note(
        "Source of the bounds: asymptotic bounds of operational analysis, Denning and Buzen 1978. The bound of the CPU is \
         what the server is allowed of it; of a disk its time; of a network interface its speed.",
    )
}

fn unit_text(unit: DemandUnit) -> &'static str {
    match unit {
        DemandUnit::Seconds => "µs",
        DemandUnit::Requests => "requests",
        DemandUnit::Bytes => "B",
    }
}

fn demand_text(demand: Option<&ResourceDemand>) -> String {
    let value = demand.map(|demand| match demand.unit {
        DemandUnit::Seconds => demand.per_operation * 1e6,
        DemandUnit::Requests | DemandUnit::Bytes => demand.per_operation,
    });
    numbers::figure(value)
}
