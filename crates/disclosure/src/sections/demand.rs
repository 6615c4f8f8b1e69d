//! Service demand of an operation at each resource, and the bounds that follow.

use analysis::LoadPointResult;
use analysis::attribute::{Attribution, DemandUnit, ResourceDemand};

use super::attributed;
use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, Text, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let resources = resources(report);
    if resources.is_empty() {
        return None;
    }
    let text = "The service demand D is what one operation uses of a resource. A resource with capacity C per second allows \
                at most C ÷ D operations per second; the smallest of these values is the bound. From N* users on, that \
                bound limits the rate rather than the users themselves: N* = (Z + ΣD) ÷ D of the scarcest resource. If \
                the rate stays far below the bound, operations wait for something that is not in this table. Bounds are \
                extrapolated from the demand at that load; one of more than five times its rate is left out.";
    let blocks = vec![Block::Paragraph(Text::from(text)), Block::Table(table(report, &resources))];
    Some(Section { id: "service-demand", title: "Service demand".into(), blocks })
}

/// Returns the resources of all load points, in the order of their first appearance.
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
    let mut columns = vec![Column::numbers(report.terms().load(), "")];
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
        "Bounds: asymptotic bounds of operational analysis, Denning and Buzen 1978. The capacity of the CPU is the CPU time \
         available to the server, or the CPUs on which it may run; of a disk that nobody else uses, its time; of a network \
         interface, its speed. A resource whose capacity is not known has no bound, nor have the CPUs where the server has \
         one writer at a time.",
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
