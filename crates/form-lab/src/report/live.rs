//! The live page of a training run, served to this computer only, read-only.
//!
//! The server listens on the loopback address and refuses requests with another host name, so that neither other computers nor other
//! pages in a browser can read it. No request writes anything. Episodes are played in a separate thread: the page shows them when they
//! are ready.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, anyhow};
use tiny_http::{Header, Method, Request, Response, Server};

use super::data::{EvaluationData, FOR_THIS_PAGE, Live, PageData, RunData};
use super::links::{self, From};
use super::reading::UNFINISHED;
use super::{page, page_data, reading, title};
use crate::atomic_files::read_bytes;
use crate::error_message::message;
use crate::play_callback::PlayCallback;
use crate::report::Showing;
use crate::run::RunFolder;

/// The default port.
const PORT: u16 = 8765;
/// The seconds between two polls of the page.
const SECONDS: u64 = 2;
/// The minimum time between two sets of replays, which take at most a tenth of the time.
const BETWEEN_REPLAYS: Duration = Duration::from_secs(15);

/// An open port for the live page. Opening it before a run begins shows early that it is free.
#[derive(Debug)]
pub struct LivePort {
    listener: TcpListener,
}

impl LivePort {
    /// Opens this port; if none is given, the default port or a free one.
    pub fn open(port: Option<u16>) -> Result<Self> {
        let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match port {
            Some(port) => listen(port).map_err(|error| occupied(port, &error)),
            None => (listen(PORT).or_else(|_| listen(0))).map_err(|error| occupied(PORT, &error)),
        };
        let listener = listener?;
        Ok(Self { listener })
    }
}

/// The page of a run, served until this is dropped.
pub struct LivePage {
    server: Arc<Server>,
    address: SocketAddr,
    /// Stops playing episodes.
    over: Arc<AtomicBool>,
}

impl LivePage {
    /// Serves the page of a run.
    pub fn serve(run: &Path, port: LivePort) -> Result<Self> {
        let listener = port.listener;
        let address = listener.local_addr()?;
        let server = Server::from_listener(listener, None)
            .map_err(|error| anyhow!("cannot serve the page: {error}"))?;
        let server = Arc::new(server);
        let over = Arc::new(AtomicBool::new(false));
        let mut responder = Responder::new(run, over.clone());
        let asked = server.clone();
        std::thread::Builder::new()
            .name("page".to_owned())
            .spawn(move || {
                for request in asked.incoming_requests() {
                    responder.answer(request);
                }
            })?;
        Ok(Self {
            server,
            address,
            over,
        })
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for LivePage {
    fn drop(&mut self) {
        // The threads need not be joined: they write nothing.
        self.over.store(true, Ordering::Relaxed);
        self.server.unblock();
    }
}

fn occupied(port: u16, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            anyhow!("--live {port}: the port is in use: name another one, or none")
        }
        _ => anyhow!("--live {port}: cannot listen: {error}"),
    }
}

/// Answers requests and caches the data.
struct Responder {
    run: PathBuf,
    /// The state of its files, and the number of times that episodes were played.
    stamp: (Vec<Option<(u64, SystemTime)>>, u64),
    data: Option<PageData>,
    /// The episodes that a thread has played.
    played: Arc<Mutex<Played>>,
    over: Arc<AtomicBool>,
}

/// Episodes of a run, played in a separate thread.
#[derive(Default)]
struct Played {
    /// The run with its episodes; none before the first ones are played.
    run: Option<RunData>,
    times: u64,
    /// Whether episodes are being played.
    busy: bool,
    /// When episodes may be played again.
    after: Option<Instant>,
    /// Whether the run was over by then.
    last: bool,
}

/// An HTTP reply.
struct Reply {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Reply {
    fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            kind,
            body: body.into(),
        }
    }

    fn refusal(status: u16, text: &str) -> Self {
        Self {
            status,
            ..Self::new("text/plain; charset=utf-8", format!("{text}\n"))
        }
    }
}

impl Responder {
    fn new(run: &Path, over: Arc<AtomicBool>) -> Self {
        Self {
            run: run.to_owned(),
            stamp: (Vec::new(), 0),
            data: None,
            played: Arc::default(),
            over,
        }
    }

    fn answer(&mut self, request: Request) {
        let reply = match (is_for_this_computer(&request), request.method()) {
            (false, _) => Reply::refusal(403, "this page is only for this computer"),
            (true, Method::Get | Method::Head) => self.reply(request.url()),
            (true, _) => Reply::refusal(405, "this page is read-only"),
        };
        let mut response = Response::from_data(reply.body)
            .with_status_code(reply.status)
            .with_chunked_threshold(usize::MAX);
        for (name, value) in [
            ("Content-Type", reply.kind),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("Allow", "GET, HEAD"),
        ] {
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        // In a thread, so that a slow reader does not block others.
        std::thread::spawn(move || request.respond(response));
    }

    fn reply(&mut self, url: &str) -> Reply {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let made = match path {
            "/" | "/index.html" => (self.current()).and_then(|data| {
                let html = page::html(&title(&data.runs), data)?;
                Ok(Reply::new("text/html; charset=utf-8", html))
            }),
            "/data.json" => (self.current())
                .and_then(|data| Ok(Reply::new("application/json", page::json(data)?))),
            path => self.file(path),
        };
        made.unwrap_or_else(|error| Reply::refusal(500, &message(&error)))
    }

    /// The current data.
    fn current(&mut self) -> Result<&PageData> {
        self.play();
        let times = self.played().times;
        let stamp = (reading::stamp(&self.run), times);
        let data = match self.data.take() {
            Some(data) if stamp == self.stamp => data,
            _ => {
                let run = self.read()?;
                // After the end of a run only its last episodes are new.
                let more = run.status == UNFINISHED || !self.played().last;
                let live = more.then_some(Live { seconds: SECONDS });
                self.stamp = stamp;
                page_data(vec![run], live)
            }
        };
        Ok(self.data.insert(data))
    }

    fn played(&self) -> MutexGuard<'_, Played> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the run and adds the episodes played last.
    fn read(&self) -> Result<RunData> {
        let nothing = Showing {
            replays: 0,
            ..Showing::BRIEF
        };
        let run = reading::run(&self.run, From::Server, nothing, PlayCallback::none())?;
        let mut run = run.unwrap_or_default();
        if let Some(played) = &self.played().run {
            run.rooms.clone_from(&played.rooms);
            run.replays.clone_from(&played.replays);
            // The final evaluation of the run itself comes first.
            let known = std::mem::take(&mut run.evaluations);
            let is_known = |one: &&EvaluationData| known.iter().all(|k| k.held_out != one.held_out);
            let own = (played.evaluations.iter()).filter(|one| one.when == FOR_THIS_PAGE);
            let own: Vec<EvaluationData> = own.filter(is_known).cloned().collect();
            run.evaluations = known.into_iter().chain(own).collect();
        }
        Ok(run)
    }

    /// Plays episodes in a thread if they are due; once more after the end of the run.
    fn play(&self) {
        let is_over = RunFolder::at(&self.run).result().exists();
        {
            let mut played = self.played();
            let early = played.after.is_some_and(|after| Instant::now() < after);
            if played.busy || played.last || early && !is_over {
                return;
            }
            played.busy = true;
        }
        let (run, played, over) = (self.run.clone(), self.played.clone(), self.over.clone());
        let work = move || {
            let start = Instant::now();
            let callback = PlayCallback::none().interrupted_by(&over);
            let read = reading::run(&run, From::Server, Showing::BRIEF, callback);
            let mut played = played.lock().unwrap_or_else(PoisonError::into_inner);
            // If replays fail, the page goes without them.
            if let Ok(Some(read)) = read {
                played.run = Some(read);
            }
            played.times += 1;
            played.busy = false;
            played.last = is_over;
            played.after = Some(Instant::now() + BETWEEN_REPLAYS.max(10 * start.elapsed()));
        };
        let spawned = std::thread::Builder::new()
            .name("episodes".to_owned())
            .spawn(work);
        if spawned.is_err() {
            self.played().busy = false;
        }
    }

    /// A file of the run, if the page links to it.
    fn file(&self, path: &str) -> Result<Reply> {
        let wanted = path.trim_start_matches('/');
        let files = links::files(&self.run, From::Server);
        let Some(file) = (files.iter()).find(|file| file.href.as_deref() == Some(wanted)) else {
            return Ok(Reply::refusal(404, "no such page"));
        };
        let text = ["toml", "csv", "jsonl", "json", "log", "form", "svg"];
        let end = file.name.rsplit('.').next().unwrap_or_default();
        // SVG files as text, too, so that they cannot run scripts.
        let kind = match text.contains(&end) {
            true => "text/plain; charset=utf-8",
            false => "application/octet-stream",
        };
        Ok(Reply::new(kind, read_bytes(&self.run.join(&file.name))?))
    }
}

/// Whether a request names this computer. Other host names are DNS rebinding attacks.
fn is_for_this_computer(request: &Request) -> bool {
    let host = (request.headers().iter()).find(|header| header.field.equiv("Host"));
    host.is_some_and(|host| is_this_computer(host.value.as_str()))
}

fn is_this_computer(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost"].contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_host_names_are_refused() {
        for good in ["127.0.0.1:8765", "localhost:1", "LOCALHOST", "127.0.0.1"] {
            assert!(is_this_computer(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example:8765",
            "127.0.0.1.evil:80",
            "0.0.0.0",
            "127.0.0.1:80@evil",
        ] {
            assert!(!is_this_computer(bad), "{bad}");
        }
    }
}
