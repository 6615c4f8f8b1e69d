//! Cases, as written in TOML.

use std::fs;
use std::path::Path;

use cache_policy::{
    DotSegments, ExchangeTimes, FieldLines, Heuristic, Key, RequestMeta, ResponseMeta, Scheme, SetCookie,
    Settings, StaleSettings, StoredMeta, Variant, write_date,
};
use serde::Deserialize;
use units::{Nanos, Ratio, WallTime};

/// The zero of the clocks of all cases: Sun, 06 Nov 1994 08:49:37 GMT.
const EPOCH: i64 = 784_111_777;

/// The strictness of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mark {
    Required,
    Optimal,
    Behaviour,
}

/// A file of cases with the same question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    ask: String,
    case: Vec<Case>,
}

/// One case. Times are seconds since [`EPOCH`]; `@60` in a field is the date of second 60.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    #[serde(skip)]
    pub file: String,
    #[serde(skip)]
    pub ask: String,
    pub name: String,
    pub clause: String,
    pub mark: Mark,
    #[serde(default)]
    pub settings: SettingsTable,
    /// The stored responses.
    #[serde(default)]
    pub stored: Vec<Exchange>,
    /// The stored response, if it is one response to a plain GET that was requested and received at second 0.
    pub response: Option<Vec<String>>,
    /// The request: method and target, then fields.
    #[serde(default)]
    pub request: Vec<String>,
    /// The origin's response to the request: status, then fields.
    #[serde(default)]
    pub reply: Vec<String>,
    #[serde(default)]
    pub has_body: bool,
    #[serde(default)]
    pub now: i64,
    /// The failure of the origin: a status, or 0 for no response.
    #[serde(default)]
    pub failure: u16,
    pub authority: Option<String>,
    pub scheme: Option<String>,
    expect: String,
}

/// A stored response, and the request that it answered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Exchange {
    pub request: Vec<String>,
    pub response: Vec<String>,
    pub requested: i64,
    pub received: i64,
    /// The length of the body; 1000 by default.
    pub body: Option<u64>,
    pub is_invalid: bool,
}

/// Settings that differ from the defaults; times in seconds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SettingsTable {
    heuristic: Option<f64>,
    heuristic_max: Option<u64>,
    default_lifetime: Option<u64>,
    lifetimes_of_statuses: Vec<(u16, u64)>,
    lifetime_min: Option<u64>,
    lifetime_max: Option<u64>,
    targets: Option<Vec<String>>,
    stores_without_cookies: bool,
    ignores_clients: bool,
    stores_request_errors: bool,
    disconnected: Option<u64>,
    if_error: Option<u64>,
    while_revalidating: Option<u64>,
    s_maxage_allows_stale: bool,
    variants_max: Option<usize>,
    ranges_max: Option<usize>,
    codings: Vec<String>,
    refuses_dot_segments: bool,
}

impl SettingsTable {
    fn settings(&self) -> Settings {
        let base = Settings::default();
        let seconds = |time: Option<u64>, otherwise: Nanos| time.map_or(otherwise, Nanos::from_secs);
        let of_status = |(status, time): &(u16, u64)| (*status, Nanos::from_secs(*time));
        let heuristic = |fraction| Heuristic {
            fraction: Ratio(fraction),
            lifetime_max: seconds(self.heuristic_max, Nanos::MAX),
        };
        Settings {
            // Zero is off; settings that are not given have their defaults.
            heuristic: match self.heuristic {
                None => base.heuristic,
                Some(fraction) => (fraction != 0.0).then(|| heuristic(fraction)),
            },
            default_lifetime: self.default_lifetime.map(Nanos::from_secs),
            lifetimes_of_statuses: self.lifetimes_of_statuses.iter().map(of_status).collect(),
            lifetime_min: seconds(self.lifetime_min, base.lifetime_min),
            lifetime_max: seconds(self.lifetime_max, base.lifetime_max),
            targets: self.targets.clone().unwrap_or(base.targets),
            set_cookie: if self.stores_without_cookies { SetCookie::StoredWithout } else { base.set_cookie },
            is_obeying_clients: !self.ignores_clients,
            is_storing_request_errors: self.stores_request_errors,
            stale: StaleSettings {
                disconnected: seconds(self.disconnected, base.stale.disconnected),
                if_error: seconds(self.if_error, base.stale.if_error),
                while_revalidating: seconds(self.while_revalidating, base.stale.while_revalidating),
                is_allowed_by_s_maxage: self.s_maxage_allows_stale,
            },
            variants_max: self.variants_max.unwrap_or(base.variants_max),
            ranges_max: self.ranges_max.unwrap_or(base.ranges_max),
            codings: self.codings.clone(),
            dot_segments: if self.refuses_dot_segments { DotSegments::Refused } else { base.dot_segments },
            hit_for_miss: base.hit_for_miss,
        }
    }
}

/// A head as a case writes it: the start, and the fields.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub start: String,
    fields: Vec<(String, String)>,
}

impl Head {
    fn read(lines: &[String], otherwise: &str) -> Head {
        let (start, fields) =
            lines.split_first().map_or((otherwise, &[][..]), |(start, rest)| (start.as_str(), rest));
        let split = |line: &String| {
            let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no field: {line}"));
            (name.to_owned(), with_dates(value.trim()))
        };
        Head { start: start.to_owned(), fields: fields.iter().map(split).collect() }
    }

    pub(crate) fn lines(&self) -> impl FieldLines<'_> {
        self.fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))
    }

    /// The status of a response.
    pub(crate) fn status(&self) -> u16 {
        self.start.parse().unwrap_or_else(|_| panic!("no status: {}", self.start))
    }
}

/// Replaces references by dates.
fn with_dates(text: &str) -> String {
    let mut parts = text.split('@');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| letter != '-' && !letter.is_ascii_digit()).unwrap_or(part.len());
        let seconds = part[..end].parse().unwrap_or_else(|_| panic!("no second: @{part}"));
        whole += &write_date(at(seconds));
        whole += &part[end..];
    }
    whole
}

fn at(seconds: i64) -> WallTime {
    WallTime((EPOCH + seconds) * 1000)
}

impl Case {
    pub(crate) fn expected(&self) -> String {
        with_dates(&self.expect)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings.settings()
    }

    pub(crate) fn now(&self) -> WallTime {
        at(self.now)
    }

    pub(crate) fn request_head(&self) -> Head {
        Head::read(&self.request, "GET /")
    }

    pub(crate) fn request(&self) -> RequestMeta {
        let head = self.request_head();
        let method = head.start.split(' ').next().unwrap_or_default();
        RequestMeta::read(method.as_bytes(), head.lines(), self.has_body)
    }

    /// The request target; `/` if none is written.
    pub(crate) fn target(&self) -> String {
        self.request_head().start.split_once(' ').map_or("/", |(_, target)| target).to_owned()
    }

    pub(crate) fn reply_head(&self) -> Head {
        Head::read(&self.reply, "200")
    }

    /// Returns the origin's response, requested and received now.
    pub(crate) fn reply(&self) -> ResponseMeta {
        let head = self.reply_head();
        let times = ExchangeTimes { requested: self.now(), received: self.now() };
        ResponseMeta::read(head.status(), head.lines(), times, &self.settings())
    }

    /// Returns all exchanges; that of `response` first.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        let single = self
            .response
            .iter()
            .map(|response| Exchange { response: response.clone(), ..Exchange::default() });
        single.chain(self.stored.iter().cloned()).collect()
    }

    /// Returns the metadata of the stored responses, in the order of the exchanges.
    pub(crate) fn all_stored(&self) -> Vec<StoredMeta> {
        self.exchanges().iter().map(|one| one.stored(&self.settings())).collect()
    }
}

impl Exchange {
    pub(crate) fn response_head(&self) -> Head {
        Head::read(&self.response, "200")
    }

    pub(crate) fn response(&self, settings: &Settings) -> ResponseMeta {
        let head = self.response_head();
        let times = ExchangeTimes { requested: at(self.requested), received: at(self.received) };
        let request = Head::read(&self.request, "GET /");
        let target = request.start.split_once(' ').map_or("/", |(_, target)| target);
        let key = Key::new(Scheme::Http, b"example.org", target.as_bytes(), DotSegments::Resolved).unwrap();
        ResponseMeta::read(head.status(), head.lines(), times, settings).of(&key)
    }

    fn stored(&self, settings: &Settings) -> StoredMeta {
        let response = self.response(settings);
        let request = Head::read(&self.request, "GET /");
        let variant = Variant::of(&response.vary, request.lines(), &settings.codings).unwrap_or_default();
        let mut stored = StoredMeta::new(response, variant, self.body.unwrap_or(1000), settings);
        stored.is_invalid = self.is_invalid;
        stored
    }
}

/// Reads all cases, in the order of their files' names.
pub(crate) fn read_all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    paths.iter().flat_map(|path| read_file(path)).collect()
}

fn read_file(path: &Path) -> Vec<Case> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).unwrap();
    let file: CaseFile = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let place = |case: Case| Case { file: name.clone(), ask: file.ask.clone(), ..case };
    file.case.iter().cloned().map(place).collect()
}
