//! The list of benchmarks as text. Pure.

use comfy_table::{ContentArrangement, Table, TableStyle};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;

use crate::api::BenchmarkStatus;

/// One line per benchmark, as `kubectl get` prints them, with the namespace where several are listed.
pub fn listing(benchmarks: &[(ObjectMeta, Option<BenchmarkStatus>)], namespaces: bool, now: Timestamp) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
    let mut header = vec!["NAME", "PHASE", "PROGRESS", "RUN", "GATES", "AGE"];
    if namespaces {
        header.insert(0, "NAMESPACE");
    }
    table.set_header(header);
    for (metadata, status) in benchmarks {
        let status = status.as_ref();
        let mut row = vec![
            metadata.name.clone().unwrap_or_default(),
            status.and_then(|status| status.phase).map_or_else(String::new, |phase| format!("{phase:?}")),
            status.and_then(|status| status.progress.as_ref()).map_or_else(String::new, |p| p.text.clone()),
            status.and_then(|status| status.run.as_ref()).map_or_else(String::new, |run| run.number.to_string()),
            status.and_then(|status| status.gates_summary.clone()).unwrap_or_default(),
            metadata.creation_timestamp.as_ref().map_or_else(String::new, |time| age(time.0, now)),
        ];
        if namespaces {
            row.insert(0, metadata.namespace.clone().unwrap_or_default());
        }
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The largest unit that fits: `45s`, `7m`, `3h`, `12d`.
fn age(created: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(created.as_second()).max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        172_800.. => format!("{}d", seconds / 86_400),
        i64::MIN..0 => "0s".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("within range")
    }

    fn benchmark(name: &str, status: Option<&str>) -> (ObjectMeta, Option<BenchmarkStatus>) {
        let metadata = ObjectMeta {
            name: Some(name.into()),
            namespace: Some("rook-ceph".into()),
            creation_timestamp: Some(Time(at(1_000))),
            ..ObjectMeta::default()
        };
        (metadata, status.map(|text| serde_yaml_ng::from_str(text).expect("a status")))
    }

    #[test]
    fn benchmarks_are_listed() {
        let list = [
            benchmark(
                "nightly",
                Some(
                    "{phase: Failed, gatesSummary: 1/3, progress: {testsDone: 3, tests: 3, percent: 100, text: 3/3},
                    run: {number: 3, specHash: x, startTime: '2026-11-30T22:00:00Z'}}",
                ),
            ),
            benchmark("new", None),
        ];
        insta::assert_snapshot!(listing(&list, true, at(1_000 + 300)));
        insta::assert_snapshot!(listing(&list, false, at(1_000 + 300)));
    }

    #[test]
    fn ages_are_short() {
        let ages: Vec<String> = [-5, 0, 119, 121, 7_199, 7_200, 172_800].map(|s| age(at(0), at(s))).into();
        assert_eq!(ages, ["0s", "0s", "119s", "2m", "119m", "2h", "2d"]);
    }
}
