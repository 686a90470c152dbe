//! The bench against `rados bench`: the same cluster, the same minute, alternating; medians of ratios, never absolute figures. Takes the
//! Ceph that CEPHBENCH_TEST_CEPH_CONF names, or brings up one of its own. Fails below the ratio that is required.
//!
//! `cargo bench --bench rados -- [ROUNDS [SECONDS]]`

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cephbench::api::Op;
use cephbench::bench::load::Load;
use cephbench::bench::runner::{self, Progress};
use cephbench::contract::{Point, RadosTarget, Target, Task, VERSION};

const REQUIRED: f64 = 0.97;
const DEPTH: u32 = 16;
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

struct Case {
    name: &'static str,
    op: Op,
    size: u64,
}

const CASES: [Case; 4] = [
    Case { name: "4 KiB write", op: Op::Write, size: 4 * KIB },
    Case { name: "4 KiB randread", op: Op::RandRead, size: 4 * KIB },
    Case { name: "4 MiB write", op: Op::Write, size: 4 * MIB },
    Case { name: "4 MiB randread", op: Op::RandRead, size: 4 * MIB },
];

fn main() -> ExitCode {
    let numbers: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let rounds = numbers.first().copied().unwrap_or(5);
    let seconds = numbers.get(1).copied().unwrap_or(8);
    let ceph = match Ceph::find() {
        Ok(ceph) => ceph,
        Err(missing) => {
            eprintln!("\nTHE BENCH AGAINST RADOS BENCH IS NOT RUN: {missing}");
            let required = std::env::var("CI").is_ok_and(|ci| ci == "true");
            return if required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    println!("rados: {rounds} rounds of {seconds} s, {DEPTH} operations in flight, 3 copies, against");
    println!("  rados bench --pool P --concurrent-ios {DEPTH} --block-size SIZE {seconds} write --no-cleanup | rand");
    let ours = Ours::open(&ceph, seconds, rounds);
    let failed = compare(&ceph, ours, rounds, seconds);
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("below {REQUIRED}: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// One measurement.
#[derive(Clone, Copy)]
struct Figure {
    iops: f64,
    cpu_micros_per_op: f64,
}

/// Runs all cases; the names of those that are too slow.
fn compare(ceph: &Ceph, mut ours: Ours, rounds: u32, seconds: u32) -> Vec<&'static str> {
    let mut failed = Vec::new();
    for case in &CASES {
        let mut pairs = Vec::new();
        for round in 0..rounds {
            // Who goes first changes, so that neither profits from what the other left.
            let pair = if round % 2 == 0 {
                let mine = ours.measure(case);
                (mine, theirs(ceph, case, seconds))
            } else {
                let other = theirs(ceph, case, seconds);
                (ours.measure(case), other)
            };
            println!("  {:14} {round}: {:9.1} against {:9.1} IOPS", case.name, pair.0.iops, pair.1.iops);
            pairs.push(pair);
        }
        let ratio = median(pairs.iter().map(|(mine, other)| mine.iops / other.iops));
        let of = |pick: fn(&(Figure, Figure)) -> f64| median(pairs.iter().map(pick));
        println!(
            "{:14} ratio {ratio:.3}; {:.1} against {:.1} IOPS; CPU per operation {:.1} against {:.1} µs; spread {:.0} % and {:.0} %",
            case.name,
            of(|pair| pair.0.iops),
            of(|pair| pair.1.iops),
            of(|pair| pair.0.cpu_micros_per_op),
            of(|pair| pair.1.cpu_micros_per_op),
            spread(pairs.iter().map(|pair| pair.0.iops)),
            spread(pairs.iter().map(|pair| pair.1.iops)),
        );
        if ratio < REQUIRED {
            failed.push(case.name);
        }
    }
    ours.load.clean_up(&mut |_| {}).expect("cleans up");
    failed
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// Largest minus smallest, in per cent of the median.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (smallest, largest) =
        values.clone().fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    (largest - smallest) / median(values) * 100.0
}

struct Ours {
    load: Box<dyn Load>,
    seconds: u32,
}

impl Ours {
    fn open(ceph: &Ceph, seconds: u32, rounds: u32) -> Self {
        let target = RadosTarget {
            mon_host: None,
            conf: Some(ceph.conf.to_str().expect("UTF-8").into()),
            user: "admin".into(),
            key_file: ceph.conf.with_file_name("keyring").to_str().expect("UTF-8").into(),
            pool: ceph.pool.clone(),
            namespace: String::new(),
            cluster_version: None,
            connect_timeout_seconds: 30,
        };
        let task = Task {
            version: VERSION,
            run: "bench".into(),
            test: "pool".into(),
            client: 0,
            nodes: vec!["here".into()],
            target: Target::Rados(target.clone()),
            points: CASES.iter().map(|case| point(case, seconds, rounds)).collect(),
            prepare_timeout_seconds: 60,
            op_timeout_seconds: 60,
        };
        let load = cephbench::bench::rados::open(&task, &target).expect("opens");
        Self { load, seconds }
    }

    fn measure(&mut self, case: &Case) -> Figure {
        let point = point(case, self.seconds, 1);
        let prepared = self.load.prepare(&point, 0, &mut |_| {}).expect("prepares");
        let progress = Progress::new();
        let report =
            runner::run(prepared.engines, &point, 0, Duration::from_secs(60), &progress, &AtomicBool::new(false))
                .expect("a round");
        assert_eq!(report.errors, []);
        let ops = report.read.or(report.write).expect("one direction").ops as f64;
        Figure { iops: ops / (report.elapsed_micros as f64 / 1e6), cpu_micros_per_op: report.cpu_micros as f64 / ops }
    }
}

fn point(case: &Case, seconds: u32, rounds: u32) -> Point {
    Point {
        op: Some(case.op),
        block_size: case.size,
        object_size: Some(case.size),
        queue_depth: DEPTH,
        jobs: 1,
        link: None,
        ramp_up_micros: 0,
        duration_micros: u64::from(seconds) * 1_000_000,
        bytes: None,
        rounds,
    }
}

/// Runs rados bench. A write removes what the one before wrote, as ours does; a read finds what the last write left.
fn theirs(ceph: &Ceph, case: &Case, seconds: u32) -> Figure {
    let (seconds, size, depth) = (seconds.to_string(), case.size.to_string(), DEPTH.to_string());
    let run = format!("peer-{}", case.size);
    let common = ["--pool", &ceph.pool, "--run-name", &run];
    let mut arguments = vec!["--concurrent-ios", &depth, "bench", &seconds];
    match case.op {
        Op::Write => {
            ceph.run("rados", &[&common[..], &["cleanup"]].concat());
            arguments = [&["--block-size", &size], &arguments[..], &["write", "--no-cleanup"]].concat();
        }
        Op::Read | Op::RandRead | Op::RandWrite => arguments.push("rand"),
    }
    let before = children_cpu();
    let text = ceph.run("rados", &[&common[..], &arguments].concat());
    let cpu = children_cpu() - before;
    let number = |label: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no {label} in {text}"));
        line.rsplit(':').next().and_then(|value| value.trim().parse().ok()).expect("a number")
    };
    let ops = match case.op {
        Op::Write => number("Total writes made"),
        Op::Read | Op::RandRead | Op::RandWrite => number("Total reads made"),
    };
    Figure { iops: ops / number("Total time run"), cpu_micros_per_op: cpu * 1e6 / ops }
}

/// CPU seconds of the children that ended.
fn children_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("/proc");
    // After the name in brackets: cutime and cstime are the 14th and 15th.
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks: f64 = [13, 14].iter().map(|index| fields[*index].parse::<f64>().expect("a number")).sum();
    ticks / 100.0
}

struct Ceph {
    conf: PathBuf,
    pool: String,
    /// Taken down at the end.
    own: Option<PathBuf>,
}

impl Ceph {
    fn find() -> Result<Self, String> {
        let given = std::env::var_os("CEPHBENCH_TEST_CEPH_CONF").map(PathBuf::from);
        let own = if given.is_none() { Some(bring_up()?) } else { None };
        let conf = given.or_else(|| own.as_ref().map(|folder| folder.join("ceph.conf"))).expect("one of both");
        let pool = format!("bench-{}", std::process::id());
        let ceph = Self { conf, pool: pool.clone(), own };
        ceph.run("ceph", &["osd", "pool", "create", &pool, "64", "64"]);
        ceph.run("ceph", &["osd", "pool", "application", "enable", &pool, "cephbench"]);
        Ok(ceph)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output =
            Command::new(program).arg("--conf").arg(&self.conf).args(arguments).output().expect("it is installed");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn local(verb: &str, folder: &Path) -> Result<(), String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/e2e/ceph/local.sh");
    let output = Command::new(script).arg(verb).arg(folder).output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

fn bring_up() -> Result<PathBuf, String> {
    let folder = std::env::temp_dir().join(format!("cephbench-rados-{}", std::process::id()));
    local("up", &folder).inspect_err(|_| _ = local("down", &folder))?;
    Ok(folder)
}

impl Drop for Ceph {
    fn drop(&mut self) {
        match &self.own {
            Some(folder) => _ = local("down", folder),
            None => {
                let pool = self.pool.clone();
                self.run("ceph", &["osd", "pool", "rm", &pool, &pool, "--yes-i-really-really-mean-it"]);
            }
        }
    }
}
