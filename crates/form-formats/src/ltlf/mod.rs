//! Linear temporal logic over finite traces (LTLf; De Giacomo and Vardi 2013) as machines that observe every step.
//!
//! ```text
//! F(key & X F door) & G !lava
//! ```
//! Unary operators: `!`, `X` (next: there is a next step), `WX` (weak next: if there is one), `F` (finally), `G` (globally), `Y`
//! (yesterday), `O` (once), `H` (historically); binary ones: `U` (until), `R` (release), `W` (weak until), `S` (since), `&`, `|`, `->`,
//! `<->`; `last` is `WX false`, `start` is `!Y true`. Atoms are those of machines, about the present step. The formula is read at the
//! first step, one with past operators alone at the newest (PLTLf). A past operator has no future one under it.
//!
//! The machine accepts where the formula first holds of the episode so far, and rejects where it can no longer hold. It is minimal:
//! [progression] gives the states, as canonical [decision diagrams](bdd), the [automaton] joins them, and
//! [partition refinement](minimise) makes it smallest.

mod automaton;
mod bdd;
mod formula;
mod minimise;
mod parse;
mod progression;

use form_core::{Formula, Machine, Result, StepMode};

use self::automaton::{Automaton, HOLDS, LOST, START};
use self::bdd::Bdd;
use self::minimise::minimise;
use self::progression::Expansion;
use crate::Converted;
use crate::literal::without_bom;

/// Reads an LTLf formula as a machine.
///
/// ```
/// let read = form_formats::read_ltlf("F(a & F b)")?;
/// assert_eq!(read.machine.describe_size(), "2 states + accept, 3 edges");
/// # Ok::<(), form_core::Error>(())
/// ```
pub fn read_ltlf(text: &str) -> Result<Converted> {
    let text = without_bom(text);
    let formula = parse::parse(text).map_err(|fault| fault.located(text))?;
    let mut expansion = Expansion::new(&formula)?;
    let automaton = Automaton::new(&mut expansion)?;
    let smallest = minimise(&automaton, &mut expansion.manager)?;
    drop(automaton);
    machine(&smallest, &mut expansion)
}

/// The automaton as a machine. A machine stays where no edge fires, so self-loops are left out.
fn machine(automaton: &Automaton, expansion: &mut Expansion) -> Result<Converted> {
    let name = |state: usize| match state {
        HOLDS => "u_acc".to_owned(),
        LOST => "u_rej".to_owned(),
        state => format!("u{}", state - START),
    };
    let reaches = |target: usize| {
        automaton
            .edges
            .iter()
            .flatten()
            .any(|(to, _)| *to == target)
    };
    let mut builder = Machine::builder("ltlf")
        .states(
            (START..automaton.edges.len())
                .chain([HOLDS])
                .chain(reaches(LOST).then_some(LOST))
                .map(name),
        )
        .initial(&name(START))
        .accept(&name(HOLDS))
        .step_mode(StepMode::All);
    if reaches(LOST) {
        builder = builder.reject(&name(LOST));
    }
    for (from, outgoing) in automaton.edges.iter().enumerate() {
        for (to, guard) in outgoing.iter().filter(|(to, _)| *to != from) {
            let formula = written(*guard, expansion)?;
            builder = builder.edge_with(&name(from), &name(*to), formula, None);
        }
    }
    let mut notes = Vec::new();
    if !reaches(HOLDS) {
        notes.push("the formula holds of no episode: the machine never accepts".to_owned());
    }
    Ok(Converted {
        machine: builder.build()?,
        notes,
    })
}

/// A guard as a formula: a short disjunction of conjunctions.
fn written(guard: Bdd, expansion: &mut Expansion) -> Result<Formula> {
    let impossible = expansion.manager.not(expansion.possible)?;
    let at_most = expansion.manager.or(guard, impossible)?;
    let cubes = expansion.manager.cubes(guard, at_most)?;
    let of_literal = |(variable, value): &&(u32, bool)| {
        let atom = Formula::atom(expansion.atoms[*variable as usize].clone());
        if *value { atom } else { atom.negated() }
    };
    // The cubes were made from the last variable to the first; positive literals come first.
    let conjunction = |cube: &Vec<(u32, bool)>| {
        let (yes, no): (Vec<_>, Vec<_>) = cube.iter().rev().partition(|(_, value)| *value);
        Formula::all(yes.iter().chain(&no).map(of_literal))
    };
    Ok(Formula::any(cubes.iter().map(conjunction)))
}
