//! The clients that are here, as the conductor sees them: sends to them, waits for what they say, and notices when one is gone or
//! silent. What that is in words is in [`super::words`].

use std::collections::VecDeque;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::door::Arrival;
use super::events::{Event, Line};
use super::failure::{Failure, Waiting};
use crate::bench::protocol::{Doing, EngineUsed, ToClient, ToConductor, write_frame};
use crate::bench::stop::Stop;
use crate::contract::{CLEANUP_GRACE_SECONDS, Task};

/// How often clients are asked for a sign of life.
const PING: Duration = Duration::from_secs(1);
/// A client that says nothing for so long is lost. Clients answer pings whatever else they do.
const SILENCE: Duration = Duration::from_secs(15);
/// How often everything that is not a message is looked at.
const TICK: Duration = Duration::from_millis(100);

/// Which client said what, and when it was heard.
type Said = (u32, Instant, ToConductor);

/// How long a line waits for the clients to say how far they are.
const LINE_PATIENCE: Duration = Duration::from_millis(500);

struct Member {
    uid: String,
    stream: TcpStream,
    address: IpAddr,
    heard: Instant,
    /// The shortest seen.
    round_trip: Duration,
    /// The last one sent, until it is answered.
    ping: Option<(u64, Instant)>,
    doing: Doing,
    /// Whether `doing` came since the last line.
    fresh: bool,
    gone: Option<String>,
}

/// A round that is going.
pub(super) struct Going {
    clients: Vec<u32>,
    pub(super) started: Instant,
    pub(super) ramp: Duration,
    pub(super) duration: Duration,
    lines: u64,
    last: (Instant, u64),
}

/// What a client said at the end.
#[derive(Default)]
pub struct CleanedUp {
    pub notes: Vec<String>,
    pub problem: Option<String>,
    pub engine: Option<EngineUsed>,
}

impl CleanedUp {
    /// Of a client that said nothing.
    fn not(problem: String) -> CleanedUp {
        CleanedUp { problem: Some(problem), ..CleanedUp::default() }
    }
}

pub struct Ensemble<'a> {
    pub(super) task: Arc<Task>,
    arrivals: Receiver<Arrival>,
    members: Vec<Option<Member>>,
    /// What clients said before the others were here: they say it once.
    early: VecDeque<Said>,
    stop: &'a Stop,
    observe: &'a mut dyn FnMut(Event),
    pub(super) waiting: Waiting,
    pub(super) going: Option<Going>,
    pinged: Instant,
    pings: u64,
}

impl<'a> Ensemble<'a> {
    pub fn new(
        task: Arc<Task>,
        arrivals: Receiver<Arrival>,
        stop: &'a Stop,
        observe: &'a mut dyn FnMut(Event),
    ) -> Ensemble<'a> {
        let members = task.nodes.iter().map(|_| None).collect();
        let pinged = Instant::now();
        let waiting = Waiting::Registration;
        Ensemble {
            task,
            arrivals,
            members,
            early: VecDeque::new(),
            stop,
            observe,
            waiting,
            going: None,
            pinged,
            pings: 0,
        }
    }

    pub fn tell(&mut self, event: Event) {
        (self.observe)(event);
    }

    pub fn everybody(&self) -> Vec<u32> {
        (0..self.members.len() as u32).collect()
    }

    fn member(&self, client: u32) -> &Member {
        self.members[client as usize].as_ref().expect("asked for after all have registered")
    }

    pub fn uid(&self, client: u32) -> String {
        self.member(client).uid.clone()
    }

    /// Where other clients reach this one.
    pub fn address(&self, client: u32) -> IpAddr {
        self.member(client).address
    }

    pub fn round_trip(&self, client: u32) -> Duration {
        self.member(client).round_trip
    }

    /// Sends to one client. One that can't be written to is found by its silence or its closed connection.
    pub fn send(&mut self, client: u32, message: &ToClient) {
        if let Some(member) = &mut self.members[client as usize]
            && member.gone.is_none()
        {
            let _ = write_frame(&mut member.stream, message);
        }
    }

    pub fn send_all(&mut self, message: &ToClient) {
        for client in self.everybody() {
            self.send(client, message);
        }
    }

    pub fn wait_for_registrations(&mut self, until: Instant) -> Result<(), Failure> {
        self.waiting = Waiting::Registration;
        while self.members.iter().any(Option::is_none) {
            if let Some(said) = self.next(until)? {
                self.early.push_back(said);
            } else if Instant::now() >= until && self.members.iter().any(Option::is_none) {
                let clients = self.everybody().into_iter().filter(|c| self.members[*c as usize].is_none()).collect();
                return Err(Failure::Missing { clients, seconds: self.task.prepare_timeout_seconds });
            }
        }
        Ok(())
    }

    /// Waits until `take` said of each of these clients that it is done. `take` gets what they say, but for what is the same at all
    /// times: pings, progress, failures.
    pub fn gather(
        &mut self,
        clients: &[u32],
        waiting: Waiting,
        until: Instant,
        mut take: impl FnMut(&mut Self, u32, Instant, ToConductor) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        self.waiting = waiting;
        let mut left = clients.to_vec();
        while !left.is_empty() {
            let said = match self.early.pop_front() {
                Some(said) => Some(said),
                None => self.next(until)?,
            };
            let Some((client, at, message)) = said else {
                if Instant::now() >= until {
                    return Err(Failure::Late { clients: left, what: waiting });
                }
                continue;
            };
            if take(self, client, at, message)? {
                left.retain(|other| *other != client);
            }
        }
        Ok(())
    }

    /// A round begins on these clients.
    pub fn start(&mut self, clients: &[u32], ramp: Duration, duration: Duration) {
        let started = Instant::now();
        for client in clients {
            let member = self.members[*client as usize].as_mut().expect("all have registered");
            (member.doing, member.fresh) = (Doing::default(), false);
        }
        let clients = clients.to_vec();
        self.going = Some(Going { clients, started, ramp, duration, lines: 0, last: (started, 0) });
        if let Some(going) = &self.going {
            for client in going.clients.clone() {
                self.send(client, &ToClient::Start);
            }
        }
    }

    pub fn end_round(&mut self) {
        self.going = None;
    }

    /// Asks all clients that are here to remove what they made, and waits for them, however the test ended.
    pub fn clean_up(&mut self, mut until: Instant) -> Vec<(u32, CleanedUp)> {
        self.send_all(&ToClient::CleanUp);
        let mut ended = Vec::new();
        let mut left: Vec<u32> =
            self.everybody().into_iter().filter(|client| self.members[*client as usize].is_some()).collect();
        while !left.is_empty() && Instant::now() < until {
            if self.stop.asked().is_some() {
                until = until.min(Instant::now() + Duration::from_secs(CLEANUP_GRACE_SECONDS));
            }
            self.ping();
            self.mark_silent();
            if let Ok(arrival) = self.arrivals.recv_timeout(TICK)
                && let Some((client, _, ToConductor::CleanedUp { notes, problem, engine })) =
                    self.receive(arrival).unwrap_or(None)
            {
                left.retain(|other| *other != client);
                ended.push((client, CleanedUp { notes, problem, engine }));
            }
            for client in std::mem::take(&mut left) {
                match &self.member(client).gone {
                    None => left.push(client),
                    Some(cause) => {
                        let problem = format!("the client is lost ({cause}), what it made may remain");
                        ended.push((client, CleanedUp::not(problem)));
                    }
                }
            }
        }
        ended.extend(left.into_iter().map(|client| (client, CleanedUp::not("it did not end in time".into()))));
        ended
    }

    /// Nothing more is said to anybody.
    pub fn dismiss(&mut self, cause: Option<&str>) {
        self.send_all(&ToClient::End { cause: cause.map(str::to_owned) });
        for member in self.members.iter().flatten() {
            let _ = member.stream.shutdown(Shutdown::Write);
        }
    }

    /// The next thing that a client says, or `None` when there is nothing yet.
    fn next(&mut self, until: Instant) -> Result<Option<Said>, Failure> {
        if let Some(signal) = self.stop.asked() {
            return Err(Failure::Stopped { signal });
        }
        self.ping();
        if let Some((client, cause)) = self.mark_silent() {
            return Err(Failure::Lost { client, cause });
        }
        self.draw_line();
        let patience = TICK.min(until.saturating_duration_since(Instant::now()));
        match self.arrivals.recv_timeout(patience) {
            Ok(arrival) => self.receive(arrival),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                // Nobody can come any more; the deadline ends it.
                thread::sleep(patience);
                Ok(None)
            }
        }
    }

    fn receive(&mut self, arrival: Arrival) -> Result<Option<Said>, Failure> {
        match arrival {
            Arrival::Registered { client, uid, stream, address } => {
                let heard = Instant::now();
                let member = Member {
                    uid,
                    stream,
                    address,
                    heard,
                    round_trip: Duration::MAX,
                    ping: None,
                    doing: Doing::default(),
                    fresh: false,
                    gone: None,
                };
                self.members[client as usize] = Some(member);
                let task = self.task.clone();
                let clients = task.nodes.len() as u32;
                self.tell(Event::Registered { client, node: &task.nodes[client as usize], clients });
                Ok(None)
            }
            Arrival::Lost { client, cause } => {
                let member = self.members[client as usize].as_mut().expect("it registered before it was lost");
                if member.gone.is_some() {
                    return Ok(None);
                }
                member.gone = Some(cause.clone());
                Err(Failure::Lost { client, cause })
            }
            Arrival::Said { client, at, message } => self.hear(client, at, message),
        }
    }

    fn hear(&mut self, client: u32, at: Instant, message: ToConductor) -> Result<Option<Said>, Failure> {
        let member = self.members[client as usize].as_mut().expect("it registered before it spoke");
        member.heard = at;
        match message {
            ToConductor::Pong { id } => {
                if let Some((_, sent)) = member.ping.take_if(|(sent_id, _)| *sent_id == id) {
                    member.round_trip = member.round_trip.min(at.saturating_duration_since(sent));
                }
                Ok(None)
            }
            ToConductor::Progress(doing) => {
                member.doing = doing;
                member.fresh = true;
                Ok(None)
            }
            ToConductor::Saying { text } => {
                let task = self.task.clone();
                self.tell(Event::Saying { client, node: &task.nodes[client as usize], text: &text });
                Ok(None)
            }
            ToConductor::Failed { cause } => Err(Failure::Client { client, cause }),
            other => Ok(Some((client, at, other))),
        }
    }

    fn ping(&mut self) {
        let now = Instant::now();
        if now < self.pinged + PING {
            return;
        }
        self.pinged = now;
        self.ping_all();
    }

    /// Measures the round trips once more, when it matters.
    pub fn ping_all(&mut self) {
        self.pings += 1;
        let id = self.pings;
        for client in self.everybody() {
            if let Some(member) = &mut self.members[client as usize] {
                member.ping = Some((id, Instant::now()));
            }
            self.send(client, &ToClient::Ping { id });
        }
    }

    /// Marks a client that has been silent for too long as gone, and names the first.
    fn mark_silent(&mut self) -> Option<(u32, String)> {
        let now = Instant::now();
        for (client, member) in self.members.iter_mut().enumerate() {
            if let Some(member) = member
                && member.gone.is_none()
                && now > member.heard + SILENCE
            {
                let cause = format!("no sign of life for {} s", SILENCE.as_secs());
                member.gone = Some(cause.clone());
                return Some((client as u32, cause));
            }
        }
        None
    }

    /// Tells a line each second while a round is going.
    fn draw_line(&mut self) {
        let Some(going) = &mut self.going else { return };
        let now = Instant::now();
        let time = now - going.started;
        let due = Duration::from_secs(going.lines + 1);
        let member = |client: &u32| self.members[*client as usize].as_ref();
        let all_fresh = going.clients.iter().filter_map(member).all(|member| member.fresh);
        if time < due || (!all_fresh && time < due + LINE_PATIENCE) {
            return;
        }
        going.lines = time.as_secs();
        let mut sum = Doing { measuring: true, ..Doing::default() };
        for client in &going.clients {
            let Some(Member { doing, fresh, .. }) = &mut self.members[*client as usize] else { continue };
            *fresh = false;
            sum.measuring &= doing.measuring;
            sum.ops += doing.ops;
            sum.bytes += doing.bytes;
            sum.errors += doing.errors;
            sum.in_flight += doing.in_flight;
            sum.latency_sum_nanos += doing.latency_sum_nanos;
            sum.last_latency_nanos = sum.last_latency_nanos.max(doing.last_latency_nanos);
        }
        let (before, bytes_before) = going.last;
        going.last = (now, sum.bytes);
        let line = Line::new(going.lines, time, now - before, sum, sum.bytes.saturating_sub(bytes_before));
        self.tell(Event::Second(line));
    }
}
