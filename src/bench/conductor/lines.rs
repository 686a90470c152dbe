//! What happens in a test as lines that a person can read, in the columns of rados bench. Latencies in seconds, bandwidth in MiB/s.

use std::time::Duration;

use super::events::{Event, Line, Place};
use crate::bench::protocol::Doing;
use crate::contract::{Point, RoundReport};
use crate::results::{counted, op_text};
use crate::units::{bandwidth_text, bytes_text, link_text};

const HEADER: &str = "  sec  in flight   started  finished  avg MiB/s  cur MiB/s  last lat(s)  avg lat(s)";
/// The header comes again after so many lines.
const HEADER_EVERY: u64 = 20;
const MIB: f64 = 1_048_576.0;

impl Line {
    pub fn new(second: u64, time: Duration, since_last: Duration, doing: Doing, new_bytes: u64) -> Line {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let timed = doing.ops > 0 && doing.latency_sum_nanos > 0;
        Line {
            second,
            ramp: !doing.measuring,
            in_flight: doing.in_flight,
            started: doing.ops + doing.errors + doing.in_flight,
            finished: doing.ops + doing.errors,
            errors: doing.errors,
            average_bytes_per_second: doing.bytes as f64 / time.as_secs_f64(),
            current_bytes_per_second: new_bytes as f64 / since_last.as_secs_f64(),
            last_latency: timed.then(|| seconds(doing.last_latency_nanos)),
            average_latency: timed.then(|| seconds(doing.latency_sum_nanos) / doing.ops as f64),
        }
    }

    fn text(&self) -> String {
        let latency = |seconds: Option<f64>| seconds.map_or("-".into(), |seconds| format!("{seconds:.6}"));
        let mut text = format!(
            "{:>5} {:>10} {:>9} {:>9} {:>10.1} {:>10.1} {:>12} {:>11}",
            self.second,
            self.in_flight,
            self.started,
            self.finished,
            self.average_bytes_per_second / MIB,
            self.current_bytes_per_second / MIB,
            latency(self.last_latency),
            latency(self.average_latency),
        );
        if self.errors > 0 {
            text += &format!("  {} errors", self.errors);
        }
        if self.ramp {
            text += "  ramp";
        }
        text
    }
}

/// The lines for an event; some take none.
pub fn text_of(event: &Event) -> Option<String> {
    Some(match event {
        Event::Registered { client, node, clients } => format!("client {client} of {clients} is here, on {node}"),
        Event::Saying { client, node, text } => format!("client {client} on {node}: {text}"),
        Event::Preparing(place) => format!("{}: preparing", place.text()),
        Event::Started(place) => {
            let Point { ramp_up_micros, duration_micros, .. } = place.point;
            let seconds = |micros: &u64| *micros as f64 / 1e6;
            format!(
                "{}: {} s ramp, {} s measured\n{HEADER}",
                place.text(),
                seconds(ramp_up_micros),
                seconds(duration_micros)
            )
        }
        Event::Second(line) if line.second % HEADER_EVERY == 0 => format!("{}\n{HEADER}", line.text()),
        Event::Second(line) => line.text(),
        Event::Done { place, round } => {
            format!("{}: {}", place.text(), figures(place.point, round))
        }
        Event::CleaningUp => "cleaning up".into(),
        Event::NotCleaned { client, node, problem } => format!("client {client} on {node}: not cleaned up: {problem}"),
    })
}

fn figures(point: &Point, round: &RoundReport) -> String {
    let seconds = (round.elapsed_micros as f64 / 1e6).max(1e-6);
    let directions = [("read", &round.read), ("write", &round.write)];
    let figures = directions.into_iter().filter_map(|(name, direction)| {
        let direction = direction.as_ref()?;
        let rate = direction.bytes as f64 / seconds;
        Some(match point.link {
            Some(_) => link_text(rate),
            None => format!("{name} {}, {:.0} ops/s", bandwidth_text(rate), direction.ops as f64 / seconds),
        })
    });
    figures.collect::<Vec<_>>().join("; ")
}

impl Place<'_> {
    /// Such as `point 1 of 4, round 2 of 3: randread depth 32 jobs 1 4 KiB`.
    pub fn text(&self) -> String {
        let Place { point, index, points, round } = self;
        let what = match (point.op, point.link) {
            (_, Some(link)) => {
                let streams = counted(link.streams.into(), "stream");
                format!("client {} to client {}, {streams}", link.source, link.target)
            }
            (Some(op), None) => format!("{} depth {} jobs {}", op_text(op), point.queue_depth, point.jobs),
            (None, None) => "nothing".into(),
        };
        let block = bytes_text(point.block_size);
        format!("point {} of {points}, round {} of {}: {what} {block}", index + 1, round + 1, point.rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_columns_of_its_header() {
        let doing = Doing {
            measuring: true,
            ops: 107,
            bytes: 428 << 20,
            errors: 0,
            in_flight: 16,
            latency_sum_nanos: 107 * 37_200_000,
            last_latency_nanos: 35_400_000,
        };
        let line = Line::new(1, Duration::from_secs(1), Duration::from_secs(1), doing, 428 << 20);
        assert_eq!(line.text(), "    1         16       123       107      428.0      428.0     0.035400    0.037200");
        assert_eq!(line.text().len(), HEADER.len());
    }

    #[test]
    fn without_operations_there_is_no_latency() {
        let line = Line::new(1, Duration::from_secs(1), Duration::from_secs(1), Doing::default(), 0);
        assert_eq!((line.last_latency, line.average_latency), (None, None));
        assert!(line.text().ends_with("ramp"), "{}", line.text());
    }
}
