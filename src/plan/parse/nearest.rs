//! The known name that somebody likely meant.

/// The name with the fewest edits to `wrong`, if they are few for its length. Case doesn't count.
pub(super) fn nearest<'n>(wrong: &str, names: &[&'n str]) -> Option<&'n str> {
    let lower = wrong.to_lowercase();
    let best = names.iter().map(|name| (edits(&lower, &name.to_lowercase()), *name)).min_by_key(|(edits, _)| *edits)?;
    let (edits, name) = best;
    (edits <= name.chars().count().div_ceil(3)).then_some(name)
}

/// Letters to insert, to remove, to replace, or to swap with their neighbour, at least.
fn edits(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut this = vec![row; to.len() + 1];
        for column in 1..=to.len() {
            let same = from[row - 1] == to[column - 1];
            let mut least = (last[column - 1] + usize::from(!same)).min(last[column] + 1).min(this[column - 1] + 1);
            let swapped = row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
            if swapped {
                least = least.min(before[column - 2] + 1);
            }
            this[column] = least;
        }
        before = std::mem::replace(&mut last, this);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["blockSize", "bytes", "duration", "jobs", "op", "queueDepth", "rampUp", "rounds"];
        for (wrong, meant) in [
            ("blocksize", Some("blockSize")),
            ("blockSizes", Some("blockSize")),
            ("block_size", Some("blockSize")),
            ("job", Some("jobs")),
            ("ops", Some("op")),
            ("queueDpeth", Some("queueDepth")),
            ("readPercent", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, &names), meant, "{wrong}");
        }
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn edits_are_counted() {
        for (from, to, count) in
            [("", "", 0), ("abc", "", 3), ("", "abc", 3), ("abc", "acb", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(edits(from, to), count, "{from} {to}");
        }
    }
}
