//! OpenTelemetry metrics as JSON (OTLP 1.x, `ExportMetricsServiceRequest`): how long calls took, as exponential
//! histograms of each process.
//!
//! They are those of the recorder, bucket by bucket. What takes OTLP and has such histograms keeps all of that, as
//! Prometheus does in native ones.

use std::io::Write;

use instrument_names::signature::readable;
use instrument_trace::{Histogram, Profile};
use serde_json::{Value, json};

use super::otlp::{resource, text};
use crate::latency::Latency;
use crate::session::{Error, ProfileFile};

/// What the metric is called.
const NAME: &str = "instrument.method.duration";
/// Of cumulative figures.
const CUMULATIVE: u32 = 2;

/// Writes the durations of the processes, each with what it is called, as one request.
///
/// # Errors
/// No durations were kept; those of `out`.
pub fn write(processes: &[(String, &ProfileFile)], out: &mut dyn Write) -> Result<(), Error> {
    let mut resources: Vec<Value> = Vec::new();
    for (program, file) in processes {
        let Some(latency) = Latency::kept([*file], &|_| true) else { continue };
        let points: Vec<Value> = points(&latency, &file.profile);
        let metric = json!({
            "name": NAME,
            "description": "How long calls took, from entry to exit",
            "unit": "ns",
            "exponentialHistogram": {"aggregationTemporality": CUMULATIVE, "dataPoints": points},
        });
        resources.push(json!({
            "resource": resource(&file.profile, program),
            "scopeMetrics": [{
                "scope": {"name": "instrument", "version": env!("CARGO_PKG_VERSION")},
                "metrics": [metric],
            }],
        }));
    }
    if resources.is_empty() {
        return Err(Error::Request(
            "--format otlp-metrics: no durations of calls were kept; `instrument run --latency 'Shop#sell'` keeps those of methods".into(),
        ));
    }
    let request = json!({"resourceMetrics": resources});
    writeln!(out, "{request}").map_err(Error::Output)
}

fn points(latency: &Latency, profile: &Profile) -> Vec<Value> {
    let of_method = |(name, durations): (&String, &crate::latency::Durations)| {
        let kinds = [(&durations.returned, None), (&durations.failed, Some("_OTHER"))];
        kinds
            .map(|(histogram, error)| (histogram.count() > 0).then(|| point(name, histogram, error, profile)))
    };
    latency.methods.iter().flat_map(of_method).flatten().collect()
}

/// A histogram as it is, whose buckets have the same numbers.
fn point(name: &str, histogram: &Histogram, error: Option<&str>, profile: &Profile) -> Value {
    let name = readable(name).unwrap_or_else(|| name.to_owned());
    let mut attributes = vec![text("code.function.name", name)];
    attributes.extend(error.map(|error| text("error.type", error)));
    let buckets: Vec<(i32, u64)> = histogram.buckets().collect();
    let offset = buckets.first().map_or(0, |(bucket, _)| *bucket);
    let length = buckets.last().map_or(0, |(bucket, _)| bucket - offset + 1);
    let mut counts = vec!["0".to_owned(); length as usize];
    for (bucket, count) in buckets {
        counts[(bucket - offset) as usize] = count.to_string();
    }
    let begin = profile.start_ms.saturating_mul(1_000_000);
    // Since a reset, if there was one.
    let start = begin.saturating_add(profile.window_clock.saturating_sub(profile.start_clock));
    let last = profile.threads.iter().map(|thread| thread.last_event).max().unwrap_or(0);
    let last = last.max(profile.beat_clock).max(profile.shutdown_clock);
    let end = begin.saturating_add(last.saturating_sub(profile.start_clock));
    let (least, most) = histogram.range().unwrap_or_default();
    json!({
        "attributes": attributes,
        "startTimeUnixNano": start.to_string(),
        "timeUnixNano": end.to_string(),
        "count": histogram.count().to_string(),
        "sum": histogram.sum() as f64,
        "min": least,
        "max": most,
        "scale": 6,
        "zeroCount": histogram.zeros().to_string(),
        "positive": {"offset": offset, "bucketCounts": counts},
    })
}
