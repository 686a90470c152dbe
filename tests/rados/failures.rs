//! What goes wrong: each ends in time, says what it is, and leaves nothing behind.

use std::path::Path;
use std::process::Command;
use std::slice::from_ref;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use base64::Engine as _;
use cephbench::api::Op;
use cephbench::bench::{rados, stop};
use cephbench::contract::{EndedBy, Point, RadosTarget};

use crate::bench::{KIB, MIB, OP_TIMEOUT_SECONDS, open, point, round, target, task};
use crate::ceph::Ceph;

/// The error of opening, and how long it took.
fn refused(target: &RadosTarget) -> (String, Duration) {
    let begun = Instant::now();
    let error = match open(&task(target, &[]), target) {
        Ok(_) => panic!("{target:?} was opened"),
        Err(error) => error.to_string(),
    };
    (error, begun.elapsed())
}

pub fn refusals_name_what_is_at_fault(ceph: &Ceph) {
    let pool = ceph.pool();
    let name = pool.name.as_str();
    let good = ceph.user("bench-good", &["mon", "allow r", "osd", &format!("allow rw pool={name} namespace=mine")]);
    let other = ceph.user("bench-other", &["mon", "allow r"]);
    let reader = ceph.user("bench-reader", &["mon", "allow r", "osd", &format!("allow r pool={name}")]);
    let blind = ceph.user("bench-blind", &["osd", &format!("allow rw pool={name}")]);
    let expect = |user: &str, key: &Path, pool: &str, namespace: &str, wanted: &[&str]| {
        let (error, took) = refused(&target(ceph, user, key, pool, namespace));
        for part in wanted {
            assert!(error.contains(part), "{error:?} lacks {part:?}");
        }
        assert!(took < Duration::from_secs(5), "{error} took {took:?}");
    };
    expect("bench-good", &other, name, "mine", &["connect as client.bench-good", "EACCES", "wrong or revoked key"]);
    expect("bench-nobody", &good, name, "mine", &["EACCES", "no such user"]);
    expect("bench-blind", &blind, name, "", &["EACCES", "no mon cap"]);
    expect("bench-good", &good, "no-such-pool", "mine", &["open pool no-such-pool", "there is no pool no-such-pool"]);
    expect(
        "bench-good",
        &good,
        name,
        "yours",
        &["write to pool", "EPERM", &format!("`allow rw pool={name} namespace=yours`")],
    );
    expect("bench-reader", &reader, name, "", &["EPERM", &format!("`allow rw pool={name}`")]);
    expect(
        "bench-good",
        Path::new("/no/such/key"),
        name,
        "mine",
        &["read the key of client.bench-good from /no/such/key", "ENOENT"],
    );
    let keyring = ceph.folder().join("keyring");
    expect("bench-good", &keyring, name, "mine", &["has no section [client.bench-good]"]);
    assert_eq!(pool.objects(""), Vec::<String>::new());
}

/// Case B1 (c): the local monitor has no v1 listener, and every other test gets in by the whole vector. The bare address doesn't.
pub fn a_bare_v1_address_is_not_enough_and_takes_no_longer_than_allowed(ceph: &Ceph) {
    let key = ceph.user("bench-v1", &["mon", "allow r"]);
    let whole = RadosTarget { connect_timeout_seconds: 3, ..target(ceph, "bench-v1", &key, "p", "") };
    let bare = RadosTarget { mon_host: Some(format!("{}:6789", ceph.address())), ..whole.clone() };
    let (error, took) = refused(&bare);
    assert!(error.contains("no monitor of") && error.contains(":6789 answered within 3 s"), "{error}");
    assert!((Duration::from_secs(3)..Duration::from_secs(5)).contains(&took), "{took:?}");
    assert!(refused(&whole).0.contains("there is no pool p"), "the whole vector gets in");
}

pub fn a_local_conf_and_keyring_are_enough(ceph: &Ceph) {
    let pool = ceph.pool();
    let local = RadosTarget {
        mon_host: None,
        conf: Some(ceph.conf().to_str().expect("UTF-8").into()),
        ..target(ceph, "admin", &ceph.folder().join("keyring"), &pool.name, "")
    };
    let mut load = open(&task(&local, &[]), &local).expect("opens");
    load.clean_up(&mut |_| {}).expect("cleans up");
}

/// Says to whoever runs this program again as its child what the key of a newer type leads to.
pub fn child_with_a_newer_key() {
    let ceph = Ceph::given().expect("the parent has one");
    let key = std::env::var("CEPHBENCH_TEST_KEY_FILE").expect("the parent says");
    println!("{}", refused(&target(&ceph, "admin", Path::new(&key), "p", "")).0);
}

/// Case B3: a key that this librados can't read. No bare "Invalid argument", and the key is nowhere to be seen.
pub fn a_key_of_a_newer_type_is_explained_and_never_shown(ceph: &Ceph) {
    let mut bytes = vec![2, 0];
    bytes.extend([0; 8]);
    bytes.extend([32, 0]);
    bytes.extend((0..32).map(|number: u8| number.wrapping_mul(37)));
    let key = base64::engine::general_purpose::STANDARD.encode(bytes);
    assert_eq!(key.len(), 60);
    let file = ceph.folder().join("newer.key");
    std::fs::write(&file, &key).expect("written");
    let begun = Instant::now();
    let output = Command::new(std::env::current_exe().expect("this program"))
        .env(crate::CHILD, "newer-key")
        .env("CEPHBENCH_TEST_KEY_FILE", &file)
        .output()
        .expect("starts again");
    assert!(begun.elapsed() < Duration::from_secs(10), "within the connect timeout");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{said:?}");
    let version = ceph.ceph("version").split_whitespace().nth(2).expect("a version").to_owned();
    let wanted = format!("type aes256k, which librados {version} can't read (the cluster is 16.2.15)");
    assert!(said[0].contains(&wanted) && said[0].contains("keyType: aes"), "{said:?}");
    assert!(said.iter().all(|text| !text.contains(&key) && !text.contains(&key[16..40])), "the key was shown");
}

pub fn a_quota_is_an_error_and_not_a_wait(ceph: &Ceph) {
    let pool = ceph.pool();
    let key = ceph.user("bench-quota", &["mon", "allow r", "osd", &format!("allow rw pool={}", pool.name)]);
    let target = target(ceph, "bench-quota", &key, &pool.name, "mine");
    ceph.ceph(&format!("osd pool set-quota {} max_bytes {}", pool.name, 4 * MIB));
    let write = Point { duration_micros: 60_000_000, ..point(Op::Write, 256 * KIB, 256 * KIB) };
    let mut load = open(&task(&target, from_ref(&write)), &target).expect("opens");
    let (report, _) = round(&mut *load, &write);
    assert_eq!(report.ended_by, EndedBy::Errors);
    assert!(report.elapsed_micros < 60_000_000, "ended by the quota, which the manager notices after some seconds");
    assert_eq!(report.errors.len(), 1);
    let wanted = format!("write: Disk quota exceeded (EDQUOT): pool {} is at its quota", pool.name);
    assert_eq!(report.errors[0].message, wanted);
    let flags = ceph.ceph("osd pool ls detail");
    assert!(flags.contains("full_quota"), "Ceph itself says so: {flags}");
    let (error, took) = refused(&target);
    assert!(error.ends_with(&format!("pool {} is at its quota", pool.name)), "{error}");
    assert!(took < Duration::from_secs(5));
    load.clean_up(&mut |_| {}).expect("removals pass the quota");
    assert_eq!(pool.objects("mine"), Vec::<String>::new());
}

/// An OSD that hangs: operations end as errors, the round ends, and afterwards all is removed.
pub fn a_frozen_osd_gives_errors_and_no_hang(ceph: &Ceph) {
    let pool = ceph.pool();
    let key = ceph.user("bench-frozen", &["mon", "allow r", "osd", &format!("allow rw pool={}", pool.name)]);
    let target = target(ceph, "bench-frozen", &key, &pool.name, "mine");
    let write = Point { duration_micros: 10_000_000, ..point(Op::Write, 64 * KIB, 64 * KIB) };
    let mut load = open(&task(&target, from_ref(&write)), &target).expect("opens");
    let thaw = Thaw(ceph.clone(), 0);
    let begun = Instant::now();
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            ceph.wait_for("the first objects", 10, |_| !pool.objects("mine").is_empty());
            ceph.signal_osd(0, "-STOP");
        });
        round(&mut *load, &write).0
    });
    let took = begun.elapsed();
    // The window, the operations in flight at its end, and what is left behind after that.
    assert!(took < Duration::from_secs(10 + 2 * OP_TIMEOUT_SECONDS + 5), "{took:?}");
    let errors: u64 = report.errors.iter().map(|error| error.count).sum();
    assert!(errors > 0, "{report:?}");
    let wanted =
        format!("write: Connection timed out (ETIMEDOUT): no answer within {} s: an OSD hangs", OP_TIMEOUT_SECONDS - 1);
    assert!(report.errors[0].message.starts_with(&wanted), "{:?}", report.errors);
    let written = report.write.expect("writes");
    assert!(written.ops > 0 && written.max_nanos < OP_TIMEOUT_SECONDS * 1_000_000_000);
    let stalled = report.series.iter().filter(|sample| sample.ops == 0).count();
    assert!(stalled > 0, "seconds without a completion: {:?}", report.series);
    drop(thaw);
    ceph.wait_for("the OSD to be up", 60, |ceph| ceph.ceph_json("osd stat")["num_up_osds"] == 3);
    load.clean_up(&mut |_| {}).expect("cleans up");
    assert_eq!(pool.objects("mine"), Vec::<String>::new());
}

/// Thaws an OSD whatever becomes of the test.
struct Thaw(Ceph, u32);

impl Drop for Thaw {
    fn drop(&mut self) {
        self.0.signal_osd(self.1, "-CONT");
    }
}

/// With an OSD frozen, a clean-up ends in time and says what stays.
pub fn a_clean_up_that_cannot_says_so(ceph: &Ceph) {
    let pool = ceph.pool();
    let key = ceph.user("bench-stuck", &["mon", "allow r", "osd", &format!("allow rw pool={}", pool.name)]);
    let target = target(ceph, "bench-stuck", &key, &pool.name, "mine");
    let write = Point { bytes: Some(8 * MIB), ..point(Op::Write, 64 * KIB, 64 * KIB) };
    let task = task(&target, from_ref(&write));
    let mut load = open(&task, &target).expect("opens");
    round(&mut *load, &write);
    // All of them: none can take over.
    let thaw = [0, 1, 2].map(|id| Thaw(ceph.clone(), id));
    (0..3).for_each(|id| ceph.signal_osd(id, "-STOP"));
    let begun = Instant::now();
    let error = load.clean_up(&mut |_| {}).expect_err("nothing can be removed").to_string();
    let took = begun.elapsed();
    drop(thaw);
    assert!(error.contains("ETIMEDOUT") && error.contains(&pool.name), "{error}");
    assert!(took < Duration::from_secs(60), "{took:?}");
    drop(load);
    ceph.wait_for("the OSDs to be up", 60, |ceph| ceph.ceph_json("osd stat")["num_up_osds"] == 3);
    let left = pool.objects("mine").len();
    let other = "cephbench.another-run.pool.0.65536.0";
    pool.rados("mine", &["put", other, "/etc/hostname"]);
    rados::remove_run(&target, &task.run, OP_TIMEOUT_SECONDS, &mut |_| {}).expect("all answer again");
    assert_eq!(pool.objects("mine"), [other], "of {left}");
}

pub fn a_fill_can_be_stopped(ceph: &Ceph) {
    let pool = ceph.pool();
    let key = ceph.user("bench-stopped", &["mon", "allow r", "osd", &format!("allow rw pool={}", pool.name)]);
    let target = target(ceph, "bench-stopped", &key, &pool.name, "mine");
    let read = point(Op::Read, MIB, MIB);
    let mut load = open(&task(&target, from_ref(&read)), &target).expect("opens");
    stop::asked().store(true, Ordering::Relaxed);
    let begun = Instant::now();
    let prepared = load.prepare(&read, 0, &mut |_| {});
    load.clean_up(&mut |_| {}).expect("cleans up, stopped or not");
    stop::asked().store(false, Ordering::Relaxed);
    let error = prepared.err().expect("stopped").to_string();
    assert!(error.ends_with("stopped") && begun.elapsed() < Duration::from_secs(5), "{error}");
    assert_eq!(pool.objects("mine"), Vec::<String>::new());
}
