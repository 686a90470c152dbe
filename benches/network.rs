//! TCP streams against iperf3, over loopback, where the processor is the limit: one stream and four; alternating, as ratios within one
//! run, with the CPU time that both ends took for a byte. Exits with 1 when a median ratio is below 0.97.
//!
//! `CEPHBENCH_BENCH_SECONDS` per run (3) and `_ROUNDS` (5) change what is run.

use std::io::Write;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use cephbench::units::link_text;
use serde_json::Value;

const LEAST_RATIO: f64 = 0.97;
const STREAMS: [u32; 2] = [1, 4];
const PORT: &str = "55201";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench of network: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<bool> {
    let seconds = number("SECONDS", 3)?;
    let rounds = number("ROUNDS", 5)? as usize;
    let version = Command::new("iperf3").arg("--version").output().context("start iperf3 (Debian package iperf3)")?;
    println!("peer: {}", String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or_default());
    let mut fine = true;
    for streams in STREAMS {
        fine &= compare(streams, seconds, rounds)?;
    }
    Ok(fine)
}

fn number(name: &str, otherwise: u64) -> anyhow::Result<u64> {
    let name = format!("CEPHBENCH_BENCH_{name}");
    match std::env::var(&name) {
        Ok(text) => text.parse().with_context(|| format!("{name}={text}: not a number")),
        Err(_) => Ok(otherwise),
    }
}

fn compare(streams: u32, seconds: u64, rounds: usize) -> anyhow::Result<bool> {
    println!("\nTCP, {streams} at once");
    println!("  ours:   cephbench run, network, {}", workload(streams, seconds));
    println!("  iperf3: iperf3 {}", iperf_arguments(streams, seconds).join(" "));
    let (mut ours, mut peers, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let (own, peer) = (own(streams, seconds)?, iperf(streams, seconds)?);
        println!(
            "  round {}: ours {}, iperf3 {}, ratio {:.3}; CPU per KiB {:.3} and {:.3} µs",
            round + 1,
            link_text(own.rate),
            link_text(peer.rate),
            own.rate / peer.rate,
            own.cpu_per_kib(seconds),
            peer.cpu_per_kib(seconds),
        );
        ours.push(own.rate);
        peers.push(peer.rate);
        ratios.push(own.rate / peer.rate);
    }
    for (who, rates) in [("ours", &mut ours), ("iperf3", &mut peers)] {
        rates.sort_by(f64::total_cmp);
        let median = rates[rates.len() / 2];
        let spread = (rates[rates.len() - 1] - rates[0]) / median * 100.0;
        println!("  {who}: median {}, spread {spread:.1} %", link_text(median));
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    let verdict = if ratio >= LEAST_RATIO { "fine" } else { "too slow" };
    println!("  ratio: median {ratio:.3} of {LEAST_RATIO} needed: {verdict}");
    Ok(ratio >= LEAST_RATIO)
}

struct Figures {
    /// Bytes per second.
    rate: f64,
    /// Of both ends, in the time measured.
    cpu_seconds: f64,
}

impl Figures {
    /// In microseconds.
    fn cpu_per_kib(&self, seconds: u64) -> f64 {
        self.cpu_seconds * 1e6 / (self.rate * seconds as f64 / 1024.0)
    }
}

fn workload(streams: u32, seconds: u64) -> String {
    format!("{{streams: [{streams}]}}, workload: {{rampUp: 1s, duration: {seconds}s, rounds: 1}}")
}

fn own(streams: u32, seconds: u64) -> anyhow::Result<Figures> {
    let spec = format!(
        "{{apiVersion: cephbench.io/v1alpha1, kind: CephBenchmark, metadata: {{name: bench}}, spec: {{tests: [{{name: n, \
         network: {}}}]}}}}",
        workload(streams, seconds)
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_cephbench"))
        .args(["run", "-o", "json", "-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    child.stdin.take().context("piped")?.write_all(spec.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "cephbench exits with {}", output.status);
    let object: Value = serde_json::from_slice(&output.stdout)?;
    let points = object["status"]["tests"][0]["points"].as_array().context("no points")?;
    // Both directions are the same wire here.
    let mean = |of: &dyn Fn(&Value) -> Option<f64>| -> anyhow::Result<f64> {
        let figures = points.iter().map(of).collect::<Option<Vec<f64>>>().context("a point without a figure")?;
        Ok(figures.iter().sum::<f64>() / figures.len() as f64)
    };
    Ok(Figures {
        rate: mean(&|point| point["bandwidth"]["bytesPerSecond"].as_f64())?,
        cpu_seconds: mean(&|point| point["cpu"]["seconds"].as_f64())?,
    })
}

fn iperf_arguments(streams: u32, seconds: u64) -> Vec<String> {
    let text = format!("-c 127.0.0.1 -p {PORT} -P {streams} -O 1 -t {seconds} -J");
    text.split(' ').map(str::to_owned).collect()
}

fn iperf(streams: u32, seconds: u64) -> anyhow::Result<Figures> {
    let mut server =
        Command::new("iperf3").args(["-s", "-1", "-p", PORT]).stdout(Stdio::null()).spawn().context("start iperf3")?;
    let result = iperf_client(streams, seconds);
    if result.is_err() {
        let _ = server.kill();
    }
    end(server)?;
    result
}

fn end(mut server: Child) -> anyhow::Result<()> {
    server.wait()?;
    Ok(())
}

fn iperf_client(streams: u32, seconds: u64) -> anyhow::Result<Figures> {
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(100));
        let output = Command::new("iperf3").args(iperf_arguments(streams, seconds)).output()?;
        let object: Value = serde_json::from_slice(&output.stdout).context("iperf3's JSON")?;
        let end = &object["end"];
        // The server may not listen yet.
        let Some(bits) = end["sum_received"]["bits_per_second"].as_f64() else { continue };
        let percent = |who: &str| end["cpu_utilization_percent"][who].as_f64().unwrap_or_default();
        let cpu_seconds = (percent("host_total") + percent("remote_total")) / 100.0 * seconds as f64;
        return Ok(Figures { rate: bits / 8.0, cpu_seconds });
    }
    bail!("iperf3 does not connect")
}
