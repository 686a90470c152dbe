//! Room for what is kept of a run: each of its tests has an equal share, and its figures have to fit into that.

/// Bytes of everything that is kept of one run.
pub const MOST_KEPT: usize = 1 << 20;
/// Of these, bytes for the plan.
const PLAN: usize = 64 << 10;
/// Bytes of a point's figures, packed, and of each of its rounds: measured with figures that have nothing in common.
const POINT: usize = 75;
const ROUND: usize = 12;

/// Bytes that are kept of a test, in a run of so many.
pub fn share(tests: usize) -> usize {
    (MOST_KEPT - PLAN) / tests.max(1)
}

/// Points of so many rounds whose figures fit into a test's share.
pub fn most_points(tests: usize, rounds: u32) -> usize {
    share(tests) / (POINT + ROUND * rounds as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_points_of_one_test_fit_and_of_32_tests_fewer() {
        assert!(most_points(1, 3) > 4096);
        assert!(most_points(16, 3) > 512);
        assert_eq!(most_points(32, 3), 276);
    }
}
