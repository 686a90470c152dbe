//! Disk speed against fio, on one file: 4 KiB random reads at depth 1 and 32, and 1 MiB writes; alternating, as ratios within one run.
//! Exits with 1 when a median ratio is below 0.97, or when the bytes that the kernel counted differ by 2 % from those reported.
//!
//! `CEPHBENCH_BENCH_DIRECTORY` (default /var/tmp), `_SIZE` in MiB (2048), `_SECONDS` per run (3; each runs twice in a round) and `_ROUNDS`
//! (5) change what is run. Spreads are the middle half of the rounds.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use cephbench::api::Op;
use cephbench::bench::disk;
use cephbench::bench::load::Load;
use cephbench::bench::runner::{self, Progress};
use cephbench::contract::{FileTarget, NullTarget, Point, Target, Task, VERSION};
use cephbench::units::bandwidth_text;

const LEAST_RATIO: f64 = 0.97;
const MOST_UNCOUNTED: f64 = 0.02;

/// Spread of the rounds' ratios above which more rounds are run, four times as many at most.
const AGREEMENT: f64 = 0.06;

struct Case {
    name: &'static str,
    op: Op,
    fio_rw: &'static str,
    block: u64,
    depth: u32,
}

const CASES: [Case; 3] = [
    Case { name: "4 KiB randread, depth 1", op: Op::RandRead, fio_rw: "randread", block: 4096, depth: 1 },
    Case { name: "4 KiB randread, depth 32", op: Op::RandRead, fio_rw: "randread", block: 4096, depth: 32 },
    Case { name: "1 MiB write, depth 16", op: Op::Write, fio_rw: "write", block: 1 << 20, depth: 16 },
];

/// fio's ways to use io_uring; the faster one is its best.
const FIO_WAYS: [&[&str]; 2] = [&["--fixedbufs", "--registerfiles"], &[]];

struct Settings {
    directory: String,
    size: u64,
    seconds: u64,
    rounds: usize,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench of disk: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<bool> {
    let settings = Settings {
        directory: std::env::var("CEPHBENCH_BENCH_DIRECTORY").unwrap_or_else(|_| "/var/tmp".into()),
        size: number("SIZE", 2048)? << 20,
        seconds: number("SECONDS", 3)?,
        rounds: number("ROUNDS", 5)? as usize,
    };
    let version = Command::new("fio").arg("--version").output().context("start fio (Debian package fio)")?;
    println!("peer: {}", String::from_utf8_lossy(&version.stdout).trim());
    let mut load =
        disk::open_file(&task(), &FileTarget { directory: settings.directory.clone(), size: settings.size })?;
    let result = compare(load.as_mut(), &settings);
    let cleaned = load.clean_up(&mut |text| eprintln!("{text}"));
    let fine = result?;
    cleaned?;
    Ok(fine)
}

fn number(name: &str, otherwise: u64) -> anyhow::Result<u64> {
    let name = format!("CEPHBENCH_BENCH_{name}");
    match std::env::var(&name) {
        Ok(text) => text.parse().with_context(|| format!("{name}={text}: not a number")),
        Err(_) => Ok(otherwise),
    }
}

fn task() -> Task {
    Task {
        version: VERSION,
        run: format!("bench-{}", std::process::id()),
        test: "disk".into(),
        client: 0,
        nodes: vec!["here".into()],
        target: Target::Null(NullTarget { size: 0 }),
        points: Vec::new(),
        prepare_timeout_seconds: 600,
        op_timeout_seconds: 30,
    }
}

fn compare(load: &mut dyn Load, settings: &Settings) -> anyhow::Result<bool> {
    load.prepare(&point(&CASES[0], 1), 0, &mut |text| eprintln!("{text}"))?;
    let (engine, reason) = load.engine();
    println!("engine: {engine}{}", reason.map(|reason| format!(" ({reason})")).unwrap_or_default());
    let file = open_file_below(&settings.directory)?;
    let mut fine = true;
    for case in &CASES {
        println!("\n{}", case.name);
        println!("  ours: {}", own_command(case, settings));
        let way = best_way(case, &file, settings)?;
        println!("  fio:  fio {}", fio_arguments(case, &file, settings.size, settings.seconds, way).join(" "));
        fine &= compare_case(load, case, &file, way, settings)?;
    }
    Ok(fine)
}

fn compare_case(
    load: &mut dyn Load,
    case: &Case,
    file: &Path,
    way: &[&str],
    settings: &Settings,
) -> anyhow::Result<bool> {
    let (mut ours, mut peers, mut ratios, mut fine) = (Vec::new(), Vec::new(), Vec::new(), true);
    let mut round = 0;
    // Where other work on the machine makes the rounds disagree, more of them are needed to say anything, whatever they say.
    while round < settings.rounds || (spread(&ratios) > AGREEMENT && round < settings.rounds * 4) {
        // Each goes first and last once, so that a drift favours neither.
        let own_first = own(load, case, settings.seconds)?;
        let peer_first = fio(case, file, settings.size, settings.seconds, way)?;
        let peer_last = fio(case, file, settings.size, settings.seconds, way)?;
        let own_last = own(load, case, settings.seconds)?;
        let [own, peer] = [own_first.mean(&own_last), peer_first.mean(&peer_last)];
        fine &= own.uncounted.abs() < MOST_UNCOUNTED;
        println!(
            "  round {}: ours {}, fio {}, ratio {:.3}; CPU per operation {:.2} and {:.2} µs; the kernel counted {:+.2} %",
            round + 1,
            text(case, own.rate),
            text(case, peer.rate),
            own.rate / peer.rate,
            own.cpu_micros,
            peer.cpu_micros,
            own.uncounted * 100.0,
        );
        ours.push(own.rate);
        peers.push(peer.rate);
        ratios.push(own.rate / peer.rate);
        round += 1;
    }
    for (who, rates) in [("ours", &ours), ("fio", &peers)] {
        println!("  {who}: median {}, spread {:.1} %", text(case, quantile(rates, 0.5)), spread(rates) * 100.0);
    }
    let ratio = quantile(&ratios, 0.5);
    let verdict = if ratio >= LEAST_RATIO { "fine" } else { "too slow" };
    let spread = spread(&ratios) * 100.0;
    println!("  ratio: median {ratio:.3} of {round} rounds, spread {spread:.1} %; {LEAST_RATIO} needed: {verdict}");
    Ok(fine && ratio >= LEAST_RATIO)
}

fn quantile(values: &[f64], quantile: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * quantile).round() as usize]
}

/// The middle half of the values, as a part of their median.
fn spread(values: &[f64]) -> f64 {
    (quantile(values, 0.75) - quantile(values, 0.25)) / quantile(values, 0.5)
}

fn point(case: &Case, seconds: u64) -> Point {
    Point {
        op: Some(case.op),
        block_size: case.block,
        object_size: None,
        queue_depth: case.depth,
        jobs: 1,
        link: None,
        ramp_up_micros: 500_000,
        duration_micros: seconds * 1_000_000,
        bytes: None,
        rounds: 1,
    }
}

fn own_command(case: &Case, settings: &Settings) -> String {
    format!(
        "cephbench run, disk.file {{directory: {}, size: {}}}, workload {{op: [{}], blockSize: [{}], queueDepth: [{}], \
         rampUp: 500ms, duration: {}s}}, in this process",
        settings.directory, settings.size, case.fio_rw, case.block, case.depth, settings.seconds
    )
}

#[derive(Clone, Copy)]
struct Figures {
    /// Bytes per second.
    rate: f64,
    cpu_micros: f64,
    /// How far the kernel's count of bytes is from what was reported, as a part of that; 0 for fio, of which it isn't known.
    uncounted: f64,
}

impl Figures {
    fn mean(&self, other: &Figures) -> Figures {
        Figures {
            rate: (self.rate + other.rate) / 2.0,
            cpu_micros: (self.cpu_micros + other.cpu_micros) / 2.0,
            uncounted: worse(self.uncounted, other.uncounted),
        }
    }
}

fn worse(a: f64, b: f64) -> f64 {
    if a.abs() > b.abs() { a } else { b }
}

fn own(load: &mut dyn Load, case: &Case, seconds: u64) -> anyhow::Result<Figures> {
    let point = point(case, seconds);
    let prepared = load.prepare(&point, 0, &mut |_| ())?;
    let progress = Progress::new();
    let before = counted(case)?;
    let report = runner::run(prepared.engines, &point, 0, Duration::from_secs(30), &progress, &AtomicBool::new(false))?;
    let counted = (counted(case)? - before) as f64;
    ensure!(report.errors.is_empty(), "errors: {:?}", report.errors);
    let [client] = &report.clients[..] else { bail!("a report of {} clients", report.clients.len()) };
    // Of all that was moved, the ramp and the end included, as the kernel counts too; the window is a part of it.
    let moved = progress.snapshot().bytes;
    ensure!(client.bytes <= moved, "{} bytes reported of {moved} moved", client.bytes);
    Ok(Figures {
        rate: client.bytes as f64 * 1e6 / report.elapsed_micros as f64,
        uncounted: counted / moved as f64 - 1.0,
        cpu_micros: report.cpu_micros as f64 / client.ops as f64,
    })
}

/// Bytes that the kernel sent to devices for this process, or fetched.
fn counted(case: &Case) -> anyhow::Result<u64> {
    let field = if case.op == Op::Write { "write_bytes: " } else { "read_bytes: " };
    let text = std::fs::read_to_string("/proc/self/io").context("/proc/self/io")?;
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|number| number.parse().ok()).with_context(|| format!("no {field}in /proc/self/io"))
}

/// The faster of fio's ways, by one short round each.
fn best_way(case: &Case, file: &Path, settings: &Settings) -> anyhow::Result<&'static [&'static str]> {
    let mut best = (0.0, FIO_WAYS[0]);
    for way in FIO_WAYS {
        let rate = fio(case, file, settings.size, 2, way)?.rate;
        if rate > best.0 {
            best = (rate, way);
        }
    }
    Ok(best.1)
}

fn fio_arguments(case: &Case, file: &Path, size: u64, seconds: u64, way: &[&str]) -> Vec<String> {
    let mut arguments = vec![
        "--name=peer".to_owned(),
        format!("--filename={}", file.display()),
        format!("--size={size}"),
        "--direct=1".into(),
        "--ioengine=io_uring".into(),
        format!("--rw={}", case.fio_rw),
        format!("--bs={}", case.block),
        format!("--iodepth={}", case.depth),
        "--time_based".into(),
        format!("--runtime={seconds}"),
        "--ramp_time=500ms".into(),
        "--norandommap".into(),
        "--randrepeat=0".into(),
        "--allow_file_create=0".into(),
        "--output-format=json".into(),
    ];
    if case.op == Op::Write {
        // Like our stamps: no two writes are equal, at little cost.
        arguments.push("--scramble_buffers=1".into());
    }
    arguments.extend(way.iter().map(|option| (*option).to_owned()));
    arguments
}

fn fio(case: &Case, file: &Path, size: u64, seconds: u64, way: &[&str]) -> anyhow::Result<Figures> {
    let output = Command::new("fio").args(fio_arguments(case, file, size, seconds, way)).output()?;
    ensure!(output.status.success(), "fio: {}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).context("fio's report")?;
    let direction = if case.op == Op::Write { "write" } else { "read" };
    let job = &report["jobs"][0];
    ensure!(job["error"] == 0, "fio: error {}", job["error"]);
    let number = |value: &serde_json::Value, name: &str| value[name].as_f64().with_context(|| format!("{name} of fio"));
    let cpu_percent = number(job, "usr_cpu")? + number(job, "sys_cpu")?;
    Ok(Figures {
        rate: number(&job[direction], "bw_bytes")?,
        cpu_micros: cpu_percent / 100.0 * 1e6 / number(&job[direction], "iops")?,
        uncounted: 0.0,
    })
}

fn text(case: &Case, rate: f64) -> String {
    if case.block < 1 << 20 { format!("{:.0} IOPS", rate / case.block as f64) } else { bandwidth_text(rate) }
}

/// The load's file, which has no name, as this process has it open.
fn open_file_below(directory: &str) -> anyhow::Result<PathBuf> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let path = entry?.path();
        let Ok(link) = std::fs::read_link(&path) else { continue };
        if link.starts_with(directory) && link.to_string_lossy().ends_with("data (deleted)") {
            let number = path.file_name().context("a handle has a number")?;
            return Ok(Path::new("/proc").join(std::process::id().to_string()).join("fd").join(number));
        }
    }
    bail!("the file below {directory} is not open")
}
