//! Amounts as people read them.

use std::time::Duration;

/// Bytes as people read them, with a binary prefix: `4 KiB`, `1.5 MiB`.
pub fn bytes_text(bytes: u64) -> String {
    scaled_text(bytes as f64, bytes < 1024, "")
}

/// Bytes per second as people read them: `412.6 MiB/s`.
pub fn bandwidth_text(bytes_per_second: f64) -> String {
    scaled_text(bytes_per_second, bytes_per_second < 1024.0, "/s")
}

fn scaled_text(value: f64, small: bool, suffix: &str) -> String {
    const PREFIXES: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if small {
        return format!("{value:.0} B{suffix}");
    }
    let mut scaled = value / 1024.0;
    let mut prefix = 0;
    while scaled >= 1024.0 && prefix + 1 < PREFIXES.len() {
        scaled /= 1024.0;
        prefix += 1;
    }
    let digits = if (scaled - scaled.round()).abs() < 0.05 { 0 } else { 1 };
    format!("{scaled:.digits$} {}{suffix}", PREFIXES[prefix])
}

/// A link's rate as people read it, in decimal bits: `941.5 Mbit/s`, `9.41 Gbit/s`.
pub fn link_text(bytes_per_second: f64) -> String {
    let megabits = bytes_per_second * 8.0 / 1e6;
    if megabits >= 1000.0 { format!("{:.2} Gbit/s", megabits / 1000.0) } else { format!("{megabits:.1} Mbit/s") }
}

/// A latency as people read it: `85.3 µs`, `1.74 ms`, `2.10 s`.
pub fn latency_text(micros: f64) -> String {
    if micros < 1_000.0 {
        format!("{micros:.1} µs")
    } else if micros < 1_000_000.0 {
        format!("{:.2} ms", micros / 1_000.0)
    } else {
        format!("{:.2} s", micros / 1_000_000.0)
    }
}

/// A length of time as people read it: `1m 30s`.
pub fn time_text(time: Duration) -> String {
    humantime::format_duration(Duration::from_secs(time.as_secs())).to_string()
}
