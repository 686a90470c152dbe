//! What streams do when there are no threads for them. Links as a whole are tested through a conductor.

use super::*;
use crate::sys::restrict;

#[test]
fn streams_begin_together_and_in_order_of_their_results() {
    let done = in_threads(&[1, 2, 3], |number, began| Ok((*number, began))).expect("three threads");
    assert_eq!(done.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(done.iter().all(|(_, began)| *began == done[0].1));
}

#[test]
fn a_thread_that_can_not_be_had_is_an_error() {
    // In a thread of its own, which keeps the restriction for itself.
    let tried = thread::spawn(|| {
        restrict::forbid(&[libc::SYS_clone, libc::SYS_clone3], libc::EAGAIN).expect("a filter");
        in_threads(&[1, 2], |_, _| Ok(()))
    });
    let error = tried.join().expect("no panic").expect_err("no threads").to_string();
    assert!(error.starts_with("start the thread of stream 1: ") && error.ends_with("(EAGAIN)"), "{error}");
}
