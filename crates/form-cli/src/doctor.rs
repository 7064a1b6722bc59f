//! `form doctor`: which optional programs and packages are installed, and how to get the others.

mod host;
mod program;
mod python;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::{Answer, output};

/// Check the installation: optional programs and packages, and how to get missing ones
///
/// Checks the core, the solvers clingo and ILASP, Python and its packages, and the programs of the page tests. Only a failure of the
/// core makes the exit code 1. Programs on the PATH are asked for their versions, with a time limit.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  form doctor\n  form doctor --json")]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A component that the program can use.
struct Component {
    name: &'static str,
    state: State,
    /// What it is for.
    purpose: &'static str,
    /// How to get it.
    advice: &'static str,
    /// Whether the core works without it.
    optional: bool,
}

/// Whether a component works.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Found: its version or size, and its path if known.
    Here { what: String, path: Option<PathBuf> },
    /// Not found.
    Missing,
    /// Found, but too old.
    TooOld { what: String, least: &'static str },
    /// Found, but not working: the error, or that there was no answer.
    Broken { path: Option<PathBuf>, why: String },
}

/// The time limit for a program to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn run(args: &Args) -> Result<Answer> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut components = host::components();
    components.extend(programs(&path));
    components.extend(python::components(&path));
    let works =
        (components.iter()).all(|part| part.optional || matches!(part.state, State::Here { .. }));
    if args.json {
        let components: Vec<Value> = components.iter().map(Component::to_json).collect();
        output::print_json(&json!({
            "works": works,
            "version": env!("CARGO_PKG_VERSION"),
            "parts": components,
        }))?;
    } else {
        let mut text = format!("form {}\n", env!("CARGO_PKG_VERSION"));
        for part in &components {
            text += &part.to_text();
        }
        text += match works {
            true => "the core works; what is missing is optional\n",
            false => "the core does not work: see the lines with `!`\n",
        };
        output::print(&text)?;
    }
    Ok(if works { Answer::Yes } else { Answer::No })
}

/// The external programs.
fn programs(path: &OsStr) -> Vec<Component> {
    let asked = |names: &[&str], argument: &str| match program::find(names, path) {
        None => State::Missing,
        Some(found) => match program::ask(&found, &[argument], PATIENCE) {
            Ok(said) => State::Here {
                what: said.lines().next().unwrap_or_default().trim().to_owned(),
                path: Some(found),
            },
            Err(why) => State::Broken {
                path: Some(found),
                why,
            },
        },
    };
    let component = |name, state, purpose, advice| Component {
        name,
        state,
        purpose,
        advice,
        optional: true,
    };
    vec![
        component(
            "clingo",
            asked(&["clingo"], "--version"),
            "form learn --solver clingo, and to run the output of form show --format asp; the built-in solver does not need it",
            "Debian's package gringo, conda's clingo, or potassco.org/clingo",
        ),
        component(
            "ILASP",
            asked(&["ILASP"], "--version"),
            "form learn --solver ilasp, as in the paper; the built-in solver does not need it",
            "ilasp.com/download",
        ),
        component(
            "Chromium",
            asked(
                &["chromium", "chromium-browser", "google-chrome"],
                "--version",
            ),
            ".ci/report, the tests of the report page; the page itself opens in any browser",
            "Debian's package chromium",
        ),
        component(
            "Node.js",
            asked(&["node", "nodejs"], "--version"),
            ".ci/report, the tests of the report page",
            "Debian's package nodejs, or nodejs.org: 20.10 or newer",
        ),
    ]
}

impl Component {
    fn to_text(&self) -> String {
        let at = |path: &Option<PathBuf>| match path {
            Some(path) => format!(" ({})", path.display()),
            None => String::new(),
        };
        let (mark, found) = match &self.state {
            State::Here { what, path } => ("+", format!("{what}{}", at(path))),
            State::Missing => ("-", "not found".to_owned()),
            State::TooOld { what, least } => ("-", format!("{what} is too old, {least} is needed")),
            State::Broken { path, why } => ("-", format!("does not work: {why}{}", at(path))),
        };
        let here = mark == "+";
        let mark = if here || self.optional { mark } else { "!" };
        let mut text = format!("{mark} {:<17} {found}\n", self.name);
        if !self.purpose.is_empty() {
            text += &format!("{:20}for {}\n", "", self.purpose);
        }
        if !here && !self.advice.is_empty() {
            text += &format!("{:20}get it: {}\n", "", self.advice);
        }
        text
    }

    fn to_json(&self) -> Value {
        let (state, what, path) = match &self.state {
            State::Here { what, path } => ("here", Some(what.clone()), path.as_ref()),
            State::Missing => ("missing", None, None),
            State::TooOld { what, .. } => ("too-old", Some(what.clone()), None),
            State::Broken { path, why } => ("broken", Some(why.clone()), path.as_ref()),
        };
        json!({
            "name": self.name,
            "state": state,
            "found": what,
            "path": path.map(|path| path.display().to_string()),
            "for": self.purpose,
            "get": self.advice,
            "optional": self.optional,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_is_marked_as_such() {
        let component = |state, optional| Component {
            name: "thing",
            state,
            purpose: "something",
            advice: "somewhere",
            optional,
        };
        let missing = component(State::Missing, true).to_text();
        assert!(missing.starts_with("- thing") && missing.contains("get it: somewhere"));
        assert!(
            component(State::Missing, false)
                .to_text()
                .starts_with("! thing")
        );
        let here = State::Here {
            what: "1.0".to_owned(),
            path: None,
        };
        let here = component(here, false).to_text();
        assert!(here.starts_with("+ thing") && here.contains("1.0") && !here.contains("get it"));
    }
}
