//! A client's connection to its conductor: made once, proven on both sides, then read by a thread of its own, so that pings are answered and
//! a stop is noticed whatever the client is doing.

use std::io;
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{ClientError, Identity};
use crate::bench::protocol::{
    Answer, Claim, FrameError, Hello, MAX_FRAME, MAX_GREETING, Nonce, PROTOCOL, Peer, Register, ToClient, ToConductor,
    Token, read_frame, read_frame_before, task_digest, write_frame,
};
use crate::bench::stop::Stop;
use crate::contract::Task;

/// Between two tries to reach the conductor.
const RETRY: Duration = Duration::from_millis(250);
/// One try.
const CONNECT: Duration = Duration::from_secs(5);
const GREETING: Duration = Duration::from_secs(10);
/// The conductor pings each second; one that says nothing for so long is lost.
const SILENCE: Duration = Duration::from_secs(30);
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// What the conductor wants. Pings are answered already.
pub enum Command {
    Prepare { point: usize, round: u32, peer: Option<Peer> },
    Start,
    Stop,
    CleanUp,
    End { cause: Option<String> },
    Lost { cause: String },
}

pub struct Link {
    pub voice: Voice,
    commands: Receiver<Command>,
}

/// The half of a link that several threads share.
#[derive(Clone)]
pub struct Voice {
    writer: Arc<Mutex<TcpStream>>,
    /// Set at once when the conductor says stop or is gone, and never taken back.
    pub cancel: Arc<AtomicBool>,
}

impl Voice {
    /// Tells the conductor. A connection that is broken is noticed by its reader.
    pub fn send(&self, message: &ToConductor) {
        let mut writer = self.writer.lock().expect("no holder panics");
        let _ = write_frame(&mut *writer, message);
    }
}

impl Link {
    /// Reaches the conductor, trying again until the task's prepare timeout, and registers.
    pub fn connect(
        task: &Task,
        token: &Token,
        conductor: &str,
        identity: &Identity,
        stop: &Stop,
    ) -> Result<Link, ClientError> {
        let deadline = Instant::now() + Duration::from_secs(task.prepare_timeout_seconds);
        let stream = loop {
            if let Some(signal) = stop.asked() {
                return Err(ClientError::Stopped { signal });
            }
            match greet(task, token, conductor, identity) {
                Ok(stream) => break stream,
                Err(error) if error.is_final() || Instant::now() >= deadline => return Err(error),
                Err(_) => thread::sleep(RETRY),
            }
        };
        let broken = |cause| ClientError::Connect { conductor: conductor.into(), cause: FrameError::Io(cause) };
        stream.set_read_timeout(Some(SILENCE)).map_err(broken)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT)).map_err(broken)?;
        let writer = Arc::new(Mutex::new(stream.try_clone().map_err(broken)?));
        let voice = Voice { writer, cancel: Arc::new(AtomicBool::new(false)) };
        let (sender, commands) = channel();
        let ear = Ear { stream, voice: voice.clone(), commands: sender };
        thread::spawn(move || ear.listen());
        Ok(Link { voice, commands })
    }

    /// The next command, if one comes in time.
    pub fn next(&self, patience: Duration) -> Option<Command> {
        match self.commands.recv_timeout(patience) {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Command::Lost { cause: "connection closed".into() }),
        }
    }
}

impl Drop for Link {
    /// The reading thread must not keep a connection alive whose client is gone.
    fn drop(&mut self) {
        if let Ok(writer) = self.voice.writer.lock() {
            let _ = writer.shutdown(Shutdown::Both);
        }
    }
}

fn greet(task: &Task, token: &Token, conductor: &str, identity: &Identity) -> Result<TcpStream, ClientError> {
    let broken = |cause| ClientError::Connect { conductor: conductor.into(), cause };
    let stream = connect_any(conductor).map_err(|cause| broken(FrameError::Io(cause)))?;
    stream.set_nodelay(true).map_err(|cause| broken(FrameError::Io(cause)))?;
    let deadline = Instant::now() + GREETING;
    let Hello { protocol, program, nonce } = read_frame_before(&stream, MAX_GREETING, deadline).map_err(broken)?;
    if protocol != PROTOCOL {
        return Err(ClientError::Protocol { theirs: protocol, program });
    }
    let ours = Nonce::random().map_err(|error| broken(FrameError::Io(io::Error::other(error))))?;
    let claim = Claim {
        run: task.run.clone(),
        test: task.test.clone(),
        client: task.client,
        uid: identity.uid.clone(),
        advertise: identity.advertise,
        task_digest: task_digest(task),
    };
    let proof = token.prove_claim(&nonce, &ours, &claim);
    let program = env!("CARGO_PKG_VERSION").to_owned();
    let register = Register { protocol: PROTOCOL, program, nonce: ours.clone(), claim, proof };
    write_frame(&mut &stream, &register).map_err(broken)?;
    match read_frame_before(&stream, MAX_GREETING, deadline).map_err(broken)? {
        Answer::Refused { reason } => Err(ClientError::Refused { reason }),
        Answer::Welcome { proof } if proof.is(&token.prove_welcome(&nonce, &ours)) => Ok(stream),
        Answer::Welcome { .. } => Err(ClientError::Impostor { conductor: conductor.into() }),
    }
}

/// The first of the host's addresses that answers.
fn connect_any(conductor: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in conductor.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Reads commands until the connection ends, and answers pings.
struct Ear {
    stream: TcpStream,
    voice: Voice,
    commands: Sender<Command>,
}

impl Ear {
    fn listen(self) {
        loop {
            let command = match read_frame(&mut &self.stream, MAX_FRAME) {
                Ok(ToClient::Ping { id }) => {
                    self.voice.send(&ToConductor::Pong { id });
                    continue;
                }
                Ok(ToClient::Prepare { point, round, peer }) => Command::Prepare { point, round, peer },
                Ok(ToClient::Start) => Command::Start,
                Ok(ToClient::Stop) => {
                    self.voice.cancel.store(true, Relaxed);
                    Command::Stop
                }
                Ok(ToClient::CleanUp) => Command::CleanUp,
                Ok(ToClient::End { cause }) => Command::End { cause },
                Err(error) => {
                    self.voice.cancel.store(true, Relaxed);
                    let cause = match error {
                        FrameError::Late => format!("the conductor said nothing for {} s", SILENCE.as_secs()),
                        other => other.to_string(),
                    };
                    let _ = self.commands.send(Command::Lost { cause });
                    return;
                }
            };
            if self.commands.send(command).is_err() {
                return;
            }
        }
    }
}
