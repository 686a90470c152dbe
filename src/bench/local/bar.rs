//! A bar on a terminal's standard error: which test, which point, how far, how fast. Where standard error is no terminal, a line for each
//! round. Never on standard output, which belongs to the result.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::{Watch, tasks};
use crate::bench::conductor::{Event, text_of};
use crate::plan::{PlannedTest, estimate};
use crate::units::{bandwidth_text, time_text};

const STYLE: &str = "{msg}\n{wide_bar} {percent:>3}% of {prefix}";

pub struct Bar {
    bar: Option<ProgressBar>,
    title: String,
    place: String,
    /// Seconds of the rounds before this one.
    done: u64,
    round: u64,
}

impl Bar {
    /// For a run that measures for so long.
    pub fn new(seconds: u64) -> Bar {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(seconds.max(1));
            bar.set_style(ProgressStyle::with_template(STYLE).expect("the template is a constant"));
            bar.set_prefix(time_text(Duration::from_secs(seconds)));
            bar
        });
        Bar { bar, title: String::new(), place: String::new(), done: 0, round: 0 }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(text.to_owned()),
            None => print(text),
        }
    }

    /// Takes the bar away, so that the result stands alone.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// What stays on the screen above the bar.
    fn keep(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => print(text),
        }
    }
}

/// A reader that is gone does not end a run.
fn print(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// Seconds that all tests of a run take, measuring and ramps.
pub fn seconds<'a>(tests: impl Iterator<Item = &'a PlannedTest>) -> u64 {
    tests.map(|test| estimate(test, tasks::clients(test)).seconds).sum()
}

impl Watch for Bar {
    fn test(&mut self, test: &PlannedTest, index: usize, tests: usize) {
        self.title = format!("test {} of {tests}, {}", index + 1, test.name);
        self.say(&self.title);
    }

    fn stopping(&mut self, signal: &str) {
        self.keep(&format!(
            "{signal}: removing what the run made; interrupt again to end at once, and what is left then stays"
        ));
    }

    fn event(&mut self, event: &Event) {
        let text = text_of(event);
        match event {
            Event::Registered { .. } => {}
            Event::Second(line) => {
                let Some(bar) = &self.bar else { return };
                bar.set_position(self.done + line.second.min(self.round));
                let rate = bandwidth_text(line.current_bytes_per_second);
                let ramp = if line.ramp { " (ramp)" } else { "" };
                self.say(&format!("{}, {}: {rate}{ramp}", self.title, self.place));
            }
            Event::Started(place) => {
                self.place = place.text();
                self.round = (place.point.ramp_up_micros + place.point.duration_micros) / 1_000_000;
                if self.bar.is_some() {
                    self.say(&format!("{}, {}", self.title, self.place));
                }
            }
            Event::Done { .. } => {
                self.done += self.round;
                if let Some(bar) = &self.bar {
                    bar.set_position(self.done);
                } else if let Some(text) = text {
                    self.say(&text);
                }
            }
            Event::NotCleaned { .. } => self.keep(&text.unwrap_or_default()),
            Event::Saying { .. } | Event::Preparing(_) | Event::CleaningUp => {
                if let (Some(_), Some(text)) = (&self.bar, text) {
                    self.say(&format!("{}, {text}", self.title));
                }
            }
        }
    }
}
