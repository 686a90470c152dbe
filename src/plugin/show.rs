//! Progress on standard error: a bar on a terminal, plain lines elsewhere, each said once. Standard output is for results.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub enum Progress {
    Bar(ProgressBar),
    Lines { last: String },
}

impl Progress {
    pub fn new() -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress::Lines { last: String::new() };
        }
        let bar = ProgressBar::new(100);
        let style = ProgressStyle::with_template("{spinner} [{elapsed_precise}] {bar:30} {msg}");
        bar.set_style(style.expect("a template of known fields"));
        bar.enable_steady_tick(Duration::from_millis(250));
        Progress::Bar(bar)
    }

    pub fn going(&mut self, line: &str, percent: u64) {
        match self {
            Progress::Bar(bar) => {
                bar.set_position(percent);
                bar.set_message(line.to_owned());
            }
            Progress::Lines { last } => {
                if last != line {
                    eprintln!("{line}");
                    line.clone_into(last);
                }
            }
        }
    }

    /// Says something that stays.
    pub fn note(&self, text: &str) {
        match self {
            Progress::Bar(bar) => bar.println(text),
            Progress::Lines { .. } => eprintln!("{text}"),
        }
    }

    pub fn end(self) {
        match self {
            Progress::Bar(bar) => bar.finish_and_clear(),
            Progress::Lines { .. } => {}
        }
    }
}
