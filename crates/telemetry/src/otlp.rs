//! Metrics in the JSON form of OTLP.
//!
//! Source: OpenTelemetry Protocol 1.x, `ExportMetricsServiceRequest`, mapped by protobuf's JSON mapping with OTLP's own
//! rules: lowerCamelCase names, numbers of 64 bits as strings, enumerations as numbers.

use serde_json::{Value as Json, json};
use units::WallTime;

use crate::families::{DataPoint, FAMILIES, MetricFamily, MetricKind, MetricValue};
use crate::response_histogram::BOUNDS;
use crate::totals::Snapshot;

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`: every push has all totals, so a lost push loses nothing.
const CUMULATIVE: u32 = 2;

/// Makes the body of a push.
pub(crate) fn request(snapshot: &Snapshot, now: WallTime) -> Json {
    let metrics: Vec<Json> = FAMILIES.iter().filter_map(|family| metric(family, snapshot, now)).collect();
    json!({
        "resourceMetrics": [{
            "resource": { "attributes": [
                attribute("service.name", "plimsoll"),
                attribute("service.version", &snapshot.program),
            ] },
            "scopeMetrics": [{
                "scope": { "name": "plimsoll", "version": snapshot.program },
                "metrics": metrics,
            }],
        }],
    })
}

/// Returns a metric; `None` if it has no values.
fn metric(family: &MetricFamily, snapshot: &Snapshot, now: WallTime) -> Option<Json> {
    let mut points = Vec::new();
    for (index, run) in snapshot.runs.iter().enumerate() {
        let of_run = (family.points)(run, index == snapshot.current);
        points.extend(of_run.iter().map(|point| data_point(point, &run.run.server, snapshot.began, now)));
    }
    let (kind, mut data) = match family.kind {
        MetricKind::Total => ("sum", json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true })),
        MetricKind::Level => ("gauge", json!({})),
        MetricKind::Distribution => ("histogram", json!({ "aggregationTemporality": CUMULATIVE })),
    };
    let is_empty = points.is_empty();
    data["dataPoints"] = points.into();
    let metric = json!({ "name": family.name, "description": family.description, "unit": family.unit.ucum, kind: data });
    (!is_empty).then_some(metric)
}

fn data_point(point: &DataPoint, server: &str, began: WallTime, now: WallTime) -> Json {
    let own = point.labels.iter().map(|(name, value)| attribute(name, value));
    let attributes: Vec<Json> = std::iter::once(attribute("server", server)).chain(own).collect();
    let mut json = json!({
        "attributes": attributes,
        "startTimeUnixNano": unix_nano(began),
        "timeUnixNano": unix_nano(now),
    });
    match point.value {
        MetricValue::Count(count) => json["asInt"] = count.to_string().into(),
        MetricValue::Number(number) => json["asDouble"] = number.into(),
        MetricValue::Distribution(response) => {
            json["count"] = response.n().to_string().into();
            json["sum"] = response.sum_s().into();
            json["bucketCounts"] = response.counts.iter().map(u64::to_string).collect();
            json["explicitBounds"] = BOUNDS.iter().map(|bound| bound.as_secs_f64()).collect();
        }
    }
    json
}

fn attribute(name: &str, value: &str) -> Json {
    json!({ "key": name, "value": { "stringValue": value } })
}

fn unix_nano(time: WallTime) -> String {
    (i128::from(time.0) * 1_000_000).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::totals::tests::{hostile, snapshot};

    fn metrics(request: &Json) -> &Vec<Json> {
        request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap()
    }

    fn named<'a>(request: &'a Json, name: &str) -> &'a Json {
        metrics(request).iter().find(|metric| metric["name"] == name).unwrap()
    }

    #[test]
    fn a_total_is_a_monotonic_sum_with_its_times_in_ns() {
        let request = request(&snapshot(), WallTime(12_000));
        let expected = json!({
            "name": "plimsoll.operations.due",
            "description": "Operations that fell due.",
            "unit": "{operation}",
            "sum": {
                "aggregationTemporality": 2,
                "isMonotonic": true,
                "dataPoints": [
                    {
                        "attributes": [{ "key": "server", "value": { "stringValue": "nginx" } }],
                        "startTimeUnixNano": "2000000000",
                        "timeUnixNano": "12000000000",
                        "asInt": "5",
                    },
                    {
                        "attributes": [{ "key": "server", "value": { "stringValue": "apache" } }],
                        "startTimeUnixNano": "2000000000",
                        "timeUnixNano": "12000000000",
                        "asInt": "0",
                    },
                ],
            },
        });
        assert_eq!(named(&request, "plimsoll.operations.due"), &expected);
    }

    #[test]
    fn a_histogram_has_one_count_more_than_bounds() {
        let request = request(&snapshot(), WallTime(12_000));
        let point = &named(&request, "plimsoll.response")["histogram"]["dataPoints"][0];
        let counts = point["bucketCounts"].as_array().unwrap();
        let bounds = point["explicitBounds"].as_array().unwrap();
        assert_eq!(counts.len(), bounds.len() + 1);
        assert_eq!((&point["count"], &point["sum"]), (&json!("3"), &json!(0.0071)));
        // 1.1 ms; 2 ms, whose bucket ends above the bound, and 4 ms.
        assert_eq!((&bounds[4], &counts[4], &counts[5]), (&json!(0.002), &json!("1"), &json!("2")));
    }

    #[test]
    fn gauges_are_of_the_current_run() {
        let request = request(&snapshot(), WallTime(12_000));
        let points = &named(&request, "plimsoll.users")["gauge"]["dataPoints"];
        assert_eq!(points.as_array().unwrap().len(), 1);
        assert_eq!(points[0]["asDouble"], 20.0);
        assert!(!metrics(&request).iter().any(|metric| metric["name"] == "plimsoll.offered"));
    }

    #[test]
    fn a_hostile_name_is_exported_as_plain_text() {
        let request = request(&hostile(), WallTime(0));
        let attribute = &named(&request, "plimsoll.transferred")["sum"]["dataPoints"][0]["attributes"][0];
        assert_eq!(attribute["value"]["stringValue"], "a\"b\\c\nd");
    }
}
