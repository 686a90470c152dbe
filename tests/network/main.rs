//! TCP between two pods over a link of a known rate, against what the kernel counts on its interfaces. The pods are processes in network
//! namespaces of their own, which takes root; elsewhere each test is reported as ignored, and with CI=true that is a failure.

mod link;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use cephbench::contract::{Outcome, Report};
use libtest_mimic::{Arguments, Trial};

use link::{Family, Link, MEGABITS};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let missing = link::missing();
    if let Some(missing) = &missing
        && !arguments.list
    {
        eprintln!("\nTHE TESTS OVER A SHAPED LINK ARE NOT RUN: {missing}.");
        if std::env::var("CI").is_ok_and(|ci| ci == "true") {
            return ExitCode::FAILURE;
        }
    }
    let trial = |name: &str, test: fn()| {
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(missing.is_some())
    };
    let trials = vec![
        trial("over_ipv4_the_figure_is_the_link's_payload", || figures_are_true(Family::V4)),
        trial("over_ipv6_the_figure_is_the_link's_payload", || figures_are_true(Family::V6)),
        trial("a_link_that_goes_down_ends_the_test_in_time", a_link_that_goes_down),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// TCP's payload is about 95.6 % of what a token bucket lets through with IPv4, 94.2 % with IPv6.
fn figures_are_true(family: Family) {
    let link = Link::new(family);
    let before = link.counted();
    let report = link.measure(&[(0, 1, 1), (1, 0, 4)], 2);
    let after = link.counted();
    assert_eq!(report.outcome, Outcome::Complete);
    let mut reported = 0;
    for point in &report.points {
        let round = &point.rounds[0];
        let bytes = round.write.as_ref().expect("a link's bytes stand under write").bytes;
        let share = bytes as f64 * 8.0 / round.elapsed_micros as f64 / MEGABITS as f64;
        assert!((0.90..0.975).contains(&share), "{share} of the link's rate");
        assert!(round.start_spread_micros < 200_000, "{}", round.start_spread_micros);
        reported += bytes;
    }
    // The interfaces carried the windows, a ramp of half their length each, and headers.
    let carried: u64 = after.iter().zip(before).map(|(after, before)| after - before).sum();
    let ratio = carried as f64 / (reported as f64 * 1.5);
    assert!((1.0..1.25).contains(&ratio), "the interfaces counted {carried}, the report {reported}");
}

fn a_link_that_goes_down() {
    let link = Link::new(Family::V4);
    let begun = Instant::now();
    let report = link.measure_while(&[(0, 1, 1)], 120, Link::cut);
    assert!(begun.elapsed() < Duration::from_secs(45), "{:?}", begun.elapsed());
    let Report { outcome: Outcome::Failed(cause), points, .. } = report else { panic!("it is complete") };
    // Both ends see it: the sender that nothing is taken, the conductor that nothing is heard.
    assert!(cause.starts_with("client ") && cause.contains(" stopped ") && cause.contains(" of 60 s: "), "{cause}");
    assert!(points[0].rounds.is_empty());
}
