//! The core and the computer: learning, writable folders, vector registers, threads, memory, colours.

use std::io::IsTerminal;
use std::path::Path;

use form_core::{Kind, Recorder, Signature};
use form_learn::{LearnOutcome, Learner, Limits, Options};

use super::{Component, State};

/// The core and the computer.
pub fn components() -> Vec<Component> {
    let component = |name, state, purpose, advice, optional| Component {
        name,
        state,
        purpose,
        advice,
        optional,
    };
    let here = |what: String| State::Here { what, path: None };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    vec![
        component(
            "learning",
            learning(),
            "",
            "rebuild the program with a C++ compiler",
            false,
        ),
        component(
            "temporary folder",
            writable(&std::env::temp_dir()),
            "input from a pipe",
            "set TMPDIR to a writable folder",
            true,
        ),
        component(
            "this folder",
            writable(Path::new(".")),
            "runs and pages, unless another folder is named",
            "use a writable folder, or name one with --out",
            true,
        ),
        component("vector registers", here(registers()), "", "", true),
        component("threads", here(threads.to_string()), "", "", true),
        component(
            "memory",
            memory().map_or(State::Missing, here),
            "",
            "unknown",
            true,
        ),
        component("colours", here(colours()), "", "", true),
    ]
}

/// Learns a machine from two short traces, which exercises the solver and the verifier.
fn learning() -> State {
    let broken = |why: String| State::Broken { path: None, why };
    let learnt = || -> Result<usize, String> {
        let signature: Signature = ["a", "b"]
            .into_iter()
            .map(|atom| atom.parse().map_err(|error| format!("{error}")))
            .collect::<Result<Vec<_>, String>>()
            .map(Signature::new)?;
        let mut learner = Learner::new(&signature, &Options::default());
        for (atoms, kind) in [
            (&["b", "a"][..], Kind::Incomplete),
            (&["a", "b"], Kind::Goal),
        ] {
            let mut recorder = Recorder::new();
            for atom in atoms {
                let id = signature
                    .ids()
                    .find(|id| signature.atom(*id).to_string() == *atom);
                recorder.observe(&id.into_iter().collect());
            }
            learner.add(&recorder.finish(kind));
        }
        match learner.learn(&Limits::default()) {
            Ok(LearnOutcome::Minimal(learnt)) => Ok(learnt.states),
            Ok(_) => Err("no machine was found for two traces".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    };
    match learnt() {
        Ok(2) => State::Here {
            what: "works".to_owned(),
            path: None,
        },
        Ok(states) => broken(format!("expected a machine of 2 states, got {states}")),
        Err(why) => broken(why),
    }
}

/// Whether a folder is writable.
fn writable(folder: &Path) -> State {
    match tempfile::tempfile_in(folder) {
        Ok(_) => State::Here {
            what: "writable".to_owned(),
            path: None,
        },
        Err(error) => State::Broken {
            path: Some(folder.to_owned()),
            why: format!("cannot create a file there, {}", error.kind()),
        },
    }
}

/// The vector registers.
fn registers() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        let middle = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match (wide, middle) {
            (true, _) => "AVX-512, the widest supported".to_owned(),
            (_, true) => "AVX2".to_owned(),
            _ => "neither AVX2 nor AVX-512: training is several times slower".to_owned(),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        format!("those of {}", std::env::consts::ARCH)
    }
}

/// The memory, on systems with /proc/meminfo.
fn memory() -> Option<String> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let mib = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib / 1024)
    };
    let (free, all) = (mib("MemAvailable:")?, mib("MemTotal:")?);
    Some(format!("{free} of {all} MiB available"))
}

/// Whether output is coloured, and if not, why.
fn colours() -> String {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|name| name == "dumb");
    match std::io::stdout().is_terminal() {
        false => "none, the output is not a terminal".to_owned(),
        true if set("NO_COLOR") => "none, NO_COLOR is set".to_owned(),
        true if dumb => "none, the terminal has none (TERM)".to_owned(),
        true => "yes".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_learnt() {
        assert!(matches!(learning(), State::Here { .. }));
    }

    #[test]
    fn a_folder_that_is_not_there_cannot_be_written_to() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(writable(folder.path()), State::Here { .. }));
        let missing = writable(&folder.path().join("no"));
        assert!(matches!(missing, State::Broken { .. }), "{missing:?}");
    }
}
