//! HdrHistogram's interval log, format version 1.3: response times second by second, for tools that read such logs.
//!
//! Values are in ns; `Interval_Max`, which is for people, is in ms, as the Java writer writes it. Every line has a tag:
//! `1:steady` for all operations of a phase of load point 1, `1:steady:/file5k.html` for those of one kind. Lines of kinds
//! cover up to 10 s each and follow all other lines of their load point.
//!
//! Source: `HistogramLogWriter` and `encodeIntoCompressedByteBuffer` of HdrHistogram 2.x. Our buckets are the same as
//! those of its three significant digits, so that every count is copied exactly.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::{DetailRecord, IntervalRecord, Load, Phase, Plan};
use stats::Histogram;
use units::{Nanos, WallTime};

/// Maximum count of the format.
const COUNT_MAX: u64 = i64::MAX as u64;

/// A writer of the log of one run, piece by piece.
pub struct IntervalLog {
    begin: WallTime,
    /// Load and start time of each load point, by index.
    points: BTreeMap<u32, (Load, WallTime)>,
    /// Names of the kinds of operations, valid in tags.
    kinds: Vec<String>,
    /// Load point of the previous line.
    current: Option<u32>,
    scratch: Hdr<u64>,
    serializer: V2DeflateSerializer,
}

impl IntervalLog {
    /// Creates the writer for a run that started at `begin`; `begun` has the start times of load points by index.
    pub fn new(plan: &Plan, begin: WallTime, begun: &[(u32, WallTime)]) -> IntervalLog {
        let began = |index| begun.iter().find(|(one, _)| *one == index).map_or(begin, |(_, at)| *at);
        let points = plan.load_points.iter().map(|point| (point.index, (point.load, began(point.index))));
        IntervalLog {
            begin,
            points: points.collect(),
            kinds: plan.catalog.kinds.iter().map(|kind| fit_for_tag(&kind.name)).collect(),
            current: None,
            scratch: Hdr::new_with_bounds(1, Histogram::HIGHEST.0, 3)
                .expect("bounds that HdrHistogram allows"),
            serializer: V2DeflateSerializer::new(),
        }
    }

    /// Returns the lines before the first interval. `title` describes the run in one line.
    pub fn head(&self, title: &str) -> String {
        let title = title.replace(['\r', '\n'], " ");
        let begin = self.begin.0 as f64 / 1e3;
        format!(
            "#[{title}]\n\
             #[Values: response time of successful operations in ns; Interval_Max in ms; tags: load point:phase[:kind]]\n\
             #[Histogram log format version 1.3]\n\
             #[StartTime: {begin:.3} (seconds since epoch)]\n\
             #[BaseTime: {begin:.3} (seconds since epoch)]\n\
             \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
        )
    }

    /// Returns the line of an interval, after a comment where a load point begins.
    pub fn interval(&mut self, record: &IntervalRecord) -> String {
        let mut lines = String::new();
        if self.current.replace(record.load_point) != Some(record.load_point)
            && let Some((load, _)) = self.points.get(&record.load_point)
        {
            lines = format!("#[Load point {}: {load}]\n", u64::from(record.load_point) + 1);
        }
        let IntervalRecord { load_point, phase, start, end, .. } = *record;
        let place = TaggedSpan { load_point, phase, start, end };
        lines + &self.line(&place, None, &record.response)
    }

    /// Returns the lines of the kinds of which an operation succeeded in the stretch.
    pub fn detail(&mut self, record: &DetailRecord) -> String {
        let DetailRecord { load_point, phase, start, end, .. } = *record;
        let place = TaggedSpan { load_point, phase, start, end };
        let happened = record.detail.response.iter().enumerate().filter(|(_, response)| 0 < response.n());
        happened.map(|(kind, response)| self.line(&place, Some(kind), response)).collect()
    }

    fn line(&mut self, span: &TaggedSpan, kind: Option<usize>, response: &Histogram) -> String {
        let began = self.points.get(&span.load_point).map_or(self.begin, |(_, began)| *began);
        let before = began.0.saturating_sub(self.begin.0) as f64 / 1e3;
        let start = (before + span.start.as_secs_f64()).max(0.0);
        let length = span.end.saturating_sub(span.start).as_secs_f64();
        let mut tag = format!("{}:{}", u64::from(span.load_point) + 1, span.phase.name());
        if let Some(kind) = kind {
            tag += &self.kinds.get(kind).map_or_else(|| format!(":{kind}"), |name| format!(":{name}"));
        }
        let max = response.max().unwrap_or_default().as_millis_f64();
        format!("Tag={tag},{start:.3},{length:.3},{max:.3},{}\n", self.encoded(response))
    }

    /// Encodes a histogram: V2, compressed, base64.
    fn encoded(&mut self, histogram: &Histogram) -> String {
        self.scratch.reset();
        for bucket in histogram.buckets() {
            self.scratch.saturating_record_n(bucket.low.0, bucket.count.min(COUNT_MAX));
        }
        let mut bytes = Vec::new();
        self.serializer.serialize(&self.scratch, &mut bytes).expect("counts that fit, written to memory");
        BASE64.encode(bytes)
    }
}

/// Load point, phase and time of a histogram.
struct TaggedSpan {
    load_point: u32,
    phase: Phase,
    start: Nanos,
    end: Nanos,
}

/// Replaces the characters that would end a tag.
fn fit_for_tag(name: &str) -> String {
    name.replace(|letter: char| letter == ',' || letter.is_whitespace() || letter.is_control(), "_")
}
