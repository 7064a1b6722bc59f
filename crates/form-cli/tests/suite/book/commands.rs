//! Runs the commands of a page as a reader would, one after the other in a folder of the page's own, and compares what they print
//! with what the page says.
//!
//! Three things differ from a reader's session. Runs are made small ([`SMALL`]), because they are slow in a development build; what
//! such a command prints is compared with every number standing for any number. `form play`, which needs a terminal, and
//! `form bench` and `form reproduce`, which take long, are only asked for their help behind the page's options: other tests
//! run them. A block `form,file=own.form` is saved under that name. And a comment `<!-- before: COMMAND -->` is run too, for pages that begin where another one ended.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::kinds::{Kind, parts};
use super::page::{Page, Piece};
use super::printed::compare;

/// What makes a command small.
struct Small {
    command: &'static str,
    /// Options that replace the page's.
    options: &'static [(&'static str, &'static str)],
    /// Settings that the page's own override.
    settings: &'static [&'static str],
}

const SMALL: [Small; 7] = [
    Small {
        command: "train",
        options: &[
            ("--iterations", "2"),
            ("--layouts", "2"),
            ("--no-report", ""),
        ],
        settings: &[
            "worlds=8",
            "least_samples=64",
            "ppo.train_batch=256",
            "ppo.minibatch=64",
            "ppo.epochs=1",
            "learning.explore=3000",
            "network.filters=[4]",
            "network.hidden=[8]",
            "network.vector_units=4",
            "network.memory=0",
            "stop.success=2",
            "evaluation.episodes=2",
            "evaluation.final_episodes=2",
        ],
    },
    Small {
        command: "pretrain",
        options: &[("--iterations", "9"), ("--sub-tasks", "5")],
        settings: &[],
    },
    Small {
        command: "transfer",
        options: &[("--iterations", "1"), ("--no-report", "")],
        settings: &[],
    },
    // Policies that are not trained further are evaluated.
    Small {
        command: "transfer --retrain none",
        options: &[("--episodes", "2")],
        settings: &[],
    },
    Small {
        command: "eval",
        options: &[("--episodes", "2")],
        settings: &[],
    },
    Small {
        command: "run",
        options: &[("--episodes", "4")],
        settings: &[],
    },
    Small {
        command: "report",
        options: &[("--episodes", "2"), ("--replays", "1")],
        settings: &[],
    },
];

/// Commands that are only parsed.
const PARSED: [&str; 3] = ["play", "bench", "reproduce"];

/// A command as it is run.
#[derive(Debug, PartialEq)]
pub struct Line {
    pub text: String,
    /// Whether its numbers are those of something smaller.
    pub small: bool,
    /// Whether it is run at all.
    pub runs: bool,
}

/// The commands of a block: one per line, unless `\` continues it.
pub fn lines(block: &str) -> Vec<Line> {
    let joined = block.replace("\\\n", " ");
    (joined.lines().map(str::trim))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(prepared)
        .collect()
}

/// A line with what makes its commands small.
fn prepared(line: &str) -> Line {
    let mut whole = Line {
        text: String::new(),
        small: false,
        runs: true,
    };
    let words: Vec<&str> = line
        .split_whitespace()
        .take_while(|word| *word != "#")
        .collect();
    let ends = |word: &&str| ["|", "&&", "&", ";"].contains(word);
    let mut changed = Vec::new();
    for command in words.split_inclusive(ends) {
        match command {
            ["form", name, rest @ ..] if PARSED.contains(name) => {
                whole.runs = false;
                let arguments = rest.iter().take_while(|word| **word != ">" && !ends(word));
                changed.extend(["form", *name].map(str::to_owned));
                changed.extend(arguments.map(|word| (*word).to_owned()));
                changed.push("--help".to_owned());
            }
            ["form", name, rest @ ..] => match smaller(name, rest) {
                Some(small) => {
                    whole.small = true;
                    changed.extend(small);
                }
                None => changed.extend(command.iter().map(|word| (*word).to_owned())),
            },
            other => changed.extend(other.iter().map(|word| (*word).to_owned())),
        }
    }
    whole.text = if whole.small || !whole.runs {
        changed.join(" ")
    } else {
        line.to_owned()
    };
    whole
}

/// A command of `form` with what makes it small, if there is anything.
fn smaller(name: &str, words: &[&str]) -> Option<Vec<String>> {
    let none = (words.windows(2)).any(|pair| pair == ["--retrain", "none"]);
    let whole = if none {
        format!("{name} --retrain none")
    } else {
        name.to_owned()
    };
    let Small {
        options, settings, ..
    } = SMALL.iter().find(|small| small.command == whole)?;
    let end = (words.iter()).position(|word| ["|", ">", "&&", "&", ";"].contains(word));
    let (given, rest) = words.split_at(end.unwrap_or(words.len()));
    // A run that goes on has its settings.
    let goes_on = given
        .iter()
        .any(|word| ["--resume", "--help"].contains(word));
    let mut small = vec!["form".to_owned(), name.to_owned()];
    if !goes_on {
        for setting in *settings {
            small.extend(["--set".to_owned(), (*setting).to_owned()]);
        }
    }
    let mut given = given.iter();
    while let Some(word) = given.next() {
        match options.iter().find(|(option, _)| option == word) {
            Some((_, "")) => {}
            Some(_) => {
                given.next();
            }
            None => small.push((*word).to_owned()),
        }
    }
    for (option, value) in *options {
        if goes_on && !value.is_empty() {
            continue;
        }
        small.push((*option).to_owned());
        if !value.is_empty() {
            small.push((*value).to_owned());
        }
    }
    small.extend(rest.iter().map(|word| (*word).to_owned()));
    Some(small)
}

/// Runs all that a page says, and compares.
pub fn problems(page: &Page, examples: &Path, images: &Path) -> Vec<String> {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    copy(examples, &folder.join("examples"));
    let mut problems = Vec::new();
    // What the last block printed; none if it cannot be compared with.
    let mut printed: Option<(String, bool)> = None;
    for (line, piece) in &page.pieces {
        let mut complain = |problem: &str| problems.push(page.complaint(*line, problem));
        match piece {
            Piece::Comment(comment) => {
                if let Some(command) = comment.strip_prefix("before:") {
                    for command in lines(command) {
                        if let Err(problem) = run(folder, &command, 0) {
                            complain(&problem);
                        }
                    }
                }
                if let Some(command) = comment.strip_prefix("made by:")
                    && let Err(problem) = picture(folder, command.trim(), images)
                {
                    complain(&problem);
                }
            }
            Piece::Block { info, text } => {
                if let (_, Some(file)) = parts(info) {
                    fs::write(folder.join(file), text).unwrap();
                }
                match Kind::of(info) {
                    Ok(Kind::Commands { exit }) => {
                        let commands = lines(text);
                        let (mut said, mut small) = (String::new(), false);
                        for (number, command) in commands.iter().enumerate() {
                            let last = number + 1 == commands.len();
                            match run(folder, command, if last { exit } else { 0 }) {
                                Ok(stdout) if command.runs => said.push_str(&stdout),
                                Ok(_) => {}
                                Err(problem) => complain(&problem),
                            }
                            small |= command.small;
                        }
                        let compares = commands.iter().all(|command| command.runs);
                        printed = compares.then_some((said, small));
                    }
                    Ok(Kind::Output) => {
                        if let Some((found, small)) = &printed
                            && let Err(problem) = compare(text, found, *small)
                        {
                            complain(&problem);
                        }
                    }
                    Ok(Kind::Tree) => {
                        for name in text
                            .split_whitespace()
                            .filter(|word| word.contains(['/', '.']))
                        {
                            if !folder.join(name).exists() {
                                complain(&format!("the commands left no {name}"));
                            }
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    problems
}

/// Runs a command and gives what it printed.
fn run(folder: &Path, line: &Line, exit: i32) -> Result<String, String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_form"));
    let beside = binary
        .parent()
        .unwrap_or(Path::new(""))
        .display()
        .to_string();
    let before = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-euc", &line.text])
        .current_dir(folder)
        .env("PATH", format!("{beside}:{before}"))
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", line.text))?;
    if output.status.code() == Some(exit) {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let code = output.status.code();
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim_end();
    Err(format!(
        "`{}` exits with {code:?}, not {exit}: {said}",
        line.text
    ))
}

/// Makes a picture again and compares it with the one in the book.
fn picture(folder: &Path, command: &str, images: &Path) -> Result<(), String> {
    run(folder, &prepared(command), 0)?;
    let Some(name) = command.split_whitespace().last() else {
        return Err("made by nothing".to_owned());
    };
    let made = fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
    let kept = fs::read(images.join(name)).map_err(|error| format!("images/{name}: {error}"))?;
    if made == kept {
        Ok(())
    } else {
        Err(format!(
            "`{command}` makes another picture than images/{name}"
        ))
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        // Also what a link leads to, as a file of its own.
        fs::write(target, fs::read(&path).unwrap()).unwrap();
    }
}
