//! Why and where a test failed, in words for people: which client, on which node, at which moment of its window.

use super::ensemble::Ensemble;
use super::failure::{Failure, Waiting};

impl Ensemble<'_> {
    /// A failure in words.
    pub fn explain(&self, failure: &Failure) -> String {
        match failure {
            Failure::Missing { clients, seconds } => {
                format!("{} did not register within {seconds} s", self.names(clients))
            }
            Failure::Late { clients, what } => match what {
                Waiting::Registration => format!("{} did not register in time", self.names(clients)),
                Waiting::Opening => format!("{} did not open the target in time", self.names(clients)),
                Waiting::Preparation => format!("{} was not ready in time", self.names(clients)),
                Waiting::Round => format!("{} did not end its round in time", self.names(clients)),
            },
            Failure::Lost { client, cause } => match self.place() {
                Some(place) => format!("{} stopped {place}: {cause}", self.name(*client)),
                None => format!("{} was lost while {}: {cause}", self.name(*client), self.waiting),
            },
            Failure::Client { client, cause } => match self.place() {
                Some(place) => format!("{} stopped {place}: {cause}", self.name(*client)),
                None => format!("{}: {cause}", self.name(*client)),
            },
            Failure::Test { cause } => cause.clone(),
            Failure::Stopped { signal } => match self.place() {
                Some(place) => format!("stopped {place}: {signal}"),
                None => format!("stopped before the end of the test: {signal}"),
            },
        }
    }

    pub fn name(&self, client: u32) -> String {
        format!("client {client} on {}", self.task.nodes[client as usize])
    }

    fn names(&self, clients: &[u32]) -> String {
        clients.iter().map(|client| self.name(*client)).collect::<Vec<_>>().join(", ")
    }

    /// Where in its window the round is: `at 31 of 60 s`.
    fn place(&self) -> Option<String> {
        let going = self.going.as_ref()?;
        let time = going.started.elapsed();
        let (stage, time, whole) = match time.checked_sub(going.ramp) {
            Some(measured) => ("", measured.min(going.duration), going.duration),
            None => ("in the ramp, ", time, going.ramp),
        };
        Some(format!("{stage}at {} of {} s", time.as_secs(), whole.as_secs_f64()))
    }
}
