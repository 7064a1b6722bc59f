//! Tiny runs of `form train`, for the tests that are about them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::binary::{Outcome, form};

/// A task in a small room.
pub const TASK: &str = r#"name = "tiny"
machine = '''
initial u0
accept  u_acc
u0 -> u1 : forall X. red(X)
u1 -> u_acc : goal
'''
steps = 120
[room]
size = [7, 7]
goal = [5, 5]
[checkpoints]
red = 2
blue = 1
"#;

/// What makes a run quick.
const SETTINGS: &str = "--quiet --no-report --layouts 3 --set worlds=8 --set least_samples=64 --set ppo.train_batch=256 \
    --set ppo.minibatch=64 --set ppo.epochs=1 --set learning.explore=360 --set network.filters=[4] \
    --set network.hidden=[8] --set network.vector_units=4 --set stop.success=2 --set evaluation.episodes=8 \
    --set evaluation.final_episodes=12 --set evaluation.share=2";

/// A folder with a task file in it.
pub fn task_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tiny.toml"), TASK).unwrap();
    folder
}

/// The arguments of a quick run into `run`.
pub fn arguments(iterations: u32, more: &str) -> Vec<String> {
    let line = format!("train tiny.toml --out run --iterations {iterations} {SETTINGS} {more}");
    line.split_whitespace().map(str::to_owned).collect()
}

/// Runs a command line in a folder.
pub fn run(folder: &Path, line: &str) -> Outcome {
    form(folder, &line.split_whitespace().collect::<Vec<_>>())
}

/// Makes a quick run.
pub fn train(folder: &Path, iterations: u32, more: &str) -> Outcome {
    let arguments = arguments(iterations, more);
    form(
        folder,
        &arguments.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

/// A run of four iterations that was killed after the last one, before its end was written down.
pub fn stopped() -> (tempfile::TempDir, PathBuf) {
    let folder = task_folder();
    let run = folder.path().join("run");
    let outcome = train(folder.path(), 4, "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    fs::remove_file(run.join("result.json")).unwrap();
    fs::remove_file(run.join("checkpoints/final.safetensors")).unwrap();
    (folder, run)
}

/// All files of a run by their names.
pub fn contents(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in ["", "machines", "checkpoints"] {
        for entry in fs::read_dir(run.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(run).unwrap().to_str().unwrap();
            if path.is_file() {
                found.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Those that do not depend on the clock.
pub fn lasting(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = contents(run);
    found.retain(|name, _| {
        ![
            "timings.csv",
            "run.log",
            "result.json",
            "report.html",
            ".lock",
        ]
        .contains(&name.as_str())
            && !name.starts_with("events")
    });
    found
}

/// That two runs left the same files, to the byte.
pub fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) {
    assert!(
        found.keys().eq(expected.keys()),
        "{:?}, not {:?}",
        found.keys(),
        expected.keys()
    );
    for (name, bytes) in expected {
        assert!(found[name] == *bytes, "{name} differs");
    }
}
