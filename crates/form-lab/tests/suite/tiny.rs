//! A task so small that runs of it take no time.

use std::fs;
use std::path::Path;

use form_lab::{Method, Preset, RunConfig};

/// The checkpoint of a run that is over.
pub const FINAL: &str = "final";
/// The checkpoint that a run resumes from.
pub const LATEST: &str = "latest";

pub const TASK: &str = r#"name = "tiny"
about = "Visit all red checkpoints, then the goal."
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

/// A quick run of the task, whose file is put into the folder.
pub fn config(folder: &Path, method: Method) -> RunConfig {
    let path = folder.join("tiny.toml");
    fs::write(&path, TASK).unwrap();
    let mut config = RunConfig::new(path.to_str().unwrap(), method, Preset::Fast);
    for (key, value) in [
        ("worlds", "8"),
        ("iterations", "6"),
        ("layouts", "3"),
        ("least_samples", "64"),
        ("ppo.train_batch", "512"),
        ("ppo.minibatch", "128"),
        ("ppo.epochs", "1"),
        ("learning.explore", "360"),
        ("network.filters", "[4]"),
        ("network.hidden", "[8]"),
        ("network.vector_units", "4"),
        ("stop.success", "2"),
        // Never either, but what it looks at is kept in checkpoints.
        ("stop.crossing", "2"),
        ("stop.fall", "0.5"),
        ("stop.episodes", "7"),
        ("evaluation.episodes", "8"),
        ("evaluation.final_episodes", "12"),
        ("evaluation.share", "2"),
    ] {
        config.set(key, value).unwrap();
    }
    if method == Method::RecurrentPpo {
        config.set("network.memory", "4").unwrap();
    }
    config
}
