//! `form doctor`: what is here of all that the program can make use of, and how to get the rest.

mod host;
mod program;
mod python;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::{Answer, output};

/// Say what is missing for the optional parts, and how to get it
///
/// That is other solvers, Python and its packages, a browser for tests; and what the program finds on this computer. Only what the core cannot do without makes the exit code 1; all else is optional. Programs are looked for on the path and asked for
/// their version. One that does not answer within some seconds is left alone and said to be so.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  form doctor\n  form doctor --json")]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Something that the program can make use of.
struct Part {
    name: &'static str,
    state: State,
    /// What it is for.
    purpose: &'static str,
    /// How to get it, or what to do without it.
    advice: &'static str,
    /// Whether the core does without it.
    optional: bool,
}

/// Whether something is here.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// It is: a version, a number, and where, if that can be said.
    Here { what: String, path: Option<PathBuf> },
    /// It is not.
    Missing,
    /// It is, and is too old.
    TooOld { what: String, least: &'static str },
    /// It is, and does not work: what it said, or that it said nothing.
    Broken { path: Option<PathBuf>, why: String },
}

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn run(args: &Args) -> Result<Answer> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut parts = host::parts();
    parts.extend(programs(&path));
    parts.extend(python::parts(&path));
    let works =
        (parts.iter()).all(|part| part.optional || matches!(part.state, State::Here { .. }));
    if args.json {
        let parts: Vec<Value> = parts.iter().map(Part::to_json).collect();
        output::print_json(&json!({
            "works": works,
            "version": env!("CARGO_PKG_VERSION"),
            "parts": parts,
        }))?;
    } else {
        let mut text = format!("form {}\n", env!("CARGO_PKG_VERSION"));
        for part in &parts {
            text += &part.to_text();
        }
        text += match works {
            true => "what the core needs is here; what is missing is optional\n",
            false => "something that the core needs does not work: see the lines with `!`\n",
        };
        output::print(&text)?;
    }
    Ok(if works { Answer::Yes } else { Answer::No })
}

/// The programs that something here calls.
fn programs(path: &OsStr) -> Vec<Part> {
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
    let part = |name, state, purpose, advice| Part {
        name,
        state,
        purpose,
        advice,
        optional: true,
    };
    vec![
        part(
            "clingo",
            asked(&["clingo"], "--version"),
            "form learn --solver clingo, and for running what form show --format asp prints; the built-in solver needs no other",
            "Debian's package gringo, conda's clingo, or potassco.org/clingo",
        ),
        part(
            "ILASP",
            asked(&["ILASP"], "--version"),
            "form learn --solver ilasp, as in the paper; the built-in solver needs no other",
            "ilasp.com/download",
        ),
        part(
            "Chromium",
            asked(
                &["chromium", "chromium-browser", "google-chrome"],
                "--version",
            ),
            ".ci/report, the tests of the page of a run; the page itself opens in any browser",
            "Debian's package chromium",
        ),
        part(
            "Node.js",
            asked(&["node", "nodejs"], "--version"),
            ".ci/report, the tests of the page of a run",
            "Debian's package nodejs, or nodejs.org: 20.10 or newer",
        ),
    ]
}

impl Part {
    fn to_text(&self) -> String {
        let at = |path: &Option<PathBuf>| match path {
            Some(path) => format!(" ({})", path.display()),
            None => String::new(),
        };
        let (mark, found) = match &self.state {
            State::Here { what, path } => ("+", format!("{what}{}", at(path))),
            State::Missing => ("-", "not here".to_owned()),
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
        let part = |state, optional| Part {
            name: "thing",
            state,
            purpose: "something",
            advice: "somewhere",
            optional,
        };
        let missing = part(State::Missing, true).to_text();
        assert!(missing.starts_with("- thing") && missing.contains("get it: somewhere"));
        assert!(part(State::Missing, false).to_text().starts_with("! thing"));
        let here = State::Here {
            what: "1.0".to_owned(),
            path: None,
        };
        let here = part(here, false).to_text();
        assert!(here.starts_with("+ thing") && here.contains("1.0") && !here.contains("get it"));
    }
}
