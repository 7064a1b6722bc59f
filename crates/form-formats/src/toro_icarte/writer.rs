//! Writes machines as Toro Icarte et al. read them; see the reader for the format.
//!
//! The original runtime keeps one formula per pair of states and tries the targets in the order of the lines. So parallel edges are
//! joined, and an edge that thereby moves before an earlier one excludes the formula of the earlier one. Staying is explicit: the
//! last line of a state is a self-loop for all observations that match no other edge. Ground atoms have no spaces, `on(a,b)`: the
//! runtime compares the text with the names of the true propositions.

use std::collections::HashMap;
use std::fmt::Write as _;

use form_core::syntax::written_reward;
use form_core::{
    Atom, Cube, EdgeId, Error, Formula, GroundAtom, Machine, Result, Signature, StateId, absorb,
    dnf,
};

/// The maximum number of cubes of an edge's formula, and of all edges between two states together.
const MOST_CUBES: usize = 128;
const MOST_CUBES_OF_A_LINE: usize = 4096;

/// The maximum number of atoms on the edges of a state.
const MOST_ATOMS: usize = 1 << 14;

/// The maximum number of nodes in the formulae of a state, with the exclusions of overtaken edges.
const MOST_NODES: usize = 1 << 18;

/// Writes a machine in the newer generation of the format. State 3 is the machine's fourth.
///
/// Fails where an edge has a quantifier, where parallel edges have different rewards, where a rewarded self-loop leaves observations
/// on which the machine stays without reward, and where the sign of a reward contradicts its terminal state: the format
/// distinguishes success from failure by nothing else.
pub fn write_toro_icarte(machine: &Machine) -> Result<String> {
    let mut outgoing = vec![Vec::new(); machine.states().len()];
    for (id, edge) in machine.edge_ids().zip(machine.edges()) {
        check_edge(machine, id)?;
        outgoing[edge.from.index()].push(id);
    }
    let terminal: Vec<String> = [Some(machine.accept()), machine.reject()]
        .into_iter()
        .flatten()
        .map(|state| state.index().to_string())
        .collect();
    let mut text = format!(
        "{} # initial state\n[{}] # terminal states\n",
        machine.initial().index(),
        terminal.join(",")
    );
    for (state, edges) in machine.state_ids().zip(&outgoing) {
        if !machine.is_terminal(state) {
            write_state(&mut text, machine, state, edges)?;
        }
    }
    Ok(text)
}

fn refusal(machine: &Machine, edge: EdgeId, problem: &str) -> Error {
    Error::Inexpressible {
        place: machine.describe_edge(edge),
        problem: format!("Toro Icarte's format {problem}"),
    }
}

fn too_much(place: &str, what: &str, limit: usize) -> Error {
    Error::Limit {
        what: format!("{place}: {what}"),
        limit,
        hint: "split it into simpler ones".to_owned(),
    }
}

fn check_edge(machine: &Machine, id: EdgeId) -> Result<()> {
    let edge = machine.edge(id);
    for atom in edge.formula.atoms() {
        match atom {
            Atom::Quantified(_) => {
                let problem = "is propositional: `form ground` removes quantifiers and windows";
                return Err(refusal(machine, id, problem));
            }
            Atom::Ground(atom) if matches!(atom.to_string().as_str(), "True" | "False") => {
                let problem = format!("keeps the word `{atom}` for itself: rename the proposition");
                return Err(refusal(machine, id, &problem));
            }
            Atom::Ground(_) => {}
        }
    }
    let positive = machine.reward(id) > 0.0;
    if edge.to == machine.accept() && !positive {
        let problem = "tells acceptance by a positive reward: this edge pays none";
        return Err(refusal(machine, id, problem));
    }
    if Some(edge.to) == machine.reject() && positive {
        let problem = "tells rejection by the lack of a positive reward: this edge pays one";
        return Err(refusal(machine, id, problem));
    }
    Ok(())
}

/// The edges from one state to another, which become one line.
struct Group {
    to: StateId,
    reward: f64,
    edges: Vec<EdgeId>,
}

fn write_state(
    text: &mut String,
    machine: &Machine,
    state: StateId,
    edges: &[EdgeId],
) -> Result<()> {
    let atoms = edges
        .iter()
        .flat_map(|id| machine.edge(*id).formula.atoms());
    let signature: Signature = atoms
        .filter_map(|atom| match atom {
            Atom::Ground(atom) => Some(atom.clone()),
            Atom::Quantified(_) => None,
        })
        .collect();
    let this_state = || format!("state {}", machine.state_name(state));
    if signature.len() > MOST_ATOMS {
        return Err(too_much(&this_state(), "atoms on its edges", MOST_ATOMS));
    }
    let mut groups = grouped(machine, edges)?;
    // A self-loop that pays nothing is staying, which the last line says.
    groups.sort_by_key(|group| group.to == state && group.reward == 0.0);
    let lines: HashMap<StateId, usize> = (groups.iter().enumerate())
        .map(|(line, group)| (group.to, line))
        .collect();
    let line_of = |id: EdgeId| lines[&machine.edge(id).to];
    // The last line of any edge before each: only an edge on an earlier line has overtaken something.
    let mut furthest = 0;
    let mut furthest_before: HashMap<EdgeId, usize> = HashMap::new();
    for id in edges {
        furthest_before.insert(*id, furthest);
        furthest = furthest.max(line_of(*id));
    }

    let mut nodes = 0;
    let mut matched = Vec::new();
    let mut paid_loop = None;
    for (line, group) in groups.iter().enumerate() {
        if group.to == state && group.reward == 0.0 {
            continue;
        }
        let mut found = Vec::new();
        for id in &group.edges {
            let overtaken = overtaken(&groups, line, furthest_before[id], *id);
            let formula = |id: EdgeId| &machine.edge(id).formula;
            nodes += (overtaken.iter())
                .map(|earlier| formula(*earlier).nodes().len())
                .sum::<usize>();
            if nodes > MOST_NODES {
                let what = "symbols in formulae that exclude earlier edges";
                return Err(too_much(&this_state(), what, MOST_NODES));
            }
            let excluded = overtaken
                .iter()
                .map(|earlier| formula(*earlier).clone().negated());
            let effective = Formula::all([formula(*id).clone()].into_iter().chain(excluded));
            let cubes = normalised(&effective, &signature).ok_or_else(|| {
                let edge = machine.describe_edge(*id);
                too_much(&edge, "conjunctions in its formula", MOST_CUBES)
            })?;
            found.extend(cubes);
        }
        let found = absorb(found, MOST_CUBES_OF_A_LINE).ok_or_else(|| {
            let edges = format!(
                "edges from {} to {}",
                machine.state_name(state),
                machine.state_name(group.to)
            );
            too_much(
                &edges,
                "conjunctions in their formulae",
                MOST_CUBES_OF_A_LINE,
            )
        })?;
        if group.to == state {
            paid_loop = group.edges.first();
        }
        if !found.is_empty() {
            write_line(
                text,
                state,
                group.to,
                &written(&found, &signature),
                group.reward,
            );
        }
        matched.extend(found);
    }
    let matched = matched.iter().map(|cube| cube.to_formula(&signature));
    let stays = normalised(&Formula::any(matched).negated(), &signature);
    match (stays, paid_loop) {
        (Some(stays), _) if stays.is_empty() => {}
        (_, Some(id)) => {
            let problem = "cannot pay for some self-loops of a state and not for others";
            return Err(refusal(machine, *id, problem));
        }
        (Some(stays), None) => write_line(text, state, state, &written(&stays, &signature), 0.0),
        // Too long to spell out: as the last line, `True` matches only what the others leave.
        (None, None) => write_line(text, state, state, "True", 0.0),
    }
    Ok(())
}

/// The edges before `id` whose lines come after its own, in order.
///
/// Lines are in the order of their first edges: beyond the furthest of any earlier edge there is nothing earlier.
fn overtaken(groups: &[Group], line: usize, furthest: usize, id: EdgeId) -> Vec<EdgeId> {
    let mut overtaken: Vec<EdgeId> = (groups[line + 1..=furthest.max(line)].iter())
        .flat_map(|group| group.edges.iter().take_while(|earlier| **earlier < id))
        .copied()
        .collect();
    overtaken.sort();
    overtaken
}

/// The edges by target, in order of first occurrence.
fn grouped(machine: &Machine, edges: &[EdgeId]) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut numbers: HashMap<StateId, usize> = HashMap::new();
    for id in edges {
        let (to, reward) = (machine.edge(*id).to, machine.reward(*id));
        let number = *numbers.entry(to).or_insert(groups.len());
        match groups.get_mut(number) {
            Some(group) if group.reward == reward => group.edges.push(*id),
            Some(_) => {
                let problem =
                    "has one reward for each pair of states: a parallel edge pays another";
                return Err(refusal(machine, *id, problem));
            }
            None => groups.push(Group {
                to,
                reward,
                edges: vec![*id],
            }),
        }
    }
    Ok(groups)
}

fn normalised(formula: &Formula, signature: &Signature) -> Option<Vec<Cube>> {
    dnf(formula, signature, MOST_CUBES)
}

fn write_line(text: &mut String, from: StateId, to: StateId, formula: &str, reward: f64) {
    let (from, to, reward) = (from.index(), to.index(), written_reward(reward));
    writeln!(
        text,
        "({from},{to},'{formula}',ConstantRewardFunction({reward}))"
    )
    .expect("writing to a string succeeds");
}

/// The cubes as a formula of the format.
fn written(cubes: &[Cube], signature: &Signature) -> String {
    let atom = |atom: &GroundAtom| atom.to_string().replace(' ', "");
    let cube = |cube: &Cube| {
        let positive = cube.positive.iter().map(|id| atom(signature.atom(id)));
        let negative = cube
            .negative
            .iter()
            .map(|id| format!("!{}", atom(signature.atom(id))));
        let literals: Vec<String> = positive.chain(negative).collect();
        if literals.is_empty() {
            "True".to_owned()
        } else {
            literals.join("&")
        }
    };
    cubes.iter().map(cube).collect::<Vec<_>>().join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(edges: &str) -> Result<String> {
        let machine: Machine = format!("initial u0\naccept u_acc\nreject u_rej\n{edges}")
            .parse()
            .unwrap();
        write_toro_icarte(&machine)
    }

    #[test]
    fn staying_is_said_and_parallel_edges_are_joined() {
        let text = written(
            "u0 -> u1 : on(a, b)\nu0 -> u_rej : n\nu0 -> u1 : m\nu1 -> u_acc : g and (m or not n) => 0.5",
        );
        let expected = "0 # initial state
[2,3] # terminal states
(0,1,'on(a,b)|m&!n',ConstantRewardFunction(0))
(0,3,'n',ConstantRewardFunction(0))
(0,0,'!m&!n&!on(a,b)',ConstantRewardFunction(0))
(1,2,'g&m|g&!n',ConstantRewardFunction(0.5))
(1,1,'!g|n&!m',ConstantRewardFunction(0))
";
        assert_eq!(text.unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_said_is_refused() {
        for (edges, problem) in [
            (
                "u0 -> u_acc : b\nu0 -> u1 : exists X. p(X)",
                "edge 2 (u0 -> u1)",
            ),
            ("u0 -> u1 : exists X. p(X)", "form ground"),
            ("u0 -> u_acc : b => 0", "acceptance by a positive reward"),
            ("u0 -> u_rej : b => 1", "rejection by the lack"),
            (
                "u0 -> u1 : a\nu0 -> u1 : b => 2",
                "a parallel edge pays another",
            ),
            ("u0 -> u0 : a => 2", "cannot pay for some self-loops"),
            ("u0 -> u1 : False", "keeps the word `False`"),
        ] {
            let error = written(edges).unwrap_err();
            assert!(matches!(error, Error::Inexpressible { .. }));
            assert!(error.to_string().contains(problem), "{error}");
        }
        let clauses: Vec<String> = (0..20).map(|i| format!("(a{i} or b{i})")).collect();
        let error = written(&format!("u0 -> u1 : {}", clauses.join(" and "))).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
    }

    #[test]
    fn staying_that_is_long_to_say_is_the_last_resort() {
        let edges: Vec<String> = (0..10)
            .map(|i| format!("u0 -> u1 : a{i} and b{i} and c{i}"))
            .collect();
        let text = written(&edges.join("\n")).unwrap();
        assert!(
            text.contains("\n(0,0,'True',ConstantRewardFunction(0))\n(1,1,"),
            "{text}"
        );
    }
}
