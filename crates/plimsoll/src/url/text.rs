//! A definition of URLs as TOML, which `--save-definition` writes. It says what [`DefinitionDraft::benchmark`] makes,
//! which a test holds together.

use std::fmt::Write;

use languages::{load_text, time_text};
use model::{BenchmarkId, LoadUnit, ShapeDefinition, Stage, limits_text};

use super::draft::{DefinitionDraft, DraftRequest, TypedSetting};
use super::survey::ReplyCheck;
use super::value::quoted;

impl DefinitionDraft<'_> {
    /// Returns the definition with the checks of the pages.
    pub(super) fn text(&self, checks: &[ReplyCheck]) -> String {
        let mut text = self.head();
        for (index, (request, check)) in self.requests.iter().zip(checks).enumerate() {
            text += &self.request_text(index, request, check);
        }
        text + &self.pages_text() + &self.protocol_text() + &self.load_text() + &self.phases_text()
    }

    fn head(&self) -> String {
        let title = quoted(&self.title());
        let target = quoted(&self.target.to_string());
        format!(
            "# Made from {}. `plimsoll run FILE` runs it; docs/definitions.md explains every key.\n\
            format = 1\nid = \"{}\"\nversion = 1\ntitle = {title}\nsummary = {}\nfamily = \"web\"\n\
            headline = \"request-rate\"\ntarget = {target}\n",
            if self.order.is_empty() { "URLs" } else { "command lines of cURL" },
            BenchmarkId::URLS,
            quoted(self.summary())
        )
    }

    fn request_text(&self, index: usize, request: &DraftRequest, check: &ReplyCheck) -> String {
        let DraftRequest { page, parts, weight } = request;
        let mut lines =
            vec!["\n[[workload.requests]]".to_owned(), format!("name = {}", quoted(&self.name(index)))];
        lines.extend(self.order.is_empty().then(|| format!("weight = {weight}")));
        if parts.method != "GET" {
            lines.push(format!("method = {}", quoted(&parts.method)));
        }
        lines.push(format!("path = {}", quoted(&page.path)));
        lines.extend(page.values.iter().map(|(name, value)| format!("parameters.{name} = {}", value.toml())));
        lines.extend(parts.body.as_ref().map(|body| format!("body = {}", body.toml(self.folder))));
        lines.extend((check.status != 200).then(|| format!("status = {}", check.status)));
        lines.push(format!("reply = {:<6} # {}", check.reply.toml(), check.reason));
        let headers =
            parts.headers.iter().map(|(name, value)| format!("{} = {}", quoted(name), value.toml()));
        let headers: Vec<String> = headers.collect();
        if !headers.is_empty() {
            lines.push(format!("headers = {{ {} }}", headers.join(", ")));
        }
        lines.join("\n") + "\n"
    }

    /// Returns the page of requests that are made in an order.
    fn pages_text(&self) -> String {
        if self.order.is_empty() {
            return String::new();
        }
        let names: Vec<String> = self.order.iter().map(|index| quoted(&self.name(*index))).collect();
        format!("\n[[workload.pages]]\nweight = 1\nrequests = [{}]\n", names.join(", "))
    }

    fn protocol_text(&self) -> String {
        let line = |TypedSetting { name, value }: TypedSetting| match name {
            "streams" => format!("{name} = {value}\n"),
            _ => format!("{name} = {}\n", quoted(&value)),
        };
        format!("\n[protocol]\n{}", self.settings().into_iter().map(line).collect::<String>())
    }

    fn load_text(&self) -> String {
        let load = self.load();
        let levels = quoted(&load_text(load.levels.list(None, load.unit)));
        let mut text = match (self.shape(), load.unit) {
            (Some(shape), _) => self.shape_text(&shape),
            (None, LoadUnit::Users) => format!("\n[load]\nusers = {levels}\n"),
            (None, LoadUnit::Rate) => format!("\n[load]\nrate = {levels}\n"),
        };
        let course = self.course;
        if course.arrivals.is_some() || course.in_flight_max.is_some() {
            text += "\n[open-loop]\n";
            if let Some(arrivals) = course.arrivals {
                let _ = writeln!(text, "arrivals = {}", quoted(arrivals.name()));
            }
            if let Some(most) = course.in_flight_max {
                let _ = writeln!(text, "in-flight-max = {most}");
            }
        }
        text
    }

    fn shape_text(&self, shape: &ShapeDefinition) -> String {
        let unit = shape.stages.unit();
        let stage = |stage: &Stage| format!("    {},\n", quoted(&stage.text(unit)));
        let stages: String = shape.stages.stages().iter().map(stage).collect();
        let mut text = format!("\n[shape]\nstages = [\n{stages}]\n");
        if !shape.until.is_empty() {
            let _ = writeln!(text, "until = {}", quoted(&limits_text(&shape.until)));
        }
        let _ = writeln!(text, "drain = {}", quoted(&time_text(self.phases().drain)));
        text
    }

    fn phases_text(&self) -> String {
        if self.shape().is_some() {
            return String::new();
        }
        let phases = self.phases();
        let lengths = [
            ("ramp-up", phases.ramp_up),
            ("settle", phases.settle),
            ("steady", phases.steady),
            ("ramp-down", phases.ramp_down),
            ("drain", phases.drain),
        ];
        let line = |(key, length)| format!("{key} = {}\n", quoted(&time_text(length)));
        format!("\n[phases]\n{}", lengths.map(line).concat())
    }
}
