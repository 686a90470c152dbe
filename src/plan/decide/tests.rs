//! Decisions in single states, and whole runs in a small world in which the operator dies after any write.

mod states;
mod world;

use super::*;
use crate::plan::frozen::Remains;
use world::World;

/// Phase, phases of the tests, and the stored results by run and test.
type End = (Option<Phase>, Vec<crate::api::TestPhase>, Vec<((i64, usize), TestEnd)>);

fn finished(world: &World) -> End {
    let results = world.results.iter().map(|(key, end)| (*key, *end)).collect();
    (world.recorded.phase, world.recorded.tests.clone(), results)
}

#[test]
fn a_run_passes_through_its_phases_and_leaves_nothing() {
    let mut world = World::new();
    world.settle();
    assert_eq!(world.phases, [Phase::Preparing, Phase::Running, Phase::Cleaning, Phase::Passed]);
    assert_eq!(world.results.len(), 2);
    world.assert_nothing_left();
    let writes = world.writes;
    world.settle();
    assert_eq!(world.writes, writes, "a settled benchmark is left alone");
}

/// Runs `story` once undisturbed and once for each write after which the operator is killed; all must end alike.
fn killed_everywhere(story: impl Fn(&mut World)) {
    let mut whole = World::new();
    story(&mut whole);
    whole.assert_nothing_left();
    assert!(whole.writes > 5, "the story writes something");
    for fuse in 1..=whole.writes {
        let mut world = World::new();
        world.fuse = Some(fuse);
        story(&mut world);
        world.assert_nothing_left();
        assert_eq!(finished(&world), finished(&whole), "killed after write {fuse}");
        for (of, count) in &world.conductors {
            assert_eq!(*count, 1, "test {of:?} was measured {count} times when killed after write {fuse}");
        }
    }
}

#[test]
fn killed_after_any_write_a_run_ends_the_same() {
    killed_everywhere(World::settle);
}

/// Does steps until so many writes were made, or until nothing is left to do.
fn advance(world: &mut World, writes: usize) {
    while world.writes < writes {
        let step = decide(&world.look());
        if step == Step::Rest {
            return;
        }
        let _ = world.apply(step);
    }
}

fn writes_of_a_run() -> usize {
    let mut world = World::new();
    world.settle();
    world.writes
}

#[test]
fn deleted_at_any_point_nothing_remains() {
    for at in 0..writes_of_a_run() {
        for kill in [None, Some(1), Some(2), Some(3), Some(5), Some(8)] {
            let mut world = World::new();
            advance(&mut world, at);
            world.deleting = true;
            world.gone = !world.finalizer;
            world.fuse = kill;
            let asked = world.now;
            world.settle();
            world.assert_nothing_left();
            assert!(patience::seconds_between(asked, world.now) < 60, "deleted after write {at}");
        }
    }
}

#[test]
fn changed_at_any_point_the_run_is_replaced_and_cleaned() {
    for at in 0..writes_of_a_run() {
        for kill in [None, Some(1), Some(2), Some(3), Some(5), Some(8)] {
            let mut world = World::new();
            advance(&mut world, at);
            world.edit("b");
            world.fuse = kill;
            world.settle();
            world.assert_nothing_left();
            let run = world.recorded.run.clone().expect("a run was recorded");
            assert_eq!(run.key.spec_hash, "b");
            assert_eq!(world.recorded.phase, Some(Phase::Passed), "changed after write {at}");
            assert!(world.results.contains_key(&(run.number, 0)) && world.results.contains_key(&(run.number, 1)));
        }
    }
}

#[test]
fn suspended_at_any_point_it_stops_and_resumed_it_runs() {
    for at in 0..writes_of_a_run() {
        let mut world = World::new();
        advance(&mut world, at);
        world.suspend = true;
        world.generation += 1;
        world.settle();
        world.assert_nothing_left();
        let phase = world.recorded.phase;
        assert!(matches!(phase, Some(Phase::Cancelled | Phase::Passed)), "suspended after write {at}: {phase:?}");
        world.suspend = false;
        world.generation += 1;
        world.settle();
        world.assert_nothing_left();
        assert_eq!(world.recorded.phase, Some(Phase::Passed), "resumed after write {at}");
    }
}

#[test]
fn a_cancellation_is_carried_through_when_its_cause_goes_away() {
    let mut world = World::new();
    advance(&mut world, 8);
    world.suspend = true;
    let cleaning = |world: &World| world.recorded.phase == Some(Phase::Cleaning);
    while !cleaning(&world) {
        let _ = world.apply(decide(&world.look()));
    }
    world.suspend = false;
    world.settle();
    assert_eq!(
        world.phases,
        [
            Phase::Preparing,
            Phase::Cleaning,
            Phase::Cancelled,
            Phase::Preparing,
            Phase::Running,
            Phase::Cleaning,
            Phase::Passed
        ]
    );
    assert_eq!(world.recorded.run.as_ref().map(|run| run.number), Some(2));
    world.assert_nothing_left();
}

#[test]
fn only_the_last_three_runs_are_kept() {
    let mut world = World::new();
    for hash in ["a", "b", "c", "d", "e"] {
        world.edit(hash);
        world.settle();
    }
    assert_eq!(world.frozen.keys().copied().collect::<Vec<_>>(), [3, 4, 5]);
    assert!(world.results.keys().all(|(run, _)| *run >= 3));
}

#[test]
fn a_pool_that_does_not_go_keeps_the_finalizer_and_is_named_until_it_goes() {
    let mut world = World::new();
    world.pool_is_stuck = true;
    for _ in 0..400 {
        let step = decide(&world.look());
        let _ = world.apply(step);
    }
    assert_eq!(world.recorded.phase, Some(Phase::Passed));
    assert!(world.recorded.left_behind && world.finalizer);
    assert_eq!(world.lease, Lease::Free, "others may run meanwhile");
    world.pool_is_stuck = false;
    world.settle();
    assert!(!world.recorded.left_behind);
    world.assert_nothing_left();
}

#[test]
fn a_deleted_benchmark_waits_for_its_pool_unless_nobody_serves_it() {
    let mut world = World::new();
    world.pool_is_stuck = true;
    while !world.things.iter().any(|thing| thing.kind == ThingKind::Pool) {
        let _ = world.apply(decide(&world.look()));
    }
    world.deleting = true;
    for _ in 0..200 {
        let _ = world.apply(decide(&world.look()));
    }
    assert!(world.finalizer && world.recorded.left_behind && !world.gone);
    world.home.cluster_gone = true;
    world.settle();
    assert!(world.gone);
    assert_eq!(world.gave_up.len(), 1);
    assert!(world.gave_up[0].starts_with("CephBlockPool "), "{:?}", world.gave_up);
}

#[test]
fn a_refused_run_gives_back_what_it_took_and_an_edit_tries_again() {
    let mut world = World::new();
    world.refusal = Some(Refusal { reason: "NotEnoughSpace".into(), message: "too little".into(), passing: true });
    world.settle();
    assert_eq!(world.phases, [Phase::Error]);
    world.assert_nothing_left();
    let writes = world.writes;
    world.settle();
    assert_eq!(world.writes, writes, "it is refused once");
    world.refusal = None;
    world.generation += 1;
    world.settle();
    assert_eq!(world.recorded.phase, Some(Phase::Passed));
    assert_eq!(world.recorded.run.as_ref().map(|run| run.number), Some(2));
}

#[test]
fn a_run_cancelled_by_a_bad_edit_runs_again_when_the_edit_is_undone() {
    for at in 0..writes_of_a_run() {
        let mut world = World::new();
        advance(&mut world, at);
        let good = world.key.take();
        world.generation += 1;
        world.settle();
        assert_eq!(world.recorded.phase, Some(Phase::Error), "edited after write {at}");
        world.key = good;
        world.generation += 1;
        world.settle();
        world.assert_nothing_left();
        assert_eq!(world.recorded.phase, Some(Phase::Passed), "edited after write {at}");
        let number = world.recorded.run.as_ref().map_or(0, |run| run.number);
        assert!(world.results.contains_key(&(number, 0)) && world.results.contains_key(&(number, 1)));
    }
}

#[test]
fn a_run_that_ended_under_a_bad_edit_has_no_verdict_until_the_edit_is_undone() {
    let mut world = World::new();
    while world.recorded.phase != Some(Phase::Cleaning) {
        let _ = world.apply(decide(&world.look()));
    }
    let good = world.key.take();
    world.generation += 1;
    world.settle();
    assert!(!world.phases.contains(&Phase::Passed), "{:?}", world.phases);
    world.key = good;
    world.generation += 1;
    world.settle();
    world.assert_nothing_left();
    assert_eq!(world.recorded.phase, Some(Phase::Passed));
    assert_eq!(world.recorded.run.as_ref().map(|run| run.number), Some(1), "it is not measured again");
}

#[test]
fn a_run_that_passed_is_kept_through_another_that_was_suspended_before_it_began() {
    let mut world = World::new();
    world.settle();
    world.suspend = true;
    world.edit("b");
    world.settle();
    assert_eq!(world.recorded.phase, Some(Phase::Cancelled));
    world.suspend = false;
    world.edit("a");
    world.settle();
    assert_eq!(world.recorded.phase, Some(Phase::Passed));
    assert_eq!(world.recorded.run.as_ref().map(|run| run.number), Some(1), "it is not measured again");
}

#[test]
fn what_killed_clients_left_is_swept_up_once_and_before_the_user_goes() {
    killed_everywhere(|world| {
        world.killed = vec![0, 2];
        world.settle();
        assert_eq!(world.swept.len(), 4, "two clients of two tests");
        assert!(world.swept.values().all(|count| *count <= 2), "{:?}", world.swept);
    });
}

#[test]
fn a_sweeper_that_hangs_holds_nothing_up_and_what_stays_is_told() {
    let mut world = World::new();
    world.killed = vec![1];
    world.sweepers_hang = true;
    world.settle();
    world.assert_nothing_left();
    assert_eq!(world.recorded.phase, Some(Phase::Passed));
    assert_eq!(world.left.len(), 2, "of each test");
    assert!(world.left[&(1, 0)][0].contains("directory of client 1"), "{:?}", world.left);
    assert!(world.recorded.left_behind, "the status names it");
    world.generation += 1;
    world.settle();
    assert!(world.recorded.left_behind, "and goes on naming it");
}

#[test]
fn what_does_not_go_is_named_while_another_spec_is_refused_or_suspended() {
    let edits: [fn(&mut World); 2] = [|world| world.key = None, |world| world.suspend = true];
    for edit in edits {
        let mut world = World::new();
        world.pool_is_stuck = true;
        for _ in 0..200 {
            let _ = world.apply(decide(&world.look()));
        }
        edit(&mut world);
        if world.suspend {
            world.edit("b");
        }
        world.generation += 1;
        for _ in 0..50 {
            let _ = world.apply(decide(&world.look()));
        }
        assert!(matches!(world.recorded.phase, Some(Phase::Error | Phase::Cancelled)), "{:?}", world.recorded.phase);
        assert!(world.recorded.left_behind);
        world.pool_is_stuck = false;
        world.settle();
        assert!(!world.recorded.left_behind);
        world.assert_nothing_left();
    }
}

/// Runs until the second test measures, stops it, and gives how many sweepers each of its clients had.
fn stopped_while_measuring(remains: Remains, stop: impl Fn(&mut World)) -> World {
    let mut world = World::new();
    world.remains = remains;
    while world.recorded.tests.get(1) != Some(&crate::api::TestPhase::Running) {
        let _ = world.apply(decide(&world.look()));
    }
    stop(&mut world);
    world.generation += 1;
    world.settle();
    world.assert_nothing_left();
    world
}

#[test]
fn after_a_run_that_was_stopped_what_its_clients_may_have_left_is_swept_up() {
    let stops: [fn(&mut World); 3] =
        [|world| world.suspend = true, |world| world.deleting = true, |world| world.key = None];
    for stop in stops {
        let world = stopped_while_measuring(Remains::OnNodes, stop);
        assert_eq!(world.swept.keys().collect::<Vec<_>>(), [&(1, 1, 0), &(1, 1, 1), &(1, 1, 2)]);
        let world = stopped_while_measuring(Remains::InPool, stop);
        assert_eq!(world.swept.len(), 1);
        let world = stopped_while_measuring(Remains::Nothing, stop);
        assert!(world.swept.is_empty());
    }
}

#[test]
fn stopped_at_any_point_and_killed_nothing_is_left_of_sweepers_and_notes() {
    for at in 0..writes_of_a_run() {
        for kill in [None, Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), Some(8)] {
            let mut world = World::new();
            world.remains = Remains::OnNodes;
            advance(&mut world, at);
            world.deleting = true;
            world.gone = !world.finalizer;
            world.fuse = kill;
            let asked = world.now;
            world.settle();
            world.assert_nothing_left();
            assert!(patience::seconds_between(asked, world.now) < 60, "deleted after write {at}");
        }
    }
}
