//! The random machines of the experiment, and how they were drawn.
//!
//! A machine is a chain of 2 to 7 states to acceptance, with further edges that skip a step, go back or reject. Formulae are over
//! `exists`, `forall`, ground atoms and their negations. Machines that cannot be completed on one map in five are left out.

use anyhow::{Context, Result};
use form_core::Machine;
use form_env::{Colour, Random, Stream, generator};
use form_lab::world_for;
use rand::RngExt;

/// The machines as they were drawn once: one per line, in JSON.
const FILE: &str = include_str!("machines.jsonl");

/// The number of machines.
pub(crate) const MACHINES: usize = 100;

/// The seed they were drawn with.
const SEED: u64 = 18;

/// The least share of maps on which a machine can be completed.
const SOLVABLE: f64 = 0.2;

/// Checkpoints per colour in the world of the machines.
const PER_COLOUR: usize = 2;

/// The machines of the experiment.
pub fn random_machines() -> Result<Vec<Machine>> {
    let machines = FILE.lines().zip(1..).map(|(line, number)| {
        Machine::from_json(line).with_context(|| format!("machines.jsonl:{number}"))
    });
    machines.collect()
}

/// Draws the machines of the experiment: the text of their file.
pub fn draw_machines() -> Result<String> {
    let mut text = String::new();
    let (mut kept, mut drawn) = (0, 0);
    while kept < MACHINES {
        let machine = draw(&format!("random_{kept:02}"), drawn)?;
        drawn += 1;
        let task = world_for(&machine)?;
        if task.can_be_completed() && task.solvable_share(SEED, 50) >= SOLVABLE {
            text += &machine.to_json().replace('\n', "");
            text.push('\n');
            kept += 1;
        }
    }
    Ok(text)
}

/// The machine of a number; not every one can be completed.
fn draw(name: &str, number: u64) -> Result<Machine> {
    let mut random = generator(SEED, Stream::Other(number));
    let states = random.random_range(2..=7);
    let knows_lava = random.random_bool(0.3);
    let state = |i: usize| match i == states {
        true => "u_acc".to_owned(),
        false => format!("u{i}"),
    };
    let mut edges: Vec<(String, String, String)> = Vec::new();
    let mut rejects = knows_lava;
    for here in 0..states {
        if knows_lava {
            edges.push((state(here), "u_rej".to_owned(), "lava".to_owned()));
        }
        let wanted = draw_wanted(&mut random);
        // One or two things to avoid in half of the states, never what is wanted there.
        let avoided = match random.random_bool(0.5) {
            true => random.random_range(1..=2),
            false => 0,
        };
        for _ in 0..avoided {
            let formula = draw_literal(&mut random, Some(&wanted.0));
            edges.push((state(here), "u_rej".to_owned(), formula));
            rejects = true;
        }
        edges.push((state(here), state(here + 1), wanted.1));
        // A way back, or past a step.
        if here > 0 && random.random_bool(0.2) {
            let formula = draw_literal(&mut random, Some(&wanted.0));
            edges.push((state(here), state(random.random_range(0..here)), formula));
        }
        if here + 2 <= states && random.random_bool(0.15) {
            let formula = draw_literal(&mut random, Some(&wanted.0));
            edges.push((state(here), state(here + 2), formula));
        }
    }
    let mut builder = Machine::builder(name).initial("u0").accept("u_acc");
    if rejects {
        builder = builder.reject("u_rej");
    }
    for (from, to, formula) in edges {
        builder = builder.edge(&from, &to, &formula)?;
    }
    Ok(builder.build()?)
}

/// A colour, or the goal.
fn draw_kind(random: &mut Random) -> Option<Colour> {
    match random.random_bool(0.12) {
        true => None,
        false => Some(Colour::ALL[random.random_range(0..Colour::ALL.len())]),
    }
}

/// One of the checkpoints of a colour, which are numbered colour by colour.
fn ground(colour: Colour, random: &mut Random) -> String {
    let first = PER_COLOUR * colour as usize;
    let number = first + random.random_range(0..PER_COLOUR);
    format!("{colour}(o{number})")
}

/// What leads on: its kind, and the formula.
fn draw_wanted(random: &mut Random) -> (Option<Colour>, String) {
    let kind = draw_kind(random);
    let Some(colour) = kind else {
        return (kind, "goal".to_owned());
    };
    let atom = match random.random_range(0..10) {
        0..=3 => format!("exists X. {colour}(X)"),
        4..=6 => format!("forall X. {colour}(X)"),
        _ => ground(colour, random),
    };
    if !random.random_bool(0.3) {
        return (kind, atom);
    }
    let without = match atom.starts_with("exists") {
        // All but one of a colour.
        true => ground(colour, random),
        false => draw_literal(random, Some(&kind)),
    };
    (kind, format!("{atom} and not {without}"))
}

/// An atomic formula about another kind than this one.
fn draw_literal(random: &mut Random, other_than: Option<&Option<Colour>>) -> String {
    loop {
        let kind = draw_kind(random);
        if other_than == Some(&kind) {
            continue;
        }
        let Some(colour) = kind else {
            return "goal".to_owned();
        };
        return match random.random_range(0..10) {
            0..=4 => format!("exists X. {colour}(X)"),
            5..=7 => ground(colour, random),
            _ => format!("forall X. {colour}(X)"),
        };
    }
}
