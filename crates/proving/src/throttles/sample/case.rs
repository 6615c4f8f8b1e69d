//! The cases: a product of what can vary, and the sample drawn from it by a fixed seed.

use std::fmt;

use units::{Rng, StreamPurpose};

use super::kind::ThrottleKind;

/// The number of cases.
pub(super) const N_CASES: usize = 120;

/// The seed of the standard sample, on which the rules were tuned.
pub(super) const SEED: u64 = 18;

/// The strength of a throttle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// The limit is a little below the next one.
    Mild,
    /// The limit is clearly below the next one.
    Medium,
    /// The limit is far below the next one.
    Strong,
}

/// A server, as it is started by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerKind {
    /// nginx with two workers.
    Nginx,
    /// Apache with its event MPM, for files.
    Apache,
    /// Apache with Python pages (mod_wsgi).
    Wsgi,
    /// Apache before PHP-FPM.
    Fpm,
    /// gunicorn with processes for Python pages.
    Gunicorn,
    /// A server written for Node.
    Node,
    /// The built-in server.
    BuiltIn,
}

/// The way in which Plimsoll is told of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunMode {
    /// By its URL alone.
    Plain,
    /// By its URL, and its processes by `--watch`.
    Watch,
    /// By a recipe: Plimsoll starts the server itself, with the limits it is told.
    Recipe,
}

/// One case of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SampleCase {
    /// Its number, from 1.
    pub number: usize,
    /// The bottleneck.
    pub kind: ThrottleKind,
    /// The strength of the throttle.
    pub strength: Strength,
    /// The server.
    pub server: ServerKind,
    /// The way in which Plimsoll is told of the server.
    pub mode: RunMode,
    /// Whether Plimsoll is told where the limits are: the server's control group, or the limits themselves.
    pub is_told: bool,
    /// Whether another program uses a part of the server's CPU.
    pub has_neighbor: bool,
}

impl Strength {
    const ALL: [Strength; 3] = [Strength::Mild, Strength::Medium, Strength::Strong];

    /// Chooses a value by strength.
    pub(super) fn of<T: Copy>(self, [mild, medium, strong]: [T; 3]) -> T {
        match self {
            Strength::Mild => mild,
            Strength::Medium => medium,
            Strength::Strong => strong,
        }
    }

    fn name(self) -> &'static str {
        self.of(["mild", "medium", "strong"])
    }
}

impl ServerKind {
    /// Returns the name.
    pub(super) fn name(self) -> &'static str {
        match self {
            ServerKind::Nginx => "nginx",
            ServerKind::Apache => "apache",
            ServerKind::Wsgi => "apache-wsgi",
            ServerKind::Fpm => "apache-php-fpm",
            ServerKind::Gunicorn => "gunicorn",
            ServerKind::Node => "node",
            ServerKind::BuiltIn => "built-in",
        }
    }

    /// Returns whether it makes pages by workers that serve one request at a time.
    pub(super) fn has_workers(self) -> bool {
        matches!(self, ServerKind::Wsgi | ServerKind::Fpm | ServerKind::Gunicorn)
    }
}

impl RunMode {
    /// All modes, in the order of the page.
    pub(super) const ALL: [RunMode; 3] = [RunMode::Plain, RunMode::Watch, RunMode::Recipe];

    /// Returns the name.
    pub(super) fn name(self) -> &'static str {
        match self {
            RunMode::Plain => "plain",
            RunMode::Watch => "watch",
            RunMode::Recipe => "recipe",
        }
    }
}

impl SampleCase {
    /// Returns whether other programs use the CPUs, as a part of the case.
    pub(super) fn has_other_programs(&self) -> bool {
        self.has_neighbor || self.kind == ThrottleKind::CrowdedCores
    }

    /// Returns whether a bottleneck is right.
    pub(super) fn is_right(&self, named: &str) -> bool {
        self.kind.right_names().contains(&named)
    }

    /// Returns the throttle: `cpu-quota strong`.
    pub(super) fn throttle_name(&self) -> String {
        format!("{} {}", self.kind.name(), self.strength.name())
    }

    /// Returns the server, what Plimsoll is told of it, and whether it has a neighbor: `nginx watch told neighbor`.
    pub(super) fn way_name(&self) -> String {
        let more = [(self.is_told, " told"), (self.has_neighbor, " neighbor")];
        let more = more.into_iter().filter_map(|(is_so, word)| is_so.then_some(word));
        format!("{} {}{}", self.server.name(), self.mode.name(), more.collect::<String>())
    }
}

impl fmt::Display for SampleCase {
    /// Formats the name: `007 cpu-quota strong nginx watch told neighbor`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03} {} {}", self.number, self.throttle_name(), self.way_name())
    }
}

/// Returns the servers that can have a bottleneck when they are started by hand, and those with a recipe for it.
fn servers(kind: ThrottleKind) -> (&'static [ServerKind], &'static [ServerKind]) {
    use ServerKind::*;
    match kind {
        ThrottleKind::CpuQuota => (&[Nginx, Apache, Fpm, Gunicorn, Node, BuiltIn], &[Nginx, Apache, BuiltIn]),
        ThrottleKind::CrowdedCores => (&[Nginx, Apache, Fpm, Gunicorn, Node, BuiltIn], &[Nginx, Apache]),
        ThrottleKind::MemoryLimit => (&[Nginx, Apache], &[Nginx]),
        ThrottleKind::DiskOperations | ThrottleKind::DiskBytes => (&[Nginx, Gunicorn], &[Nginx]),
        ThrottleKind::LinkRate => (&[Nginx, Apache, Node, BuiltIn], &[Nginx, Apache]),
        ThrottleKind::PacketRate | ThrottleKind::PacketLoss | ThrottleKind::GeneratorLink => {
            (&[Nginx, Apache, Node, BuiltIn], &[])
        }
        ThrottleKind::AcceptBacklog => (&[Nginx, Node], &[]),
        ThrottleKind::WorkerPool => (&[Wsgi, Fpm, Gunicorn], &[Nginx, Apache]),
        ThrottleKind::ConnectionLimit => (&[Nginx, Wsgi], &[]),
        ThrottleKind::Lock => (&[Wsgi, Fpm, Gunicorn, Node], &[Nginx, Apache]),
        ThrottleKind::SlowService => (&[Wsgi, Fpm, Gunicorn, Node], &[]),
        ThrottleKind::RateLimit => (&[Nginx, Node], &[]),
        ThrottleKind::GeneratorCpu => (&[Nginx, BuiltIn], &[Nginx]),
        ThrottleKind::GeneratorPorts => (&[Wsgi, Fpm, Gunicorn, Node], &[]),
        ThrottleKind::Pace => (&[Nginx, Apache, Fpm, Gunicorn, Node, BuiltIn], &[Nginx]),
    }
}

/// Returns all cases of a kind, not numbered yet.
fn product(kind: ThrottleKind) -> Vec<SampleCase> {
    // Whoever names only a URL tells of no limits; a recipe enforces those it is told.
    let ways =
        [(RunMode::Plain, false), (RunMode::Watch, false), (RunMode::Watch, true), (RunMode::Recipe, true)];
    let (by_hand, by_recipe) = servers(kind);
    let mut cases = Vec::new();
    for (mode, is_told) in ways {
        for server in if mode == RunMode::Recipe { by_recipe } else { by_hand } {
            for strength in Strength::ALL {
                for has_neighbor in [false, true] {
                    let server = *server;
                    cases.push(SampleCase { number: 0, kind, strength, server, mode, is_told, has_neighbor });
                }
            }
        }
    }
    cases
}

/// Draws a sample: of each kind as many cases as of the others or one more, in the order of their numbers.
///
/// Neighboring numbers are of different kinds, so that a part of the sample has some of each.
pub(super) fn sample(seed: u64) -> Vec<SampleCase> {
    let mut rng = Rng::new(seed, StreamPurpose::Simulation, 0);
    let mut left: Vec<Vec<SampleCase>> = ThrottleKind::all().map(product).collect();
    let mut drawn: Vec<SampleCase> = Vec::new();
    while drawn.len() < N_CASES {
        // The last round is too long for all kinds: which of them it has is a matter of chance, too.
        let mut order: Vec<usize> = (0..left.len()).collect();
        while let Some(place) = (drawn.len() < N_CASES && !order.is_empty()).then(|| rng.index(order.len())) {
            let of_kind = &mut left[order.swap_remove(place)];
            let case = of_kind.swap_remove(rng.index(of_kind.len()));
            drawn.push(SampleCase { number: drawn.len() + 1, ..case });
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_has_at_least_six_cases_of_each_kind_and_all_differ() {
        let sample = sample(SEED);
        assert_eq!(sample.len(), N_CASES);
        for kind in ThrottleKind::all() {
            let n = sample.iter().filter(|case| case.kind == kind).count();
            assert!((6..=7).contains(&n), "{}: {n}", kind.name());
        }
        for (index, case) in sample.iter().enumerate() {
            assert_eq!(case.number, index + 1);
            let again = |other: &&SampleCase| SampleCase { number: case.number, ..**other } == *case;
            assert_eq!(sample.iter().filter(again).count(), 1, "{case}");
        }
    }

    /// Goal: a record of last month is about the same cases.
    #[test]
    fn the_sample_is_always_the_same() {
        let names: Vec<String> = sample(SEED).iter().map(SampleCase::to_string).collect();
        assert_eq!(names.join("\n") + "\n", include_str!("sample.txt"));
    }

    /// Goal: a held-out sample. By hand: of the product's cases, few are in both.
    #[test]
    fn another_seed_draws_other_cases() {
        let numbered = |case: SampleCase| SampleCase { number: 0, ..case };
        let standard: Vec<SampleCase> = sample(SEED).into_iter().map(numbered).collect();
        let n_same = sample(19).into_iter().filter(|case| standard.contains(&numbered(*case))).count();
        assert!(n_same < N_CASES / 3, "{n_same} of {N_CASES} are the same");
    }

    #[test]
    fn every_mode_strength_and_server_occurs() {
        let sample = sample(SEED);
        let n = |mode| sample.iter().filter(|case| case.mode == mode).count();
        assert!(RunMode::ALL.into_iter().all(|mode| 10 <= n(mode)));
        assert!(
            Strength::ALL.into_iter().all(|strength| sample.iter().any(|case| case.strength == strength))
        );
        assert!(sample.iter().any(|case| case.has_neighbor) && sample.iter().any(|case| !case.has_neighbor));
    }
}
