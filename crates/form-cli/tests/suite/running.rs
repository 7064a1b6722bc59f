//! `form run`: machines of every kind carried out at once, pictures of episodes, and input that cannot be carried out.

use std::fs;
use std::path::Path;
use std::process::Command;

use form_env::{Stream, generator};
use form_rl::{Network, NetworkConfig, ReachAvoidPolicy};
use serde_json::Value;

use crate::binary::{Outcome, fixtures, form};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn run(folder: &Path, arguments: &[&str]) -> Outcome {
    form(folder, &[&["run"], arguments].concat())
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let outcome = run(
        folder,
        &[arguments, &["--json", "--episodes", "20"]].concat(),
    );
    assert_eq!(outcome.code, Some(0), "{arguments:?}\n{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

/// A state that nothing leads to is most likely a mistake.
#[test]
fn a_state_that_nothing_leads_to_is_a_warning() {
    for (machine, warning) in [
        ("u9 -> u0 : goal; goal", "warning: nothing leads to u9\n"),
        ("u1 -> u0 : exists X. red(X); goal; exists X. blue(X)", ""),
    ] {
        let line = ["run", machine, "--episodes", "2"];
        let outcome = form(&fixtures(), &line);
        assert_eq!(
            (outcome.code, &*outcome.stderr),
            (Some(0), warning),
            "{machine}"
        );
    }
}

/// The binary alone in a folder, and nothing in its environment: nothing is needed beside it.
#[test]
fn a_typed_machine_needs_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("form");
    // A file that was just written cannot be started while another test's child has it open.
    let original = env!("CARGO_BIN_EXE_form");
    fs::hard_link(original, &binary)
        .or_else(|_| fs::copy(original, &binary).map(drop))
        .unwrap();
    let machine = "exists X. blue(X); forall X. yellow(X); goal";
    let outcome = Command::new(&binary)
        .args(["run", machine, "--json", "--episodes", "20"])
        .current_dir(folder.path())
        .env_clear()
        .output()
        .unwrap();
    let problems = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.status.code(), Some(0), "{problems}");
    let said: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    for key in ["success", "dead_ends", "steps", "shortest", "random"] {
        assert!(said[key].is_number(), "{key}: {said}");
    }
    assert!(said["success"].as_f64() >= Some(0.9), "{said}");
    assert!(said["success"].as_f64() > said["random"].as_f64(), "{said}");
    assert!(
        said["steps"].as_f64() >= said["shortest"].as_f64(),
        "{said}"
    );
    assert_eq!(said["held_out"], true);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The policy in the program is the file beside it, and says how it was made (`tests/shipped_policy` makes it again).
#[test]
fn the_shipped_policy_is_its_file() {
    let shipped = fs::read(root().join("crates/form-rl/policies/reach_avoid.safetensors"));
    let policy = ReachAvoidPolicy::shipped();
    assert_eq!(policy.to_bytes().unwrap(), shipped.unwrap());
    assert!(policy.origin().command.starts_with("form pretrain"));
}

#[test]
fn files_and_tasks_run_in_their_world_or_another() {
    let root = root();
    // Number 12 is green, so the room has three green checkpoints; and it has lava.
    let file = json(root, &["examples/green_but_one.form", "--shield"]);
    assert_eq!(
        (&file["dead_ends"], &file["shield"]),
        (&0.into(), &true.into())
    );
    let task = json(root, &["blue-all-yellow-7", "--maps", "training"]);
    assert_eq!(
        (&task["world"], &task["held_out"]),
        (&"blue-all-yellow-7".into(), &false.into())
    );
    let other = json(
        root,
        &["examples/all_yellow.form", "--world", "all-yellow-6"],
    );
    assert_eq!(other["world"], "all-yellow-6");
    // Longer than with two yellow checkpoints.
    let two = json(root, &["examples/all_yellow.form"]);
    assert!(other["shortest"].as_f64() > two["shortest"].as_f64());
}

#[test]
fn the_same_seed_gives_the_same_whatever_the_threads() {
    let of = |threads| {
        let arguments = [
            "run",
            "all-yellow",
            "--episodes",
            "12",
            "--threads",
            threads,
            "--json",
        ];
        form(root(), &arguments).stdout
    };
    assert_eq!(of("1"), of("3"));
}

#[test]
fn an_episode_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for (file, begins) in [
        ("a.gif", &b"GIF89a"[..]),
        ("a.svg", b"<svg"),
        ("a.txt", b""),
    ] {
        let outcome = run(folder.path(), &["goal", "-o", file]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("held-out map 0: completed in"),
            "{}",
            outcome.stderr
        );
        let drawn = fs::read(folder.path().join(file)).unwrap();
        assert!(drawn.starts_with(begins) && drawn.len() > 100, "{file}");
    }
}

/// What is wrong, where, and what there is instead; 2 for bad input, 1 where the answer is "no".
#[test]
fn what_cannot_be_carried_out_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.safetensors"), "no policy").unwrap();
    let config = NetworkConfig::paper([13, 13, 3], &[], 3);
    let network = Network::new(&config, &mut generator(1, Stream::Other(0))).unwrap();
    network
        .save(&folder.path().join("network.safetensors"))
        .unwrap();
    let tiny = "name = \"tiny\"\nmachine = '''\ninitial u\naccept v\nu -> v : goal\n'''\n[room]\nsize = [4, 4]\n";
    fs::write(folder.path().join("tiny.toml"), tiny).unwrap();
    for (arguments, code, words) in [
        (
            &["exists X. orange(X); goal"][..],
            2,
            &["edge 1", "no predicate `orange`", "yellow(o0)"][..],
        ),
        (&["yellow(o7)"], 2, &["yellow(o7)", "purple(o7)"]),
        (&["goal; blue("], 2, &["1:12", "^"]),
        (
            &["all-yelow"],
            2,
            &["neither a file nor a task", "is `all-yellow` meant?"],
        ),
        (
            &["no task-like name"],
            2,
            &["not a machine in one line", "^"],
        ),
        (&["missing.form"], 2, &["missing.form"]),
        (
            &["blue(o4)", "--world", "tiny.toml"],
            2,
            &["no predicate `blue`", "tiny.toml has goal"],
        ),
        (&["goal", "--world", "nowhere"], 2, &["no task `nowhere`"]),
        (
            &["u0 -> u_acc : goal", "--world", "green-but-one"],
            2,
            &["lava ends an episode"],
        ),
        (
            &["goal", "--policy", "policy.safetensors"],
            2,
            &["policy.safetensors"],
        ),
        (
            &["goal", "--policy", "network.safetensors"],
            2,
            &["network.safetensors", "not a reach-avoid policy"],
        ),
        (
            &["goal", "--policy", "none.safetensors"],
            2,
            &["none.safetensors"],
        ),
        (&["goal", "-o", "a.jpeg"], 2, &["a.jpeg", ".gif"]),
        (&["goal", "--live"], 2, &["terminal"]),
        (&["goal", "--map", "3"], 2, &["--map goes with"]),
        (&["goal and exists X. blue(X)"], 1, &["cannot be completed"]),
        (
            &["never exists X. yellow(X); forall X. yellow(X)"],
            1,
            &["cannot be completed"],
        ),
    ] {
        let outcome = run(folder.path(), arguments);
        assert_eq!(
            outcome.code,
            Some(code),
            "{arguments:?}\n{}",
            outcome.stderr
        );
        for word in words {
            assert!(
                outcome.stderr.contains(word),
                "{arguments:?}: {word}\n{}",
                outcome.stderr
            );
        }
        assert_eq!(outcome.stdout, "", "{arguments:?}");
    }
    let refused = run(folder.path(), &["goal and exists X. blue(X)", "--json"]);
    let said: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert!(
        said["impossible"].is_string() && refused.code == Some(1),
        "{said}"
    );
}

/// Sixteen checkpoints: what the exact search did not end is called a bound, with the number and what to do.
#[test]
fn shortest_solutions_that_are_bounds_are_called_so() {
    let folder = tempfile::tempdir().unwrap();
    for (checkpoints, exact) in [(3, true), (16, false)] {
        let task = format!(
            "name = \"many\"\nroom = \"paper\"\nmachine = '''\ninitial u0\naccept acc\n\
             u0 -> acc : forall X. yellow(X)\n'''\n[checkpoints]\nyellow = {checkpoints}\n"
        );
        fs::write(folder.path().join("many.toml"), task).unwrap();
        let arguments = ["many.toml", "--json", "--episodes", "3"];
        let outcome = run(folder.path(), &arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let value: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(value["shortest_exact"], exact, "{value}");
        let note = "note: `shortest` is a lower bound: the exact search stops at 5000000 pairs";
        assert_eq!(outcome.stderr.contains(note), !exact, "{}", outcome.stderr);
    }
}

#[test]
fn too_little_success_is_a_no() {
    let outcome = run(
        root(),
        &["all-yellow", "--episodes", "4", "--require-success", "0.01"],
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    // Tasks with few maps hold none out.
    let folder = tempfile::tempdir().unwrap();
    let tiny = "name = \"tiny\"\nmachine = '''\ninitial u\naccept v\nu -> v : goal\n'''\n[room]\nsize = [4, 4]\n";
    fs::write(folder.path().join("tiny.toml"), tiny).unwrap();
    let outcome = run(folder.path(), &["tiny.toml", "--episodes", "4"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("too few different maps"));
}
