//! The Python on the PATH, and its packages.

use std::ffi::OsStr;

use serde_json::Value;

use super::program::{ask, find};
use super::{Component, PATIENCE, State};

/// Reads versions without importing packages or files of the current folder.
const SCRIPT: &str = "
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import json, platform
found = {}
try:
    from importlib.metadata import PackageNotFoundError, version
    for name in sys.argv[1:]:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            pass
except ImportError:
    pass
print(json.dumps({'version': platform.python_version(), 'found': found}))
";

/// The oldest supported Python.
const LEAST: &str = "3.11";

/// A package: its name, the oldest supported version, its purpose and how to install it.
type Package = (&'static str, &'static str, &'static str, &'static str);

const PACKAGES: [Package; 9] = [
    (
        "formrl",
        "",
        "machines, learning, worlds and all commands from Python",
        "pip install ./python",
    ),
    (
        "gymnasium",
        "1.1",
        "formrl's environments and wrappers",
        "pip install './python[gymnasium]'",
    ),
    (
        "minigrid",
        "3.0",
        "formrl.minigrid and .ci/minigrid",
        "pip install './python[minigrid]'",
    ),
    (
        "pettingzoo",
        "1.25",
        "formrl.pettingzoo",
        "pip install './python[pettingzoo]'",
    ),
    (
        "stable_baselines3",
        "2.6",
        "the examples with Stable-Baselines3",
        "pip install './python[sb3]'",
    ),
    (
        "ray",
        "2.50",
        "formrl.sweep and formrl.rllib",
        "pip install './python[ray]' or './python[rllib]'",
    ),
    (
        "torch",
        "2.3",
        "formrl.torch, formrl.rllib and .ci/torch",
        "pip install './python[torch]'",
    ),
    (
        "safetensors",
        "0.5",
        "formrl.torch",
        "pip install './python[torch]'",
    ),
    (
        "tensorboard",
        "",
        "viewing the event files of runs; form report does not need it",
        "pip install tensorboard",
    ),
];

/// Python and its packages.
pub fn components(path: &OsStr) -> Vec<Component> {
    let asked = find(&["python3", "python"], path).map(|program| {
        let names = PACKAGES.iter().map(|package| package.0);
        let arguments: Vec<&str> = ["-c", SCRIPT].into_iter().chain(names).collect();
        let said = ask(&program, &arguments, PATIENCE);
        let read = said.and_then(|said| {
            serde_json::from_str::<Value>(&said).map_err(|_| "unexpected output".to_owned())
        });
        (program, read)
    });
    let python = match &asked {
        None => State::Missing,
        Some((program, Err(why))) => State::Broken {
            path: Some(program.clone()),
            why: why.clone(),
        },
        Some((program, Ok(said))) => match version(said, "/version", LEAST) {
            State::Here { what, .. } => State::Here {
                what,
                path: Some(program.clone()),
            },
            other => other,
        },
    };
    let usable = matches!(python, State::Here { .. });
    let mut components = vec![Component {
        name: "Python",
        state: python,
        purpose: "the package formrl, and the comparisons with other libraries",
        advice: "Debian's package python3, or python.org: 3.11 or newer",
        optional: true,
    }];
    let said = asked.and_then(|(_, said)| said.ok()).filter(|_| usable);
    for (name, least, purpose, advice) in PACKAGES {
        let state = match &said {
            Some(said) => version(said, &format!("/found/{name}"), least),
            None => State::Missing,
        };
        components.push(Component {
            name,
            state,
            purpose,
            advice,
            optional: true,
        });
    }
    components
}

/// The version at a JSON pointer.
fn version(said: &Value, place: &str, least: &'static str) -> State {
    let Some(what) = said.pointer(place).and_then(Value::as_str) else {
        return State::Missing;
    };
    let what = what.to_owned();
    match numbers(&what) < numbers(least) {
        true => State::TooOld { what, least },
        false => State::Here { what, path: None },
    }
}

/// `3.11.0rc1` as 3, 11, 0; suffixes are ignored.
fn numbers(version: &str) -> Vec<u64> {
    let number = |part: &str| {
        let end = part.find(|c: char| !c.is_ascii_digit());
        part[..end.unwrap_or(part.len())].parse().ok()
    };
    version.split('.').map_while(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn versions_are_compared_as_numbers() {
        let state = |found: &str, least| version(&json!({ "version": found }), "/version", least);
        for good in ["3.11", "3.11.0rc1", "3.12.4", "4.0", "3.110"] {
            assert!(matches!(state(good, LEAST), State::Here { .. }), "{good}");
        }
        for old in ["3.9.18", "3.10", "2.7.18"] {
            assert!(matches!(state(old, LEAST), State::TooOld { .. }), "{old}");
        }
        assert_eq!(version(&json!({}), "/version", LEAST), State::Missing);
    }
}
