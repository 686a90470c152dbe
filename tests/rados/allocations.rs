//! The bench's own side of an operation allocates nothing.

use cephbench::api::Op;
use cephbench::contract::Point;

use crate::bench::{KIB, open, point, target, task};
use crate::ceph::Ceph;
use crate::counting::{assert_nothing_allocates, assert_the_count_counts};

pub fn the_measured_path_allocates_nothing(ceph: &Ceph) {
    assert_the_count_counts();

    let pool = ceph.pool();
    let key = ceph.user("bench-memory", &["mon", "allow r", "osd", &format!("allow rw pool={}", pool.name)]);
    let target = target(ceph, "bench-memory", &key, &pool.name, "");
    let points = [Op::Write, Op::RandRead].map(|op| Point {
        jobs: 2,
        ramp_up_micros: 100_000,
        duration_micros: 1_300_000,
        ..point(op, 4 * KIB, 16 * KIB)
    });
    let mut load = open(&task(&target, &points), &target).expect("opens");
    for point in &points {
        assert_nothing_allocates(&mut *load, point);
    }
    load.clean_up(&mut |_| {}).expect("cleans up");
}
