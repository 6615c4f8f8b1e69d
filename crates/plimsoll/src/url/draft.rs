//! The benchmark that URLs and flags stand for.

use std::path::Path;
use std::rc::Rc;

use benchmarks::Benchmark;
use drivers::web::Target;
use languages::REDACTED;
use model::{
    BenchmarkId, Configuration, ConnectionLifetime, Cookies, DEFINITION_FORMAT, Definition, Family, Headline,
    Levels, LoadDefinition, LoadUnit, OpenLoopDefinition, Overrides, Page, Parameter, PathPattern, Phases,
    PlacedSecret, QuickDefinition, ReplyBody, Request, Rules, Secret, SecretLocation, SettingKind,
    SettingValue, ShapeDefinition, ThinkTime, WebDefinition, WebProtocol, WorkloadDefinition, WorkloadSource,
};
use units::Nanos;

use super::page::PageUrl;
use super::request::RequestParts;
use super::survey::ReplyCheck;
use crate::arguments::ProtocolArguments;
use crate::exit::Failure;

/// Numbers of users of a run that names none: from idle to more than most servers need, in a minute. The run adds up to two
/// between them, where the rate stops growing. One that saturates most servers comes first: it is what the first answer is of.
const USERS: [f64; 4] = [50.0, 1.0, 10.0, 100.0];

/// The number of users of a run that names none, but a number of operations: there are as many at most.
const USERS_OF_OPERATIONS: u32 = 10;

/// Lengths of the phases of a load point: with `USERS` less than a minute, with two more loads 12 s beyond
/// it, and long enough for intervals.
const RAMP_UP: Nanos = Nanos::from_secs(1);
const SETTLE: Nanos = Nanos::from_secs(1);
const STEADY: Nanos = Nanos::from_secs(10);

/// The longest that a request may take.
const TIME_LIMIT: &str = "10 s";

/// The longest path in names and titles, in bytes.
const PATH_SHOWN_MAX: usize = 120;

/// The content seed of definitions that name none. There are no files whose content could follow from it.
const CONTENT_SEED: u64 = 1;

/// A kind of request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DraftRequest {
    /// The page.
    pub page: PageUrl,
    /// The parts besides the URL.
    pub parts: Rc<RequestParts>,
    /// The number of times that it was given.
    pub weight: u32,
}

/// The parts of a definition.
pub(super) struct DefinitionDraft<'a> {
    /// The server.
    pub target: &'a Target,
    /// The kinds of requests, all different.
    pub requests: &'a [DraftRequest],
    /// The order in which a user makes requests, by their indices; empty if each is a page of its own, picked by its weight.
    pub order: &'a [usize],
    /// Load and phases.
    pub course: &'a Overrides,
    /// The protocol.
    pub protocol: &'a ProtocolArguments,
    /// The folder of the definition.
    pub folder: &'a Path,
}

/// A setting of the protocol, as it is typed.
pub(super) struct TypedSetting {
    pub name: &'static str,
    pub value: String,
}

impl DefinitionDraft<'_> {
    /// Returns the benchmark with the checks of the pages; without checks any reply is right.
    ///
    /// # Errors
    /// A path is none that requests can have.
    pub(super) fn benchmark(&self, checks: &[ReplyCheck]) -> Result<Benchmark, Failure> {
        let mut requests = Vec::new();
        let mut secrets = Vec::new();
        for kind in 0..self.requests.len() {
            requests.push(self.request(kind, checks.get(kind), &mut secrets)?);
        }
        let pages = self.pages();
        let plain = WebDefinition {
            source: WorkloadSource::Requests(requests.clone(), pages.clone()),
            content_seed: CONTENT_SEED,
            counts_pages: !self.order.is_empty(),
            think: ThinkTime::None,
            cookies: Cookies::None,
            data: Vec::new(),
            secrets,
            protocol: WebProtocol::plain(ConnectionLifetime::PerRequest),
        };
        let mut settings = Vec::new();
        for TypedSetting { name, value } in self.settings() {
            settings.push(Family::Web.choose_setting(name, &value).map_err(Failure::usage)?);
        }
        let workload = plain.workload(requests, pages).into();
        let configuration = Configuration {
            workload,
            time_limit: Nanos::ZERO,
            filelist: String::new(),
            loadfile: String::new(),
        };
        let Configuration { workload, time_limit, .. } = configuration.with(&settings);
        let protocol = workload.web().map_or(plain.protocol, |web| web.protocol);
        let load = self.load();
        let phases = self.phases();
        let definition = Definition {
            format: DEFINITION_FORMAT,
            id: BenchmarkId::URLS.to_owned(),
            version: 1,
            title: self.title(),
            summary: self.summary().to_owned(),
            headline: Headline::RequestRate,
            target: Some(self.target.to_string()),
            workload: WorkloadDefinition::Web(WebDefinition { protocol, ..plain }),
            time_limit,
            quick: QuickDefinition::of(&load, phases),
            load,
            shape: self.shape(),
            open_loop: self.open_loop(),
            phases,
            rules: Rules::default(),
        };
        Ok(Benchmark { definition, workload, data: Vec::new() })
    }

    /// Returns the pages: all requests in their order, or each request alone.
    fn pages(&self) -> Vec<Page> {
        let index = |index: &usize| u32::try_from(*index).unwrap_or(u32::MAX);
        if !self.order.is_empty() {
            return vec![Page { weight: 1, requests: self.order.iter().map(index).collect() }];
        }
        let alone = |(kind, request): (usize, &DraftRequest)| Page {
            weight: request.weight.into(),
            requests: vec![index(&kind)],
        };
        self.requests.iter().enumerate().map(alone).collect()
    }

    /// Returns the title: the URL, or how many there are.
    pub(super) fn title(&self) -> String {
        match (self.requests, self.order) {
            ([one], _) => format!("{}{}", self.target, shortened(&one.page.path[1..])),
            (requests, []) => format!("{} pages of {}", requests.len(), self.target),
            (_, order) => format!("{} requests to {}", order.len(), self.target),
        }
    }

    pub(super) fn summary(&self) -> &'static str {
        match (self.requests, self.order) {
            ([_], _) => "One page of a running server, requested again and again.",
            (_, []) => "Pages of a running server, requested in turn at random.",
            _ => "Requests to a running server, which each user makes in this order, again and again.",
        }
    }

    /// Returns a kind of request, and adds the values in it that come from elsewhere. Parameters and header fields are in the
    /// order of their names, as definitions are read.
    fn request(
        &self,
        kind: usize,
        check: Option<&ReplyCheck>,
        secrets: &mut Vec<PlacedSecret>,
    ) -> Result<Request, Failure> {
        let DraftRequest { page, parts, .. } = &self.requests[kind];
        let path: PathPattern =
            page.path.parse().map_err(|_| Failure::usage(format!("`{}` cannot be requested", page.path)))?;
        let parameters = path.names().iter().map(|name| Parameter::texts(name, vec![REDACTED.to_owned()]));
        let mut request = Request {
            name: self.name(kind),
            method: parts.method.clone(),
            parameters: parameters.collect(),
            status: check.map_or(200, |check| check.status),
            reply: check.map_or(ReplyBody::Any, |check| check.reply.body()),
            path,
            ..Request::file("/", 0)
        };
        let mut values = page.values.clone();
        values.sort_by(|(one, _), (other, _)| one.cmp(other));
        let parameters = values.into_iter().map(|(name, value)| (SecretLocation::Parameter(name), value));
        let mut headers = parts.headers.clone();
        headers.sort_by(|(one, _), (other, _)| one.cmp(other));
        let headers = headers.into_iter().map(|(name, value)| (SecretLocation::Header(name), value));
        for (part, value) in parameters.chain(headers) {
            match (value.secret(&part), part) {
                (Some(secret), _) => request.secrets.push(secret),
                (None, SecretLocation::Header(name)) => request.headers.push((name, value.text().to_owned())),
                (None, _) => {}
            }
        }
        request.secrets.extend(parts.body.as_ref().and_then(|body| body.secret(self.folder)));
        let placed =
            |secret: &Secret, value| PlacedSecret { kind, span: 0..0, secret: secret.clone(), value };
        secrets.extend(request.secrets.iter().map(|secret| placed(secret, None)));
        let credentials = request.take_credentials();
        secrets.extend(credentials.into_iter().map(|(secret, value)| placed(&secret, Some(value))));
        Ok(request)
    }

    /// Returns the name of a kind of request: method and path, with a number if a longer path had to be shortened, or another
    /// request has the same and differs in something else.
    pub(super) fn name(&self, index: usize) -> String {
        let DraftRequest { page, parts, .. } = &self.requests[index];
        let path = &page.path;
        let method = match parts.method.as_str() {
            "GET" => String::new(),
            method => format!("{method} "),
        };
        let is_like = |other: &&DraftRequest| other.page.path == *path && other.parts.method == parts.method;
        let is_alone = self.requests.iter().filter(is_like).count() == 1;
        if path.len() <= PATH_SHOWN_MAX && is_alone {
            format!("{method}{path}")
        } else {
            format!("{method}{} #{}", shortened(path), index + 1)
        }
    }

    /// Returns the settings of the protocol, each as it is typed.
    pub(super) fn settings(&self) -> Vec<TypedSetting> {
        let asked = self.protocol;
        let tls = asked.tls.as_deref().or(self.target.secure.then_some("resumed"));
        let settings = [
            ("http", Some(asked.http.as_deref().unwrap_or("1.1").to_owned())),
            ("tls", tls.filter(|tls| *tls != "off").map(str::to_owned)),
            ("connection", Some(asked.connection().unwrap_or_else(|| "keep-alive".to_owned()))),
            ("streams", asked.streams.clone()),
            ("time-limit", Some(self.time_limit())),
        ];
        settings.into_iter().filter_map(|(name, value)| Some(TypedSetting { name, value: value? })).collect()
    }

    /// Returns the time limit with its unit, which definitions need.
    fn time_limit(&self) -> String {
        let asked = self.protocol.time_limit.as_deref();
        let asked = asked.and_then(|text| SettingKind::Time.parse(text).ok());
        asked.map_or_else(|| TIME_LIMIT.to_owned(), |time| time.to_string())
    }

    /// Returns the load over time, if flags ask for one.
    pub(super) fn shape(&self) -> Option<ShapeDefinition> {
        let stages = self.course.stages.clone()?;
        Some(ShapeDefinition { stages, until: self.course.until.clone() })
    }

    pub(super) fn load(&self) -> LoadDefinition {
        if let Some(shape) = self.shape() {
            return shape.load();
        }
        let (unit, levels) = match (&self.course.rates, &self.course.load) {
            (Some(rates), _) => (LoadUnit::Rate, rates.clone()),
            (None, Some(users)) => (LoadUnit::Users, users.iter().copied().map(f64::from).collect()),
            (None, None) => match self.course.operations {
                Some(n) => (LoadUnit::Users, vec![f64::from(fewer(USERS_OF_OPERATIONS, n))]),
                None => (LoadUnit::Users, USERS.to_vec()),
            },
        };
        LoadDefinition { unit, levels: Levels::List(levels) }
    }

    fn open_loop(&self) -> OpenLoopDefinition {
        let standard = OpenLoopDefinition::default();
        OpenLoopDefinition {
            arrivals: self.course.arrivals.unwrap_or(standard.arrivals),
            in_flight_max: self.course.in_flight_max,
        }
    }

    pub(super) fn phases(&self) -> Phases {
        if let Some(shape) = self.shape() {
            return shape.phases(Nanos::ZERO, self.course.drain.unwrap_or(Nanos::ZERO));
        }
        let standard = Phases {
            quiet: Nanos::ZERO,
            ramp_up: RAMP_UP,
            settle: SETTLE,
            steady: STEADY,
            ramp_down: Nanos::ZERO,
            drain: Nanos::ZERO,
        };
        let time_limit = SettingKind::Time.parse(&self.time_limit());
        let time_limit = match time_limit {
            Ok(SettingValue::Time(time)) => time,
            _ => Nanos::ZERO,
        };
        let phases = self.course.phases(standard, time_limit);
        let n_points = self.load().levels.list(None, LoadUnit::Users).len();
        let divided = self.course.total.and_then(|total| total.divided(phases, n_points));
        divided.unwrap_or(phases)
    }
}

/// Returns a number of users, or of operations if these are fewer.
fn fewer(users: u32, operations: u64) -> u32 {
    u32::try_from(operations).map_or(users, |n| users.min(n))
}

fn shortened(path: &str) -> String {
    match path.get(..PATH_SHOWN_MAX) {
        Some(start) if PATH_SHOWN_MAX < path.len() => format!("{start}…"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::{Arguments, Command};
    use crate::url::page::read_pages;
    use crate::url::survey::ExpectedReply;

    /// Makes a definition of URLs and flags, as a value and as text.
    fn both(words: &[&str], order: &[usize], replies: &[ExpectedReply]) -> (Definition, Definition) {
        let parsed = Arguments::parse_from([&["plimsoll", "run"], words].concat());
        let Command::Run(run) = parsed.command else { panic!("a run") };
        let pages = read_pages(&run.plan.subjects, None).unwrap();
        let parts = Rc::new(RequestParts::of(&run.url).unwrap());
        let request = |(page, weight)| DraftRequest { page, parts: Rc::clone(&parts), weight };
        let requests: Vec<DraftRequest> = pages.into_iter().zip(1..).map(request).collect();
        let draft = DefinitionDraft {
            target: &requests[0].page.target,
            requests: &requests,
            order,
            course: &run.plan.overrides().unwrap(),
            protocol: &run.plan.protocol,
            folder: Path::new(""),
        };
        let check = |(index, reply): (u16, &ExpectedReply)| ReplyCheck {
            status: 200 + index % 2,
            reply: reply.clone(),
            reason: "seen".to_owned(),
            body_bytes: 0,
        };
        let checks: Vec<ReplyCheck> = (0..).zip(replies).map(check).collect();
        let value = draft.benchmark(&checks).unwrap().definition;
        let text = draft.text(&checks);
        let mut read = Definition::parse("url.toml", &text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        if let WorkloadDefinition::Web(web) = &mut read.workload {
            web.secrets.iter_mut().for_each(|secret| secret.span = 0..0);
        }
        (value, read)
    }

    #[track_caller]
    fn check(words: &[&str], replies: &[ExpectedReply]) -> Definition {
        let (value, read) = both(words, &[], replies);
        assert_eq!(value, read, "{words:?}");
        value
    }

    #[test]
    fn requests_in_an_order_are_the_same_as_a_value_and_as_text() {
        let words = ["http://h:1/a", "http://h:1/b"];
        let replies = [ExpectedReply::Seen, ExpectedReply::Any];
        let (value, read) = both(&words, &[0, 1, 0], &replies);
        assert_eq!(value, read);
        let WorkloadSource::Requests(_, pages) = &read.workload.web().unwrap().source else {
            panic!("requests")
        };
        assert_eq!(pages[..], [Page { weight: 1, requests: vec![0, 1, 0] }]);
    }

    /// Goal: what runs and what `--save-definition` writes are one definition.
    #[test]
    fn a_definition_is_the_same_as_a_value_and_as_text() {
        use ExpectedReply::{Any, ContentType, Empty, Length, Same, Seen};
        let url = "http://127.0.0.1:8080/";
        let plain = check(&[url], &[Seen]);
        assert_eq!((plain.load.levels.highest(), plain.phases.steady), (100.0, STEADY));
        let replies = [Seen, Same, Any, Empty, ContentType("text/html".to_owned()), Length(37)];
        let pages = ["", "a", "b?c=d", "e", "f", "%7Bg"].map(|path| format!("{url}{path}"));
        check(&pages.each_ref().map(String::as_str), &replies);
        let open = ["--rate", "10..30/10", "--arrivals", "poisson", "--in-flight-max", "7"];
        check(&[&[url][..], &open].concat(), &[Seen]);
        let phases = ["--duration", "1m30s", "--ramp-up", "0", "--settle", "0.25", "--ramp-down", "1"];
        check(&[&[url, "-c", "1,5,3"][..], &phases, &["--drain", "2"]].concat(), &[Seen]);
        let stages = check(&[url, "--stages", "30s:0..100,2m:100,10s:100..0", "--drain", "2"], &[Seen]);
        assert_eq!((stages.load.levels.highest(), stages.phases.steady), (100.0, Nanos::from_secs(160)));
        check(
            &[url, "--ramp", "10/s..2000/s", "--until", "p99<200ms,errors<1%", "--in-flight-max", "9"],
            &[Seen],
        );
        check(&[url, "--daily", "7..93", "--duration", "1h"], &[Seen]);
        let https = "https://shop.example/a?b=c";
        check(&[https, "--http", "2", "--tls", "full", "--streams", "4", "--time-limit", "2.5"], &[Seen]);
        check(&[https, "--keep-alive=5"], &[Any]);
        check(&[url, "--connection", "per-request", "--http", "1.0", "--tls", "off"], &[Any]);
        let limited = check(&[https, "--time-limit", "300ms"], &[Seen]);
        assert_eq!(limited.time_limit, Nanos::from_millis(300));
    }

    /// Goal: values from the environment, files and the command line are where they belong, and in no plan.
    #[test]
    fn values_from_elsewhere_are_the_same_as_a_value_and_as_text() {
        let url = "http://127.0.0.1:8080/{env:A}?key={env:B}&q={a}";
        let headers = ["-H", "X-Later: 1", "-H", "Authorization: Bearer {env:TOKEN}", "-H", "Accept: a/b"];
        let seen = [ExpectedReply::Seen];
        let read = check(&[&[url, "-X", "PUT", "-d", "a=1"][..], &headers].concat(), &seen);
        let web = read.workload.web().unwrap();
        let keys: Vec<String> = web.secrets.iter().map(|one| one.secret.part.key()).collect();
        assert_eq!(keys, ["parameters.env1", "parameters.env2", "headers.Authorization", "body"]);
        check(&[url, "-d", "id={env:BODY}"], &seen);
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        check(&[url, "--data-file", file, "-H", "content-type: text/plain"], &seen);
        let twins = ["http://h:1/?a={env:A}", "http://h:1/?a={env:B}"];
        let read = check(&twins, &[ExpectedReply::Seen, ExpectedReply::Any]);
        let WorkloadSource::Requests(requests, _) = &read.workload.web().unwrap().source else {
            panic!("requests")
        };
        assert_eq!(requests[1].name, "/?a={env1} #2", "pages are told apart by their names");
    }
}
