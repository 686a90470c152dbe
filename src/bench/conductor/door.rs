//! Lets clients in: greets every connection in a thread of its own, checks that it knows the token and is one of the test's clients not
//! yet here, and from then on passes on what it says. Whoever is refused is told why and disturbs nothing.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::bench::protocol::{
    Answer, Claim, FrameError, Hello, MAX_FRAME, MAX_GREETING, Nonce, PROTOCOL, Register, ToConductor, Token,
    read_frame, read_frame_before, task_digest, write_frame,
};
use crate::contract::Task;

/// How long a greeting may take.
const GREETING: Duration = Duration::from_secs(10);
/// Greetings at once: strangers must not use up the conductor's memory.
const MAX_GREETINGS: usize = 256;
/// How long a write to a client may block.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// What comes through the door.
pub enum Arrival {
    Registered { client: u32, uid: String, stream: TcpStream, address: IpAddr },
    Said { client: u32, at: Instant, message: ToConductor },
    Lost { client: u32, cause: String },
}

pub struct Door {
    closing: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// What all greetings share.
struct Guard {
    task: Arc<Task>,
    digest: String,
    token: Token,
    /// UIDs of the clients that were let in, by index.
    inside: Mutex<Vec<Option<String>>>,
    arrivals: Sender<Arrival>,
    greetings: AtomicUsize,
}

impl Door {
    pub fn open(listener: TcpListener, task: Arc<Task>, token: Token) -> (Door, Receiver<Arrival>) {
        let (arrivals, receiver) = channel();
        let guard = Arc::new(Guard {
            digest: task_digest(&task),
            inside: Mutex::new(vec![None; task.nodes.len()]),
            task,
            token,
            arrivals,
            greetings: AtomicUsize::new(0),
        });
        let closing = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let closing = closing.clone();
            move || accept(&listener, &guard, &closing)
        });
        (Door { closing, thread }, receiver)
    }

    pub fn close(self) {
        self.closing.store(true, SeqCst);
        // Ends within a poll; a panic there has been reported already.
        let _ = self.thread.join();
    }
}

fn accept(listener: &TcpListener, guard: &Arc<Guard>, closing: &AtomicBool) {
    while !closing.load(SeqCst) {
        let mut ready = [PollFd::new(listener, PollFlags::IN)];
        let timeout = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
        if !matches!(poll(&mut ready, Some(&timeout)), Ok(1..)) {
            continue;
        }
        let Ok((stream, from)) = listener.accept() else {
            // Such as too many open files: trying at once again would spin.
            thread::sleep(Duration::from_millis(100));
            continue;
        };
        if guard.greetings.fetch_add(1, SeqCst) >= MAX_GREETINGS {
            guard.greetings.fetch_sub(1, SeqCst);
            continue;
        }
        let guard = guard.clone();
        thread::spawn(move || {
            let greeted = greet(&guard, &stream, from);
            guard.greetings.fetch_sub(1, SeqCst);
            if let Ok(Some(client)) = greeted {
                listen(&guard, client, stream);
            }
        });
    }
}

/// Returns the client's index when it was let in.
fn greet(guard: &Guard, stream: &TcpStream, from: SocketAddr) -> Result<Option<u32>, FrameError> {
    let deadline = Instant::now() + GREETING;
    stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(WRITE_TIMEOUT))).map_err(FrameError::Io)?;
    let nonce = Nonce::random().map_err(|error| FrameError::Io(io::Error::other(error)))?;
    let program = env!("CARGO_PKG_VERSION").to_owned();
    write_frame(&mut &*stream, &Hello { protocol: PROTOCOL, program, nonce: nonce.clone() })?;
    let register: Register = read_frame_before(stream, MAX_GREETING, deadline)?;
    match guard.admit(&nonce, &register) {
        Ok(()) => {
            let Claim { client, uid, advertise, .. } = register.claim;
            let proof = guard.token.prove_welcome(&nonce, &register.nonce);
            // The conductor may write as soon as it knows the client: the welcome must be first.
            let welcomed = write_frame(&mut &*stream, &Answer::Welcome { proof });
            let writer = welcomed.and_then(|()| stream.try_clone().map_err(FrameError::Io));
            let writer = writer.inspect_err(|_| guard.forget(client))?;
            let address = advertise.unwrap_or_else(|| from.ip()).to_canonical();
            let _ = guard.arrivals.send(Arrival::Registered { client, uid, stream: writer, address });
            Ok(Some(client))
        }
        Err(reason) => {
            write_frame(&mut &*stream, &Answer::Refused { reason })?;
            Ok(None)
        }
    }
}

/// Passes on what a client says until its connection ends.
fn listen(guard: &Guard, client: u32, stream: TcpStream) {
    loop {
        match read_frame(&mut &stream, MAX_FRAME) {
            Ok(message) => {
                let said = Arrival::Said { client, at: Instant::now(), message };
                if guard.arrivals.send(said).is_err() {
                    return;
                }
            }
            Err(error) => {
                let _ = guard.arrivals.send(Arrival::Lost { client, cause: error.to_string() });
                return;
            }
        }
    }
}

impl Guard {
    /// Frees the place of a client that was gone before it was welcome.
    fn forget(&self, client: u32) {
        self.inside.lock().expect("no holder panics")[client as usize] = None;
    }

    fn admit(&self, nonce: &Nonce, register: &Register) -> Result<(), String> {
        let Register { protocol, program, nonce: theirs, claim, proof } = register;
        let ours = env!("CARGO_PKG_VERSION");
        if *protocol != PROTOCOL {
            return Err(format!(
                "the client speaks protocol {protocol} (cephbench {program}), the conductor {PROTOCOL} (cephbench {ours})"
            ));
        }
        if !proof.is(&self.token.prove_claim(nonce, theirs, claim)) {
            return Err("the token is not the run's".into());
        }
        let Claim { run, test, client, uid, advertise: _, task_digest } = claim;
        if *run != self.task.run || *test != self.task.test {
            let (here, there) = (&self.task.run, &self.task.test);
            return Err(format!("this is test {there} of run {here}, not test {test} of run {run}"));
        }
        if *task_digest != self.digest {
            return Err("the client's task has other points or nodes than the conductor's".into());
        }
        let mut inside = self.inside.lock().expect("no holder panics");
        let clients = inside.len();
        let Some(place) = inside.get_mut(*client as usize) else {
            return Err(format!("there is no client {client}: the test has {clients}, counted from 0"));
        };
        match place {
            None => {
                *place = Some(uid.clone());
                Ok(())
            }
            Some(earlier) if earlier == uid => Err(format!("client {client} (pod {uid}) is registered already")),
            Some(earlier) => Err(format!("client {client} is pod {earlier}; a second pod, {uid}, is not taken")),
        }
    }
}
