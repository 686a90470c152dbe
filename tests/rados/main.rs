//! The RADOS load against a real Ceph. Where none is given, each test is reported as ignored, not as passed; with CI=true that is a failure.
//! `e2e/ceph/test.sh` brings a Ceph up, runs these, and takes it down.

mod allocations;
mod bench;
mod ceph;
#[path = "../counting/mod.rs"]
mod counting;
mod failures;
mod figures;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use ceph::Ceph;

/// Set where this program runs again as a child of one of its tests.
pub const CHILD: &str = "CEPHBENCH_TEST_CHILD";

macro_rules! trials {
    ($ceph:expr, $($module:ident::$name:ident),* $(,)?) => {
        vec![$(trial(concat!(stringify!($module), "::", stringify!($name)), $ceph, $module::$name)),*]
    };
}

fn main() -> ExitCode {
    if std::env::var_os(CHILD).is_some() {
        failures::child_with_a_newer_key();
        return ExitCode::SUCCESS;
    }
    let mut arguments = Arguments::from_args();
    // Some freeze OSDs, which the others would notice.
    arguments.test_threads = Some(1);
    let ceph = Ceph::given();
    if ceph.is_none() && !arguments.list {
        eprintln!("\nTHE TESTS AGAINST A REAL CEPH ARE NOT RUN: {} names none. Run e2e/ceph/test.sh.", ceph::VARIABLE);
        let forgotten = std::env::var_os(ceph::VARIABLE).is_none();
        if forgotten && std::env::var("CI").is_ok_and(|ci| ci == "true") {
            return ExitCode::FAILURE;
        }
    }
    let trials = trials![
        &ceph,
        figures::writes_and_reads_are_what_the_cluster_counts,
        figures::each_write_round_starts_anew_and_sizes_stay_while_they_are_read,
        figures::reads_without_a_write_are_filled_for_and_wraps_are_told,
        figures::facts_are_what_ceph_says,
        allocations::the_measured_path_allocates_nothing,
        failures::refusals_name_what_is_at_fault,
        failures::a_bare_v1_address_is_not_enough_and_takes_no_longer_than_allowed,
        failures::a_local_conf_and_keyring_are_enough,
        failures::a_key_of_a_newer_type_is_explained_and_never_shown,
        failures::a_quota_is_an_error_and_not_a_wait,
        failures::a_frozen_osd_gives_errors_and_no_hang,
        failures::a_clean_up_that_cannot_says_so,
        failures::a_fill_can_be_stopped,
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(name: &str, ceph: &Option<Ceph>, test: fn(&Ceph)) -> Trial {
    let ignored = ceph.is_none();
    let ceph = ceph.clone();
    let run = move || match ceph {
        Some(ceph) => {
            test(&ceph);
            Ok(())
        }
        None => Err(Failed::from(format!("{} is not set", ceph::VARIABLE))),
    };
    Trial::test(name, run).with_ignored_flag(ignored)
}
