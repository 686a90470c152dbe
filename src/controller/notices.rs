//! What is worth an Event when the status changes. Pure. The same transition makes the same Event, so that it is told once.

use crate::api::{BenchmarkStatus, Phase, TestPhase, TestStatus};
use crate::plan::decide::Say;
use crate::resources::{Notice, Severity};

/// What is new in `next`.
pub fn notices(previous: &BenchmarkStatus, next: &BenchmarkStatus, say: &Say) -> Vec<Notice> {
    let mut notices = Vec::new();
    let number = next.run.as_ref().map_or(0, |run| run.number);
    let same_run = previous.run.as_ref().map(|run| run.number) == next.run.as_ref().map(|run| run.number);
    for test in &next.tests {
        let before = previous.tests.iter().find(|earlier| same_run && earlier.name == test.name);
        if before.map(|earlier| earlier.phase) != Some(test.phase) {
            notices.extend(of_test(number, test));
        }
    }
    if !(same_run && previous.phase == next.phase && previous.message == next.message) {
        notices.extend(of_phase(number, next, say));
    }
    notices
}

fn of_test(number: i64, test: &TestStatus) -> Option<Notice> {
    let name = &test.name;
    let message = test.message.as_deref();
    let (severity, reason, note) = match test.phase {
        TestPhase::Pending | TestPhase::Cleaning | TestPhase::Preparing => return None,
        TestPhase::Running => (Severity::Normal, "TestRunning", format!("test {name}: all clients run")),
        TestPhase::Completed => {
            let figures = test.summary.as_deref().unwrap_or("without figures");
            (Severity::Normal, "TestCompleted", format!("test {name}: {figures}"))
        }
        TestPhase::Error => {
            (Severity::Warning, "TestError", format!("test {name}: {}", message.unwrap_or("without a cause")))
        }
        TestPhase::Skipped => {
            (Severity::Warning, "TestSkipped", format!("test {name} was skipped: the run ended before it"))
        }
    };
    Some(Notice { severity, reason, note, occasion: format!("{number}/{name}") })
}

fn of_phase(number: i64, next: &BenchmarkStatus, say: &Say) -> Option<Notice> {
    let message = next.message.as_deref();
    let gates = next.gates_summary.as_deref().map(|summary| format!(", gates {summary}")).unwrap_or_default();
    let (severity, reason, note) = match next.phase? {
        Phase::Queued => (Severity::Normal, "Queued", message.unwrap_or("waiting for another run").to_owned()),
        Phase::Preparing => (Severity::Normal, "RunStarted", format!("run {number} has begun")),
        Phase::Running => return None,
        Phase::Cleaning => (Severity::Normal, "Cleaning", format!("run {number}: removing what it made")),
        Phase::Passed => (Severity::Normal, "Passed", format!("run {number} passed{gates}")),
        Phase::Failed => {
            (Severity::Warning, "Failed", format!("run {number}{gates}: {}", message.unwrap_or("a gate failed")))
        }
        Phase::Error => (Severity::Warning, "Error", message.unwrap_or("without a cause").to_owned()),
        Phase::Inconclusive => {
            let why = message.unwrap_or("a gate could not be judged");
            (Severity::Warning, "Inconclusive", format!("run {number}{gates}: {why}"))
        }
        Phase::Cancelled => (Severity::Normal, "Cancelled", message.unwrap_or("cancelled").to_owned()),
    };
    // Judging again under other gates is another occasion than the run's end.
    let judged = match say {
        Say::Judged { .. } => format!("/{}", next.observed_generation),
        Say::Invalid { .. } | Say::Suspended | Say::Refused { .. } => format!("/{}", next.observed_generation),
        Say::Queued { behind } => format!("/{behind}"),
        Say::Going { .. } | Say::Finished { .. } | Say::Cancelled { .. } | Say::Leaving { .. } => String::new(),
    };
    Some(Notice { severity, reason, note, occasion: format!("{number}{judged}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(number: i64, phase: Phase, tests: &[(&str, TestPhase)]) -> BenchmarkStatus {
        let test = |(name, phase): &(&str, TestPhase)| TestStatus {
            name: (*name).into(),
            phase: *phase,
            message: None,
            summary: None,
            engine: None,
            points: Vec::new(),
            points_omitted: None,
        };
        BenchmarkStatus {
            phase: Some(phase),
            run: serde_json::from_value(
                serde_json::json!({"number": number, "specHash": "h", "startTime": "2026-11-30T21:00:00Z"}),
            )
            .expect("a run"),
            tests: tests.iter().map(test).collect(),
            ..BenchmarkStatus::default()
        }
    }

    fn told(previous: &BenchmarkStatus, next: &BenchmarkStatus) -> Vec<(&'static str, String)> {
        let say = Say::Finished { tests: Vec::new(), left: Vec::new() };
        notices(previous, next, &say).into_iter().map(|notice| (notice.reason, notice.occasion)).collect()
    }

    #[test]
    fn a_transition_is_told_and_what_stays_is_not() {
        let preparing = status(1, Phase::Preparing, &[("a", TestPhase::Preparing), ("b", TestPhase::Pending)]);
        let running = status(1, Phase::Running, &[("a", TestPhase::Running), ("b", TestPhase::Pending)]);
        let next = status(1, Phase::Running, &[("a", TestPhase::Error), ("b", TestPhase::Preparing)]);
        let passed = status(1, Phase::Passed, &[("a", TestPhase::Completed), ("b", TestPhase::Completed)]);
        assert_eq!(told(&BenchmarkStatus::default(), &preparing), [("RunStarted", "1".into())]);
        assert_eq!(told(&preparing, &running), [("TestRunning", "1/a".into())]);
        assert_eq!(told(&running, &next), [("TestError", "1/a".into())]);
        assert_eq!(told(&passed, &passed), []);
    }

    #[test]
    fn another_run_tells_the_same_again_on_its_own_occasion() {
        let first = status(1, Phase::Passed, &[("a", TestPhase::Completed)]);
        let second = status(2, Phase::Passed, &[("a", TestPhase::Completed)]);
        assert_eq!(told(&first, &second), [("TestCompleted", "2/a".into()), ("Passed", "2".into())]);
    }
}
