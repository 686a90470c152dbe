//! What is measured is what happened: counted by the cluster, not by the bench.

use std::collections::BTreeSet;

use cephbench::api::Op;
use cephbench::bench::rados;
use cephbench::contract::{EndedBy, Point};

use crate::bench::{KIB, MIB, open, point, round, target, task};
use crate::ceph::Ceph;

/// Blocks in objects, several jobs, reads by another number of jobs, and caps that allow no more than the namespace.
pub fn writes_and_reads_are_what_the_cluster_counts(ceph: &Ceph) {
    let pool = ceph.pool();
    let osd = format!("allow rw pool={} namespace=mine", pool.name);
    let key = ceph.user("bench-figures", &["mon", "allow r", "osd", &osd]);
    let target = target(ceph, "bench-figures", &key, &pool.name, "mine");
    pool.rados("", &["put", "theirs", "/etc/hostname"]);
    pool.rados("mine", &["put", "theirs-too", "/etc/hostname"]);

    let write = Point { jobs: 2, bytes: Some(16 * MIB), ..point(Op::Write, 64 * KIB, 256 * KIB) };
    let read = Point { jobs: 3, bytes: Some(16 * MIB), ..point(Op::Read, 128 * KIB, 256 * KIB) };
    let random = Point { jobs: 1, bytes: Some(8 * MIB), ..point(Op::RandRead, 4 * KIB, 256 * KIB) };
    let task = task(&target, &[write.clone(), read.clone(), random.clone()]);
    let mut load = open(&task, &target).expect("opens");
    assert_eq!(pool.objects("mine"), ["theirs-too"], "the probe is gone");

    let (report, notes) = round(&mut *load, &write);
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!((report.ended_by, report.errors.len()), (EndedBy::Bytes, 0));
    let written = report.write.expect("writes");
    assert_eq!((written.ops, written.bytes), (256, 16 * MIB));
    let objects = pool.objects("mine");
    let ours: Vec<&String> =
        objects.iter().filter(|name| name.starts_with(&format!("cephbench.{}.pool.0.", task.run))).collect();
    // The jobs share the bytes as they come to them, so each may leave an object half written.
    assert!((64..=66).contains(&ours.len()), "{} objects", ours.len());
    assert_eq!(objects.len(), ours.len() + 1);
    let usage = pool.usage(objects.len() as u64 + 1);
    let kib = usage["write_bytes"].as_u64().expect("a number") / KIB;
    assert!((16 * KIB..16 * KIB + 64).contains(&kib), "the cluster counted {kib} KiB: {usage}");
    let (distinct, fetched) = fetch_some(&pool, &ours);
    assert_eq!(distinct, 4, "no two objects are alike");

    let (report, _) = round(&mut *load, &read);
    let back = report.read.expect("reads");
    assert_eq!((back.ops, back.bytes, report.errors.len()), (128, 16 * MIB, 0));
    let (report, _) = round(&mut *load, &random);
    let drawn = report.read.expect("reads");
    assert_eq!((drawn.ops, drawn.bytes, report.errors.len()), (2048, 8 * MIB, 0));
    // The test itself read some, and the probe's bytes were rounded up to the next KiB.
    let wanted = 24 * KIB + fetched / KIB + 1;
    let mut counted = 0;
    for _ in 0..60 {
        counted = pool.usage(objects.len() as u64 + 1)["read_bytes"].as_u64().expect("a number") / KIB;
        if counted >= wanted {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    assert_eq!(counted, wanted, "KiB that the cluster counted as read");

    load.clean_up(&mut |_| {}).expect("cleans up");
    assert_eq!(pool.objects("mine"), ["theirs-too"]);
    assert_eq!(pool.objects(""), ["theirs"]);
}

/// How many different contents four of the objects have, and how many bytes.
fn fetch_some(pool: &crate::ceph::Pool, names: &[&String]) -> (usize, u64) {
    let file = std::env::temp_dir().join(format!("cephbench-{}", std::process::id()));
    let path = file.to_str().expect("UTF-8");
    let (mut contents, mut bytes) = (BTreeSet::new(), 0);
    for name in names.iter().take(4) {
        pool.rados("mine", &["get", name, path]);
        let content = std::fs::read(&file).expect("the object");
        assert!(content.len() as u64 <= 256 * KIB);
        bytes += content.len() as u64;
        contents.insert(content);
    }
    std::fs::remove_file(&file).expect("removed");
    (contents.len(), bytes)
}

/// A write round begins on no objects: those of the round before are gone. Other sizes stay as long as a point will read them.
pub fn each_write_round_starts_anew_and_sizes_stay_while_they_are_read(ceph: &Ceph) {
    let pool = ceph.pool();
    let key = ceph.user("bench-rounds", &["mon", "allow r", "osd", &format!("allow rw pool={}", pool.name)]);
    let target = target(ceph, "bench-rounds", &key, &pool.name, "mine");
    let small = Point { bytes: Some(MIB), ..point(Op::Write, 64 * KIB, 64 * KIB) };
    let large = Point { bytes: Some(4 * MIB), ..point(Op::Write, MIB, MIB) };
    let read_small = Point { bytes: Some(MIB), ..point(Op::Read, 64 * KIB, 64 * KIB) };
    let again = Point { bytes: Some(2 * MIB), ..point(Op::Write, MIB, MIB) };
    let points = [small.clone(), large.clone(), read_small.clone(), again.clone()];
    let mut load = open(&task(&target, &points), &target).expect("opens");
    let count = |size: u64| pool.objects("mine").iter().filter(|name| name.contains(&format!(".{size}."))).count();

    round(&mut *load, &small);
    let first: BTreeSet<String> = pool.objects("mine").into_iter().collect();
    round(&mut *load, &small);
    let second: BTreeSet<String> = pool.objects("mine").into_iter().collect();
    assert_eq!((first.len(), second.len()), (16, 16));
    assert!(first.is_disjoint(&second), "objects of the first round were there in the second");
    round(&mut *load, &large);
    assert_eq!((count(64 * KIB), count(MIB)), (16, 4), "the small ones are yet to be read");
    let (report, notes) = round(&mut *load, &read_small);
    assert_eq!((report.read.expect("reads").bytes, notes.len()), (MIB, 0));
    assert_eq!((count(64 * KIB), count(MIB)), (16, 0), "nobody reads the large ones");
    round(&mut *load, &again);
    assert_eq!((count(64 * KIB), count(MIB)), (0, 2), "nobody reads the small ones any more");
    load.clean_up(&mut |_| {}).expect("cleans up");
    assert_eq!(pool.objects("mine"), Vec::<String>::new());
}

/// Case A10: reads find objects to read, and what is read again is counted.
pub fn reads_without_a_write_are_filled_for_and_wraps_are_told(ceph: &Ceph) {
    let pool = ceph.pool();
    let key = ceph.user("bench-reads", &["mon", "allow r", "osd", &format!("allow rw pool={}", pool.name)]);
    let target = target(ceph, "bench-reads", &key, &pool.name, "mine");
    let read = Point { bytes: Some(8 * MIB), ..point(Op::Read, 256 * KIB, MIB) };
    let longer = Point { bytes: Some(20 * MIB), ..read.clone() };
    let mut load = open(&task(&target, &[read.clone(), longer.clone()]), &target).expect("opens");
    let mut said = Vec::new();
    let prepared = load.prepare(&read, 0, &mut |line| said.push(line.to_owned())).expect("prepares");
    drop(prepared);
    assert_eq!(pool.objects("mine").len(), 8);
    let (report, _) = round(&mut *load, &read);
    assert_eq!((report.read.as_ref().map(|read| read.bytes), report.clients[0].wraps), (Some(8 * MIB), 0));
    let (report, _) = round(&mut *load, &longer);
    assert_eq!((report.read.as_ref().map(|read| read.bytes), report.clients[0].wraps), (Some(20 * MIB), 2));
    load.clean_up(&mut |_| {}).expect("cleans up");
    assert_eq!(pool.objects("mine"), Vec::<String>::new());
}

pub fn facts_are_what_ceph_says(ceph: &Ceph) {
    let pool = ceph.pool();
    let key = ceph.user("bench-facts", &["mon", "allow r"]);
    let facts = rados::facts(&target(ceph, "bench-facts", &key, &pool.name, "")).expect("facts");
    assert_eq!(facts.fsid, ceph.ceph("fsid").trim());
    assert_eq!(facts.health, ceph.ceph("health").split_whitespace().next().expect("a word"));
    assert_eq!((facts.osds, facts.osds_up, facts.osds_in, facts.hosts), (3, 3, 3, 3));
    assert_eq!(facts.osd_versions.len(), 1);
    assert!(ceph.ceph("version").contains(&facts.osd_versions[0]));
    let known = facts.pool.expect("the pool");
    assert_eq!((known.name.as_str(), known.size, known.pg_num, known.pgp_num), (pool.name.as_str(), 3, 16, 16));
    assert!(known.max_available_bytes > 0 && facts.available_bytes > known.max_available_bytes);
    let nobody = rados::facts(&target(ceph, "bench-facts", &key, "no-such-pool", "")).expect("facts");
    assert_eq!(nobody.pool, None);
}
