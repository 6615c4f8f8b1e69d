//! The catalog of a web workload: a kind of operation per request, a kind of unit per page.

use super::{Request, WebWorkload};
use crate::{Catalog, ExpectedMeasure, Measure, MeasureUnit, Noun, OperationKind, Score, Words};

/// The measures of a request besides its response time, by their indexes in the catalog.
pub mod web_measure {
    use units::Nanos;

    use crate::MeasuredValues;

    /// The time to connect, from sent; of requests that made a connection.
    pub const CONNECT: usize = 0;
    /// The time to the first byte of the reply, from sent.
    pub const FIRST_BYTE: usize = 1;
    /// The size of the reply, head and body.
    pub const REPLY_BYTES: usize = 2;
    /// The size of the reply's body.
    pub const BODY_BYTES: usize = 3;
    /// The number of redirects that were followed; only where some are.
    pub const REDIRECTS: usize = 4;

    /// Returns the measures of a request that was connected and had its first byte at these times after it was sent; a
    /// time to connect of zero is none, as on a kept connection.
    pub fn measured(connect: Nanos, first_byte: Nanos, head_bytes: u64, body_bytes: u64) -> MeasuredValues {
        let mut measured = MeasuredValues::default();
        if connect != Nanos::ZERO {
            measured.set(CONNECT, connect.0);
        }
        measured.set(FIRST_BYTE, first_byte.0);
        measured.set(REPLY_BYTES, head_bytes + body_bytes);
        measured.set(BODY_BYTES, body_bytes);
        measured
    }
}

/// Returns the measures in the order of their indexes.
fn measures(follows_redirects: bool) -> Vec<Measure> {
    let always = Measure::always;
    let mut measures = vec![
        Measure { is_always: false, has_spread: true, ..always("connect", MeasureUnit::Nanoseconds) },
        always("first byte", MeasureUnit::Nanoseconds),
        always("reply bytes", MeasureUnit::Bytes),
        Measure { part_of: Some(web_measure::REPLY_BYTES), ..always("body bytes", MeasureUnit::Bytes) },
    ];
    if follows_redirects {
        measures.push(Measure { is_always: false, ..always("redirects", MeasureUnit::Count) });
    }
    measures
}

/// Returns the words of a benchmark that is known by the rate of its operations.
fn words() -> Words {
    Words {
        score_heading: "Ops/second".to_owned(),
        unit: Noun::regular("page"),
        ..Words::of_rate("operation", "user")
    }
}

impl WebWorkload {
    /// Returns what a run of the workload counts and measures.
    pub fn catalog(&self) -> Catalog {
        let kind = |(request, share): (&Request, f64)| OperationKind {
            name: request.name.clone(),
            share: Some(share),
            share_gap_max: request.share_gap_max,
            limits: request.limits.clone(),
            measures: Vec::new(),
            expected: expected_body(request).into_iter().collect(),
        };
        let page = |index: usize| format!("page {index}");
        Catalog {
            kinds: self.requests.iter().zip(self.request_shares()).map(kind).collect(),
            units: if self.counts_pages { (0..self.pages.len()).map(page).collect() } else { Vec::new() },
            pauses: self.think.pauses(),
            measures: measures(self.follows_redirects()),
            transferred: vec![web_measure::REPLY_BYTES],
            response_parts: Vec::new(),
            notices: Vec::new(),
            bands: Vec::new(),
            codes: Vec::new(),
            in_flight: None,
            sizing: None,
            outcomes: Vec::new(),
            score: Score::default(),
            words: words(),
        }
    }
}

/// Returns the length of the bodies of a request's replies; `None` if it is not known.
fn expected_body(request: &Request) -> Option<ExpectedMeasure> {
    // A reply with another status may have another body.
    if !request.other_statuses.is_empty() {
        return None;
    }
    let (least, most) = request.body_limits()?;
    let (mean, _) = request.body_moments()?;
    Some(ExpectedMeasure { measure: web_measure::BODY_BYTES, least, most, mean })
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use crate::{
        CatalogFault, ConnectionLifetime, Cookies, MEASURES_MAX, Page, ReplyBody, SLOTS_MAX, ThinkTime,
        WebProtocol,
    };

    /// A file of two requests in three, a page of unknown length.
    fn workload() -> WebWorkload {
        let file = Request { share_gap_max: Some(0.1), ..Request::file("/a", 500) };
        let any = Request { reply: ReplyBody::Any, ..Request::file("/b", 0) };
        let page = |weight, request| Page { weight, requests: vec![request] };
        WebWorkload {
            content_seed: 1,
            requests: vec![file, any],
            pages: vec![page(2, 0), page(1, 1)],
            counts_pages: true,
            think: ThinkTime::Fixed(Nanos::ZERO),
            cookies: Cookies::None,
            data: Vec::new(),
            protocol: WebProtocol::plain(ConnectionLifetime::PerRequest),
        }
    }

    #[test]
    fn the_catalog_has_a_kind_per_request_and_a_unit_per_page() {
        let catalog = workload().catalog();
        let [file, any] = &catalog.kinds[..] else { panic!("{catalog:?}") };
        assert_eq!((file.name.as_str(), file.share, file.share_gap_max), ("/a", Some(2.0 / 3.0), Some(0.1)));
        let body = ExpectedMeasure { measure: web_measure::BODY_BYTES, least: 500, most: 500, mean: 500.0 };
        let expected = |measure| catalog.expected(0, measure);
        assert_eq!((expected(web_measure::BODY_BYTES), expected(web_measure::CONNECT)), (Some(&body), None));
        assert!(any.expected.is_empty() && any.share == Some(1.0 / 3.0));
        assert_eq!(catalog.units, ["page 0", "page 1"]);
        let names = catalog.measures.iter().map(|measure| measure.name.as_str()).collect::<Vec<_>>();
        let index = |name| names.iter().position(|one| *one == name).unwrap();
        let indexes = ["connect", "first byte", "reply bytes", "body bytes"].map(index);
        let constants = [
            web_measure::CONNECT,
            web_measure::FIRST_BYTE,
            web_measure::REPLY_BYTES,
            web_measure::BODY_BYTES,
        ];
        assert_eq!(indexes, constants);
        assert_eq!(catalog.check(), Ok(()));

        let uncounted = WebWorkload { counts_pages: false, ..workload() }.catalog();
        assert!(uncounted.units.is_empty());
    }

    #[test]
    fn a_catalog_that_planning_cannot_have_made_is_refused() {
        let refused = |change: fn(&mut Catalog)| {
            let mut catalog = workload().catalog();
            change(&mut catalog);
            catalog.check().unwrap_err()
        };
        let expected = |kind: &str| CatalogFault::Expected { kind: kind.into() };
        let name = |list, index| CatalogFault::Name { list, index };
        assert_eq!(refused(|catalog| catalog.kinds[1].name = "/a".into()), name("kinds", 1));
        assert_eq!(refused(|catalog| catalog.units[0].clear()), name("units", 0));
        assert_eq!(refused(|catalog| catalog.measures[2].name = "\u{1b}[2J".into()), name("measures", 2));
        assert_eq!(refused(|catalog| catalog.measures[1].name = "response".into()), name("measures", 1));
        assert_eq!(refused(|catalog| catalog.units[1] = "x".repeat(2001)), name("units", 1));
        let many =
            |catalog: &mut Catalog| catalog.measures = vec![catalog.measures[0].clone(); MEASURES_MAX + 1];
        assert_eq!(refused(many), CatalogFault::TooMany { list: "measures", most: MEASURES_MAX });
        let slots = CatalogFault::Slots { kind: "/b".into() };
        for measures in [vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3, 3], vec![0, 1, 2]] {
            let mut catalog = workload().catalog();
            catalog.kinds[1].measures = measures.clone();
            assert_eq!(
                catalog.check(),
                Err(slots.clone()),
                "one that does not exist, twice, or not: {measures:?}"
            );
        }
        let more_than_slots = |catalog: &mut Catalog| {
            let sometimes = |index: usize| Measure {
                is_always: false,
                ..Measure::always(&format!("m{index}"), MeasureUnit::Count)
            };
            catalog.measures.extend((catalog.measures.len()..=SLOTS_MAX).map(sometimes));
        };
        assert_eq!(refused(more_than_slots), CatalogFault::Slots { kind: "/a".into() });
        let mut catalog = workload().catalog();
        more_than_slots(&mut catalog);
        catalog.kinds.iter_mut().for_each(|kind| kind.measures = vec![8, 3, 2, 1, 0]);
        assert_eq!((catalog.check(), catalog.slots(1)), (Ok(()), vec![8, 3, 2, 1, 0]));
        for part_of in [3, 4, 1] {
            let mut catalog = workload().catalog();
            catalog.measures[3].part_of = Some(part_of);
            let fault = CatalogFault::PartOf { measure: "body bytes".into() };
            assert_eq!(catalog.check(), Err(fault), "of {part_of}");
        }
        for transferred in [vec![1], vec![4], vec![2, 2]] {
            let catalog = Catalog { transferred, ..workload().catalog() };
            assert_eq!(catalog.check(), Err(CatalogFault::Transferred));
        }
        assert_eq!(refused(|catalog| catalog.kinds[0].expected[0].measure = 4), expected("/a"));
        assert_eq!(refused(|catalog| catalog.kinds[0].expected[0].mean = 501.0), expected("/a"));
        assert_eq!(refused(|catalog| catalog.kinds[0].expected[0].least = 501), expected("/a"));
        let twice =
            |catalog: &mut Catalog| catalog.kinds[0].expected = [catalog.kinds[0].expected[0]; 2].into();
        assert_eq!(refused(twice), expected("/a"));
        assert_eq!(refused(|catalog| catalog.kinds[0].share = Some(0.5)), CatalogFault::Shares);
        assert_eq!(refused(|catalog| catalog.kinds[1].share = None), CatalogFault::Shares);
        assert_eq!(refused(|catalog| catalog.kinds[0].share_gap_max = Some(f64::NAN)), CatalogFault::Shares);
    }
}
