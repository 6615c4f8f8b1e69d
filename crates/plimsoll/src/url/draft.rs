//! The definition that URLs and flags stand for, as text.

use std::fmt::Write;
use std::path::Path;

use drivers::web::Target;
use languages::{load_text, time_text};
use model::{BenchmarkId, Overrides, SettingKind};
use units::Nanos;

use super::page::PageUrl;
use super::request::RequestParts;
use super::survey::ReplyCheck;
use super::value::quoted;
use crate::arguments::ProtocolArguments;

/// Numbers of users of a run that names none: from idle to more than most servers need, in a minute. The run adds up to two
/// between them, where the rate stops growing.
const USERS: &str = "1,10,50,100";

/// Lengths of the phases of a load point: with `USERS` less than a minute, with two more loads 12 s beyond
/// it, and long enough for intervals.
const RAMP_UP: Nanos = Nanos::from_secs(1);
const SETTLE: Nanos = Nanos::from_secs(1);
const STEADY: Nanos = Nanos::from_secs(10);

/// The longest that a request may take.
const TIME_LIMIT: &str = "10 s";

/// The longest path in names and titles, in bytes.
const PATH_SHOWN_MAX: usize = 120;

/// The parts of a definition.
pub(super) struct Draft<'a> {
    /// The server.
    pub target: &'a Target,
    /// The pages, all different, with the number of times that each was given.
    pub pages: &'a [(PageUrl, u32)],
    /// What all requests have in common.
    pub parts: &'a RequestParts,
    /// Load and phases.
    pub course: &'a Overrides,
    /// The protocol.
    pub protocol: &'a ProtocolArguments,
    /// The folder of the definition.
    pub folder: &'a Path,
}

impl Draft<'_> {
    /// Returns the definition with the checks of the pages; without checks any reply is right.
    pub(super) fn text(&self, checks: &[ReplyCheck]) -> String {
        let mut text = self.head();
        for (index, (page, weight)) in self.pages.iter().enumerate() {
            text += &self.request(index, page, *weight, checks.get(index));
        }
        text + &self.course()
    }

    /// Returns the title: the URL, or how many there are.
    fn title(&self) -> String {
        match self.pages {
            [(page, _)] => format!("{}{}", self.target, shortened(&page.path[1..])),
            pages => format!("{} pages of {}", pages.len(), self.target),
        }
    }

    fn head(&self) -> String {
        let summary = match self.pages {
            [_] => "One page of a running server, requested again and again.",
            _ => "Pages of a running server, requested in turn at random.",
        };
        let (title, target) = (quoted(&self.title()), quoted(&self.target.to_string()));
        format!(
            "# Made from URLs. `plimsoll run FILE` runs it; docs/definitions.md explains every key.\n\
            format = 1\nid = \"{}\"\nversion = 1\ntitle = {title}\nsummary = {}\nfamily = \"web\"\n\
            headline = \"request-rate\"\ntarget = {target}\n",
            BenchmarkId::URLS,
            quoted(summary)
        )
    }

    fn request(&self, index: usize, page: &PageUrl, weight: u32, check: Option<&ReplyCheck>) -> String {
        let parts = self.parts;
        let mut lines = vec![
            "\n[[workload.requests]]".to_owned(),
            format!("name = {}", quoted(&self.name(index))),
            format!("weight = {weight}"),
        ];
        if parts.method != "GET" {
            lines.push(format!("method = {}", quoted(&parts.method)));
        }
        lines.push(format!("path = {}", quoted(&page.path)));
        lines.extend(page.values.iter().map(|(name, value)| format!("parameters.{name} = {}", value.toml())));
        lines.extend(parts.body.as_ref().map(|body| format!("body = {}", body.toml(self.folder))));
        match check {
            Some(check) => {
                lines.extend((check.status != 200).then(|| format!("status = {}", check.status)));
                lines.push(format!("reply = {:<6} # {}", check.reply, check.reason));
            }
            None => lines.push("reply = \"any\"".to_owned()),
        }
        let headers: Vec<String> = parts
            .headers
            .iter()
            .map(|(name, value)| format!("{} = {}", quoted(name), value.toml()))
            .collect();
        if !headers.is_empty() {
            lines.push(format!("headers = {{ {} }}", headers.join(", ")));
        }
        lines.join("\n") + "\n"
    }

    /// Returns the name of a kind of request: its path, with a number if a longer path had to be shortened.
    pub(super) fn name(&self, index: usize) -> String {
        let path = &self.pages[index].0.path;
        let method = match self.parts.method.as_str() {
            "GET" => String::new(),
            method => format!("{method} "),
        };
        match path.len() <= PATH_SHOWN_MAX {
            true => format!("{method}{path}"),
            false => format!("{method}{} #{}", shortened(path), index + 1),
        }
    }

    /// Returns protocol, load and phases.
    fn course(&self) -> String {
        let Draft { course, protocol, .. } = self;
        let mut text = String::from("\n[protocol]\n");
        let _ = writeln!(text, "http = {}", quoted(protocol.http.as_deref().unwrap_or("1.1")));
        let tls = protocol.tls.as_deref().or(self.target.secure.then_some("resumed"));
        if let Some(tls) = tls.filter(|tls| *tls != "off") {
            let _ = writeln!(text, "tls = {}", quoted(tls));
        }
        let connection = protocol.connection();
        let _ = writeln!(text, "connection = {}", quoted(connection.as_deref().unwrap_or("keep-alive")));
        if let Some(streams) = &protocol.streams {
            let _ = writeln!(text, "streams = {streams}");
        }
        let _ = writeln!(text, "time-limit = {}", quoted(&time_limit(protocol)));
        text += "\n[load]\n";
        text += &match (&course.load, &course.rates) {
            (_, Some(rates)) => format!("rate = {}\n", quoted(&load_text(rates.iter().copied()))),
            (Some(users), _) => {
                format!("users = {}\n", quoted(&load_text(users.iter().copied().map(f64::from))))
            }
            (None, None) => format!("users = {}\n", quoted(USERS)),
        };
        if course.arrivals.is_some() || course.in_flight_max.is_some() {
            text += "\n[open-loop]\n";
            if let Some(arrivals) = course.arrivals {
                let _ = writeln!(text, "arrivals = {}", quoted(arrivals.name()));
            }
            if let Some(most) = course.in_flight_max {
                let _ = writeln!(text, "in-flight-max = {most}");
            }
        }
        text += "\n[phases]\n";
        for (key, asked, standard) in [
            ("ramp-up", course.ramp_up, RAMP_UP),
            ("settle", course.settle, SETTLE),
            ("steady", course.steady, STEADY),
            ("ramp-down", course.ramp_down, Nanos::ZERO),
            ("drain", course.drain, Nanos::ZERO),
        ] {
            let _ = writeln!(text, "{key} = {}", quoted(&time_text(asked.unwrap_or(standard))));
        }
        text
    }
}

/// Returns the time limit with its unit, which definitions need.
fn time_limit(protocol: &ProtocolArguments) -> String {
    let asked = protocol.time_limit.as_deref().and_then(|text| SettingKind::Time.parse(text).ok());
    asked.map_or_else(|| TIME_LIMIT.to_owned(), |time| time.to_string())
}

fn shortened(path: &str) -> String {
    match path.get(..PATH_SHOWN_MAX) {
        Some(start) if PATH_SHOWN_MAX < path.len() => format!("{start}…"),
        _ => path.to_owned(),
    }
}
