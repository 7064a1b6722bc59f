//! The page of runs: what is on it is what is in the folders, and what is damaged or missing is said.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use form_core::{Machine, TraceFile};
use form_lab::{
    Display, Finish, GridEnvFactory, LivePage, LivePort, Method, MetricsRow, PlayCallback,
    RunFolder, SavedRun, Session, Showing, read_rows, write_report,
};
use form_rl::PlayProgress;
use serde_json::Value;

use crate::tiny::config;

const SHOWING: Showing = Showing {
    episodes: 20,
    replays: 4,
    seed: 7,
    work: None,
};

/// The folder of a run that is over.
fn trained() -> &'static Path {
    static RUN: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, run) = RUN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a run");
        make(folder.path(), &run, Method::Form);
        (folder, run)
    });
    run
}

fn make(folder: &Path, run: &Path, method: Method) {
    let config = config(folder, method);
    let envs = GridEnvFactory::new(&config).unwrap();
    let mut session = Session::begin(config, envs, run, Arc::default()).unwrap();
    let finish = session.run(&mut Display::quiet()).unwrap();
    assert!(matches!(finish, Finish::Ended(_)));
}

/// A copy of the run, to be spoilt.
fn copy() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("copy");
    for inner in ["", "machines", "checkpoints"] {
        fs::create_dir_all(run.join(inner)).unwrap();
        for entry in fs::read_dir(trained().join(inner)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.file_name().unwrap();
                fs::copy(&path, run.join(inner).join(name)).unwrap();
            }
        }
    }
    (folder, run)
}

/// The page of runs: its text, its data, and what was said about it.
fn page(runs: &[&Path], showing: Showing) -> (String, Value, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let runs: Vec<PathBuf> = runs.iter().map(|run| (*run).to_owned()).collect();
    let notes = write_report(&runs, &file, showing, PlayCallback::none())
        .unwrap()
        .unwrap();
    let html = fs::read_to_string(&file).unwrap();
    let data = data_of(&html);
    (html, data, notes)
}

fn data_of(html: &str) -> Value {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn the_page_says_what_the_folder_says() {
    let (_, data, notes) = page(&[trained()], SHOWING);
    assert_eq!(notes, Vec::<String>::new());
    let run = &data["runs"][0];
    assert_eq!(
        (&run["task"], &run["method"]),
        (&"tiny".into(), &"form".into())
    );
    assert_eq!(run["status"], "out-of-iterations");
    let folder = RunFolder::open(trained()).unwrap();
    let rows: Vec<MetricsRow> = read_rows(&folder.metrics()).unwrap();
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(run["curves"]["iteration"][i], row.iteration);
        assert_eq!(run["curves"]["steps"][i], row.steps);
        assert_eq!(run["curves"]["success"][i].as_f64(), row.success);
        assert_eq!(run["curves"]["length"][i].as_f64(), row.length);
        assert!(run["curves"]["seconds"][i].is_f64());
    }
    assert_eq!(
        run["curves"]["iteration"].as_array().unwrap().len(),
        rows.len()
    );
    let files = folder.machines().unwrap();
    let machines = run["machines"].as_array().unwrap();
    assert_eq!(machines.len(), files.len());
    for (shown, file) in machines.iter().zip(files) {
        let machine: Machine = fs::read_to_string(file).unwrap().parse().unwrap();
        assert_eq!(shown["svg"], form_core::to_svg(&machine));
        assert_eq!(
            shown["edges"].as_array().unwrap().len(),
            machine.edges().len()
        );
    }
    let config = run["config"].as_array().unwrap();
    assert!(
        config.contains(&serde_json::json!(["ppo.epochs", "1"])),
        "{config:?}"
    );
    let policies = run["policies"].as_array().unwrap();
    assert!(!policies.is_empty() && policies[0]["samples"].as_u64() > Some(0));
}

#[test]
fn a_machine_comes_with_the_trace_that_refuted_the_one_before() {
    let (_, data, _) = page(&[trained()], SHOWING);
    let run = &data["runs"][0];
    let folder = RunFolder::open(trained()).unwrap();
    let open = || TraceFile::new("", fs::File::open(folder.traces()).unwrap()).unwrap();
    let signature = open().signature().unwrap();
    let traces = open().traces(&signature).unwrap();
    let machines = run["machines"].as_array().unwrap();
    assert!(machines.len() > 1 && machines[0]["counterexample"].is_null());
    for (number, shown) in machines.iter().enumerate().skip(1) {
        let said = &shown["counterexample"];
        let line = said["line"].as_u64().unwrap() as usize;
        let (_, trace) = traces.iter().find(|(at, _)| *at == line).unwrap();
        let before = fs::read_to_string(folder.machine(number - 1)).unwrap();
        let after = fs::read_to_string(folder.machine(number)).unwrap();
        let bound = |text: &str| text.parse::<Machine>().unwrap().bind(&signature).unwrap();
        let wrong = trace.disagreement(&bound(&before)).unwrap();
        assert!(trace.disagreement(&bound(&after)).is_none());
        assert_eq!(said["kind"], trace.kind().as_str());
        assert_eq!(said["states"].as_array().unwrap().len(), wrong.after + 1);
        let row = shown["iteration"].as_u64().unwrap() as usize;
        let rows: Vec<MetricsRow> = read_rows(&folder.metrics()).unwrap();
        assert_eq!(rows[row].relearnings, number as u64);
        assert!(shown["seconds"].as_f64().unwrap() >= 0.0);
    }
    // From nothing to something: every edge is new.
    let edges = machines[1]["edges"].as_array().unwrap();
    assert!(!edges.is_empty() && edges.iter().all(|edge| edge["is_new"] == true));
}

#[test]
fn replays_can_be_followed_step_by_step() {
    let (_, data, _) = page(&[trained()], SHOWING);
    let run = &data["runs"][0];
    let replays = run["replays"].as_array().unwrap();
    let evaluations = run["evaluations"].as_array().unwrap();
    // How it ended, and what was played for the page, which has more episodes.
    let told: Vec<(&str, u64)> = (evaluations.iter())
        .map(|one| {
            (
                one["when"].as_str().unwrap(),
                one["episodes"].as_u64().unwrap(),
            )
        })
        .collect();
    let page = ("for this page", 20);
    assert_eq!(told, [("when it ended", 12), page, page]);
    assert_eq!(replays.len(), 4 * 2);
    let successes: Vec<bool> = replays
        .iter()
        .map(|r| r["success"].as_bool().unwrap())
        .collect();
    assert!(successes.is_sorted(), "failures first: {successes:?}");
    for replay in replays {
        let poses = replay["poses"].as_array().unwrap();
        let actions = replay["actions"].as_array().unwrap();
        assert_eq!(poses.len(), actions.len() + 1);
        for pair in poses.windows(2) {
            let at = |pose: &Value, i: usize| pose[i].as_i64().unwrap();
            let far = (at(&pair[0], 0) - at(&pair[1], 0)).abs()
                + (at(&pair[0], 1) - at(&pair[1], 1)).abs();
            assert!(far <= 1, "{pair:?}");
        }
        let room = &run["rooms"][replay["room"].as_u64().unwrap() as usize];
        assert!(room.as_str().unwrap().starts_with("<svg"));
        let machine = &run["machines"][replay["machine"].as_u64().unwrap() as usize];
        let state = replay["states"].as_array().unwrap().last().unwrap()[1]
            .as_u64()
            .unwrap();
        // What the world says and where the machine ends belong together, unless the machine is wrong.
        let accepted = Some(state) == machine["accept"].as_u64();
        assert!(
            accepted == (replay["success"] == true) || replay["refuted"] == true,
            "{replay}"
        );
        assert_eq!(replay["buffer"][0][0], 0);
    }
}

#[test]
fn the_same_folder_makes_the_same_page() {
    let (one, ..) = page(&[trained()], SHOWING);
    let (two, ..) = page(&[trained()], SHOWING);
    // The pages lie in different folders, so links to the run's files may differ; the data do not.
    let without_links = |html: &str| {
        let mut data = data_of(html);
        data["runs"][0]["files"] = Value::Null;
        data
    };
    assert!(without_links(&one) == without_links(&two));
}

#[test]
fn methods_without_a_machine_have_replays_too() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    make(folder.path(), &run, Method::Ppo);
    let (_, data, notes) = page(&[&run], SHOWING);
    assert_eq!(notes, Vec::<String>::new());
    let replays = data["runs"][0]["replays"].as_array().unwrap();
    assert!(!replays.is_empty());
    assert!(replays.iter().all(|replay| replay["machine"].is_null()));
}

#[test]
fn several_runs_and_folders_of_runs_are_one_page() {
    let parent = trained().parent().unwrap();
    let none = Showing {
        replays: 0,
        ..SHOWING
    };
    let (_, data, _) = page(&[parent, trained()], none);
    // Named twice, there once. The page of a folder, or a log, does not make it a run.
    assert_eq!(data["runs"].as_array().unwrap().len(), 1);
    let (_spoilt, other) = copy();
    let (html, data, _) = page(&[trained(), &other], none);
    assert_eq!(data["runs"].as_array().unwrap().len(), 2);
    assert!(html.contains("<title>2 runs"));
    assert!(data["runs"][0]["replays"].as_array().unwrap().is_empty());
}

#[test]
fn a_folder_of_runs_can_be_reported_into_itself_again_and_again() {
    let (folder, run) = copy();
    fs::remove_file(run.join("metrics.csv")).unwrap();
    let page = folder.path().join("report.html");
    let none = Showing {
        replays: 0,
        ..SHOWING
    };
    fs::write(folder.path().join("run.log"), "").unwrap();
    for _ in 0..2 {
        let notes = write_report(
            &[folder.path().to_owned()],
            &page,
            none,
            PlayCallback::none(),
        )
        .unwrap()
        .unwrap();
        // A damaged run is one of them, and not left out.
        assert!(
            notes[0].contains("copy: missing in its folder: metrics.csv"),
            "{notes:?}"
        );
        let data = data_of(&fs::read_to_string(&page).unwrap());
        assert_eq!(data["runs"].as_array().unwrap().len(), 1);
        assert_eq!(data["runs"][0]["task"], "tiny");
    }
}

#[test]
fn a_reader_who_does_not_read_holds_nobody_up() {
    let (_folder, run) = copy();
    fs::write(run.join("big.csv"), vec![b'x'; 64 << 20]).unwrap();
    let live = LivePage::serve(&run, LivePort::open(None).unwrap()).unwrap();
    let address = live.address();
    let address = (address.trim_start_matches("http://")).trim_end_matches('/');
    let mut stuck = TcpStream::connect(address).unwrap();
    let request = "GET /files/big.csv HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stuck.write_all(request.as_bytes()).unwrap();
    let mut begun = [0; 12];
    stuck.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    assert!(get(&live, "/data.json").0.starts_with("HTTP/1.1 200"));
    // It ends although one of its answers is still on the way.
    drop(live);
    drop(stuck);
}

/// Spoils a copy of the run; the page must be there all the same and say so.
#[track_caller]
fn check_spoilt(spoil: impl FnOnce(&Path), expected: &str) -> Value {
    let (_folder, run) = copy();
    spoil(&run);
    let (_, data, notes) = page(&[&run], SHOWING);
    assert!(
        notes.iter().any(|note| note.contains(expected)),
        "{expected}: {notes:#?}"
    );
    let said = data["runs"][0]["notes"].as_array().unwrap();
    assert!(
        said.iter()
            .any(|note| note.as_str().unwrap().contains(expected))
    );
    data["runs"][0].clone()
}

fn cut(path: PathBuf, keep: usize) {
    let bytes = fs::read(&path).unwrap();
    fs::write(path, &bytes[..keep.min(bytes.len())]).unwrap();
}

#[test]
fn what_is_damaged_is_said_and_the_rest_is_shown() {
    let run = check_spoilt(
        |run| {
            let text = fs::read_to_string(run.join("metrics.csv")).unwrap();
            cut(run.join("metrics.csv"), text.len() - 5);
        },
        "metrics.csv:8: the last line is truncated",
    );
    assert_eq!(run["curves"]["iteration"].as_array().unwrap().len(), 6);
    let run = check_spoilt(
        |run| {
            let path = run.join("metrics.csv");
            let text = fs::read_to_string(&path).unwrap();
            let mut lines: Vec<&str> = text.lines().collect();
            lines[3] = "<script>alert(1)</script>,,,";
            fs::write(path, lines.join("\n") + "\n").unwrap();
        },
        "metrics.csv:4:",
    );
    assert_eq!(run["curves"]["iteration"].as_array().unwrap().len(), 2);
    check_spoilt(
        |run| fs::write(run.join("config.toml"), "task = <b>").unwrap(),
        "config.toml",
    );
    check_spoilt(|run| cut(run.join("machines/001.form"), 20), "001.form");
    check_spoilt(|run| cut(run.join("result.json"), 20), "result.json");
    check_spoilt(|run| cut(run.join("traces.jsonl"), 90), "traces.jsonl");
    check_spoilt(
        |run| cut(run.join("checkpoints/final.safetensors"), 1000),
        "no replays: ",
    );
    check_spoilt(
        |run| {
            let path = run.join("metrics.csv");
            let text = fs::read_to_string(&path).unwrap();
            let again = text.lines().nth(1).unwrap().to_owned();
            fs::write(path, text + &again + "\n").unwrap();
        },
        "iteration 0 comes after iteration 6",
    );
    // Lines that are gone from the middle, and from the end.
    let without = |lines: std::ops::Range<usize>| {
        move |run: &Path| {
            let path = run.join("metrics.csv");
            let text = fs::read_to_string(&path).unwrap();
            let kept = text
                .lines()
                .enumerate()
                .filter(|(at, _)| !lines.contains(at));
            let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
            fs::write(path, kept.join("\n") + "\n").unwrap();
        }
    };
    check_spoilt(without(3..5), "metrics.csv: iterations 2 to 3 are missing");
    check_spoilt(
        without(1..8),
        "metrics.csv ends with iteration 0, result.json says 6",
    );
    // Numbers at their limits: the second row of the table says the most that there is.
    let run = check_spoilt(
        |run| {
            let path = run.join("policies.csv");
            let text = fs::read_to_string(&path).unwrap();
            let most = format!("6,u0,{},,,,,,\n", u64::MAX);
            fs::write(&path, text + &most + &most + "cut").unwrap();
        },
        "the last line is truncated",
    );
    let samples = |policy: &Value| policy["samples"].as_u64() == Some(u64::MAX);
    assert!(run["policies"].as_array().unwrap().iter().any(samples));
}

#[test]
fn what_is_missing_is_said_and_the_rest_is_shown() {
    for name in [
        "config.toml",
        "metrics.csv",
        "timings.csv",
        "policies.csv",
        "traces.jsonl",
    ] {
        let note = format!("missing in its folder: {name}");
        check_spoilt(|run| fs::remove_file(run.join(name)).unwrap(), &note);
    }
    check_spoilt(
        |run| fs::remove_dir_all(run.join("machines")).unwrap(),
        "machines",
    );
    check_spoilt(
        |run| fs::remove_dir_all(run.join("checkpoints")).unwrap(),
        "missing in its folder: checkpoints",
    );
    let (_folder, run) = copy();
    fs::remove_file(run.join("result.json")).unwrap();
    let (_, data, notes) = page(&[&run], SHOWING);
    assert_eq!(
        (notes, &data["runs"][0]["status"]),
        (Vec::new(), &"unfinished".into())
    );
    // A machine that only the checkpoint has is shown.
    let run = check_spoilt(
        |run| fs::remove_dir_all(run.join("machines")).unwrap(),
        "machines",
    );
    assert_eq!(run["machines"].as_array().unwrap().len(), 1);
    assert!(run["machines"][0]["file"].is_null());
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let said = |run: &Path| {
        let page = folder.path().join("page.html");
        let error =
            write_report(&[run.to_owned()], &page, SHOWING, PlayCallback::none()).unwrap_err();
        assert!(!page.exists());
        format!("{error:#}")
    };
    assert!(said(folder.path()).contains("is not a run folder"));
    assert!(said(&file).contains("is a file, not a run folder"));
    assert!(said(&folder.path().join("none")).contains("cannot open the run"));
}

/// What the server says to a request: the status line, the headers and the body.
fn ask(live: &LivePage, request: &str) -> (String, String) {
    let address = live.address();
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn get(live: &LivePage, path: &str) -> (String, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    ask(live, &request)
}

#[test]
fn the_live_page_follows_the_run_and_writes_nothing() {
    let (_folder, run) = copy();
    let text = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let begun = text
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    fs::write(run.join("metrics.csv"), begun).unwrap();
    fs::remove_file(run.join("result.json")).unwrap();
    let live = LivePage::serve(&run, LivePort::open(None).unwrap()).unwrap();
    let (head, page) = get(&live, "/");
    assert!(
        head.starts_with("HTTP/1.1 200") && head.contains("text/html"),
        "{head}"
    );
    let data = data_of(&page);
    assert_eq!(data["live"]["seconds"], 2);
    assert_eq!(
        data["runs"][0]["curves"]["iteration"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    // The first page waits for no episodes: they are played beside, and come with the news.
    assert!(data["runs"][0]["replays"].as_array().unwrap().is_empty());
    let news = || -> Value { serde_json::from_str(&get(&live, "/data.json").1).unwrap() };
    let has_replays = |data: &Value| !data["runs"][0]["replays"].as_array().unwrap().is_empty();
    let data = std::iter::repeat_with(news).find(has_replays).unwrap();
    // The run goes on, and the page with it.
    fs::write(run.join("metrics.csv"), &text).unwrap();
    let later = news();
    assert_eq!(
        later["runs"][0]["curves"]["iteration"]
            .as_array()
            .unwrap()
            .len(),
        7
    );
    // Not played again so soon.
    assert_eq!(later["runs"][0]["replays"], data["runs"][0]["replays"]);
    assert_eq!(later["runs"][0]["evaluations"][0]["when"], "for this page");
    // When the run is over, and its last episodes are there, there is nothing more to ask for.
    fs::copy(trained().join("result.json"), run.join("result.json")).unwrap();
    let last = std::iter::repeat_with(news).find(|data| data["live"].is_null());
    let last = &last.unwrap()["runs"][0];
    assert_eq!(last["evaluations"][0]["when"], "when it ended");
    assert!(!last["replays"].as_array().unwrap().is_empty());
    // Files that the page names, as text, and no others.
    let (head, file) = get(&live, "/files/metrics.csv");
    assert!(
        head.contains("text/plain") && head.contains("nosniff"),
        "{head}"
    );
    assert_eq!(file, text);
    for path in [
        "/files/../config.toml",
        "/files/.lock",
        "/etc/passwd",
        "/files/%2e%2e/secret",
        "/files//etc/passwd",
    ] {
        assert!(get(&live, path).0.starts_with("HTTP/1.1 404"), "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let request = format!(
            "{method} / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        assert!(
            ask(&live, &request).0.starts_with("HTTP/1.1 405"),
            "{method}"
        );
    }
    for host in ["Host: evil.example\r\n", ""] {
        let request = format!("GET / HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        assert!(ask(&live, &request).0.starts_with("HTTP/1.1 403"), "{host}");
    }
    // It is gone with its owner, as soon as whoever listens has noticed.
    let address = live.address();
    drop(live);
    let address = (address.trim_start_matches("http://")).trim_end_matches('/');
    assert!((0..100_000).any(|_| TcpStream::connect(address).is_err()));
}

#[test]
fn a_port_that_is_taken_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = LivePort::open(Some(port)).unwrap_err().to_string();
    assert!(
        error.contains(&format!("--live {port}: the port is in use")),
        "{error}"
    );
}

/// A page is made in bounded time, which is counted in multiplications: where steps are expensive, fewer episodes are played.
#[test]
fn expensive_steps_mean_fewer_episodes() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let most = |work: Option<u64>| {
        let steps = AtomicU64::new(0);
        let report = |progress: PlayProgress| {
            steps.fetch_max(progress.steps, Ordering::Relaxed);
        };
        let callback = PlayCallback::none().reporting_to(&report);
        let showing = Showing { work, ..SHOWING };
        let runs = [trained().to_owned()];
        write_report(&runs, &page, showing, callback)
            .unwrap()
            .unwrap();
        let data = data_of(&fs::read_to_string(&page).unwrap());
        let replays = data["runs"][0]["replays"].as_array().unwrap().len();
        (steps.into_inner(), replays)
    };
    let run = SavedRun::open(trained()).unwrap();
    let agents = run.agents().unwrap();
    let networks = agents.iter().map(|agent| agent.network().multiplications());
    let step = networks.max().unwrap() + 10_000;
    // An episode of the task has 120 steps, and there are two sets of maps.
    for episodes in [1, 3] {
        let (steps, replays) = most(Some(2 * episodes * 120 * step));
        assert!((1..=episodes * 120).contains(&steps), "{steps}");
        assert_eq!(replays as u64, 2 * episodes);
    }
    // Whoever asks for a number gets it.
    assert_eq!(most(None).1, 8);
    // One episode is always there to be seen.
    assert_eq!(most(Some(0)).1, 2);
}

/// Whoever does not want to wait leaves everything as it was.
#[test]
fn an_interrupted_page_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fs::write(&page, "an old page").unwrap();
    let runs = [trained().to_owned()];
    for after in [0, 50] {
        let stop = AtomicBool::new(after == 0);
        let steps = AtomicU64::new(0);
        let report = |progress: PlayProgress| {
            steps.store(progress.steps, Ordering::Relaxed);
            stop.store(progress.steps >= after, Ordering::Relaxed);
        };
        let callback = PlayCallback::none()
            .interrupted_by(&stop)
            .reporting_to(&report);
        let made = write_report(&runs, &page, SHOWING, callback).unwrap();
        assert_eq!(made, None);
        // It ends with the step that was being taken, one in each of twenty worlds.
        assert!(steps.into_inner() < after + 20);
        assert_eq!(fs::read_to_string(&page).unwrap(), "an old page");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1);
    }
}

/// A run of version 0.1: its curve is that of episodes that ended, and it says so.
#[test]
fn a_run_of_version_0_1_has_a_page() {
    let (_folder, run) = copy();
    fs::write(
        run.join("metrics.csv"),
        "iteration,steps,episodes,success,return,length,shaped_return,states,edges,relearnings,counterexamples,traces\n\
         1,131072,10,1.0,1.0,640.6,0.0,3,2,1,10,10\n",
    )
    .unwrap();
    let result = fs::read_to_string(run.join("result.json")).unwrap();
    let mut result: Value = serde_json::from_str(&result).unwrap();
    result.as_object_mut().unwrap().remove("evaluation");
    fs::write(run.join("result.json"), result.to_string()).unwrap();
    let (_, data, notes) = page(&[&run], SHOWING);
    let shown = &data["runs"][0];
    assert!(shown["success"].is_null() && shown["curves"]["success"][0].is_null());
    assert_eq!(shown["curves"]["ended_success"][0], 1.0);
    assert!(
        notes
            .iter()
            .any(|note| note.contains("version 0.1 counted training episodes that had ended")),
        "{notes:?}"
    );
}
