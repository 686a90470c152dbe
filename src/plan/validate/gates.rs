//! Gates: what each looks at exists, and its limits are amounts of its metric.

use super::super::problem::{Problems, quoted, written};
use super::super::{Limit, PlannedGate, PlannedTest};
use super::sweep::op_name;
use crate::api::{Amount, Gate, Kind, Metric, Test};
use crate::contract::Point;
use crate::units::{self, AmountError, quantity_text};

impl PlannedGate {
    /// Whether the gate looks at this point of its test.
    pub fn selects(&self, point: &Point) -> bool {
        let Self {
            name: _,
            test: _,
            metric: _,
            op,
            block_size,
            object_size,
            queue_depth,
            jobs,
            streams,
            min: _,
            max: _,
        } = self;
        op.is_none_or(|op| point.op == Some(op))
            && block_size.is_none_or(|size| point.block_size == size)
            && object_size.is_none_or(|size| point.object_size == Some(size))
            && queue_depth.is_none_or(|depth| point.link.is_none() && point.queue_depth == depth)
            && jobs.is_none_or(|jobs| point.link.is_none() && point.jobs == jobs)
            && streams.is_none_or(|streams| point.link.is_some_and(|link| link.streams == streams))
    }
}

/// `planned` stands beside `tests`; a test that was refused is absent there.
pub(super) fn plan(
    field: &str,
    gate: &Gate,
    tests: &[Test],
    planned: &[Option<PlannedTest>],
    problems: &mut Problems,
) -> Option<PlannedGate> {
    let before = problems.0.len();
    let test = tests.iter().position(|test| test.name == gate.test);
    match test {
        Some(index) => check_metric(field, gate, &tests[index], problems),
        None => {
            let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
            problems.add(
                format!("{field}.test"),
                quoted(&gate.test),
                format!("no test has this name; there are {}", names.join(", ")),
            );
        }
    }
    let (min, max) = limits(field, gate, problems);
    let mut size = |name: &str, amount: &Option<Amount>| {
        let amount = amount.as_ref()?;
        problems.keep(&format!("{field}.{name}"), written(amount), units::bytes(amount))
    };
    let read = PlannedGate {
        name: gate.name.clone(),
        test: gate.test.clone(),
        metric: gate.metric,
        op: gate.op,
        block_size: size("blockSize", &gate.block_size),
        object_size: size("objectSize", &gate.object_size),
        queue_depth: gate.queue_depth,
        jobs: gate.jobs,
        streams: gate.streams,
        min,
        max,
    };
    if let Some(test) = test.and_then(|index| planned[index].as_ref()) {
        check_selection(field, gate, &read, test, problems);
    }
    (problems.0.len() == before).then_some(read)
}

/// A link has no operations: neither their number nor their latencies.
fn check_metric(field: &str, gate: &Gate, test: &Test, problems: &mut Problems) {
    let has = match gate.metric {
        Metric::Bandwidth | Metric::Errors => true,
        Metric::Iops
        | Metric::LatencyMean
        | Metric::LatencyP50
        | Metric::LatencyP95
        | Metric::LatencyP99
        | Metric::LatencyP999
        | Metric::LatencyMax => match test.kind {
            Kind::Disk(_) | Kind::Rados(_) => true,
            Kind::Network(_) => false,
        },
    };
    if !has {
        let message = format!("test {} is a network test, which has bandwidth and errors only", test.name);
        problems.add(format!("{field}.metric"), metric_name(gate.metric), message);
    }
}

fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Bandwidth => "bandwidth",
        Metric::Iops => "iops",
        Metric::LatencyMean => "latencyMean",
        Metric::LatencyP50 => "latencyP50",
        Metric::LatencyP95 => "latencyP95",
        Metric::LatencyP99 => "latencyP99",
        Metric::LatencyP999 => "latencyP999",
        Metric::LatencyMax => "latencyMax",
        Metric::Errors => "errors",
    }
}

fn limits(field: &str, gate: &Gate, problems: &mut Problems) -> (Option<Limit>, Option<Limit>) {
    if gate.min.is_none() && gate.max.is_none() {
        problems.add(field, "", "has neither min nor max, so it judges nothing; set one, or both");
    }
    let mut read = |name: &str, amount: &Option<Amount>| {
        let amount = amount.as_ref()?;
        problems.keep(&format!("{field}.{name}"), written(amount), limit(gate.metric, amount))
    };
    let min = read("min", &gate.min);
    let max = read("max", &gate.max);
    if let Some(min) = min.as_ref().filter(|min| min.value <= 0.0) {
        problems.add(
            format!("{field}.min"),
            &min.text,
            "is reached by every figure, so the gate could not fail; leave it out or raise it",
        );
    }
    if let (Some(min), Some(max)) = (&min, &max)
        && min.value > max.value
    {
        let value = format!("min {}, max {}", min.text, max.text);
        problems.add(field, value, "no figure can be both; min is at most max");
    }
    (min, max)
}

fn limit(metric: Metric, amount: &Amount) -> Result<Limit, AmountError> {
    let value = match metric {
        Metric::Bandwidth => units::bandwidth(amount)? as f64,
        Metric::Iops => units::iops(amount)?,
        Metric::LatencyMean
        | Metric::LatencyP50
        | Metric::LatencyP95
        | Metric::LatencyP99
        | Metric::LatencyP999
        | Metric::LatencyMax => units::latency(amount)?.as_micros() as f64,
        Metric::Errors => units::count(amount)? as f64,
    };
    let text = match amount {
        Amount::Number(number) => number.to_string(),
        Amount::Text(text) => text.clone(),
    };
    Ok(Limit { value, text })
}

/// A gate that no point answers to would be judged by nothing.
fn check_selection(field: &str, gate: &Gate, read: &PlannedGate, test: &PlannedTest, problems: &mut Problems) {
    let before = problems.0.len();
    let of_link = |number: u32, point: &Point| point.link.is_none().then_some(u64::from(number));
    let mut check =
        |name: &str, value: Option<(String, u64)>, of: &dyn Fn(&Point) -> Option<u64>, show: fn(u64) -> String| {
            let Some((text, wanted)) = value else { return };
            let mut there: Vec<u64> = test.points.iter().filter_map(of).collect();
            if there.contains(&wanted) {
                return;
            }
            there.sort_unstable();
            there.dedup();
            let there: Vec<String> = there.into_iter().map(show).collect();
            let message = if there.is_empty() {
                format!("test {} has no {name}", test.name)
            } else {
                format!("no point of test {} has it; there are {}", test.name, there.join(", "))
            };
            problems.add(format!("{field}.{name}"), text, message);
        };
    let size = |amount: &Option<Amount>, value: Option<u64>| amount.as_ref().map(written).zip(value);
    let number = |number: Option<u32>| number.map(|number| (number.to_string(), u64::from(number)));
    check("blockSize", size(&gate.block_size, read.block_size), &|point| Some(point.block_size), quantity_text);
    check("objectSize", size(&gate.object_size, read.object_size), &|point| point.object_size, quantity_text);
    check("queueDepth", number(read.queue_depth), &|point| of_link(point.queue_depth, point), |n| n.to_string());
    check("jobs", number(read.jobs), &|point| of_link(point.jobs, point), |n| n.to_string());
    let streams = |point: &Point| point.link.map(|link| u64::from(link.streams));
    check("streams", number(read.streams), &streams, |n| n.to_string());

    if let Some(op) = read.op.filter(|op| !test.points.iter().any(|point| point.op == Some(*op))) {
        let mut there: Vec<&str> = test.points.iter().filter_map(|point| point.op).map(op_name).collect();
        there.sort_unstable();
        there.dedup();
        let message = if there.is_empty() {
            format!("test {} has no op", test.name)
        } else {
            format!("no point of test {} has it; there are {}", test.name, there.join(", "))
        };
        problems.add(format!("{field}.op"), quoted(op_name(op)), message);
    }
    if problems.0.len() == before && !test.points.iter().any(|point| read.selects(point)) {
        let message = format!(
            "no point of test {} has all that it selects by; without blockSize, a block is the object",
            test.name
        );
        problems.add(field, "", message);
    }
}
