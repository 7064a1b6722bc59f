//! The learning problem as an answer set program for clingo (Sections 2.3 and 3.3, Appendix E), with the paper's predicates.
//!
//! Where the paper asks ILASP for rules, this program chooses the facts `ed`, `pos` and `neg` that stand for them
//! (Appendix E), so that any answer set solver will do. The traces are a prefix tree: a node is a time-step of all
//! traces that begin alike, and the root is before the first. The meaning is that of the runtime: a `forall` stays true until
//! the state is left, the buffer starts when the state was last entered, and two edges are kept apart only by an implied
//! literal, never by the choice among instances of Listing 3.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use form_core::{Atom, AtomSet, Kind, Signature, Trace};
use form_formats::atom_to_asp;

use crate::error::Result;
use crate::options::Options;
use crate::vocabulary::{LearnableAtom, vocabulary};
use crate::window::Window;

/// The edges and literals to choose from, and the constraints on them that do not depend on traces.
const MACHINE: &str = "\
% The machine: edges, and the literals on them.
{ ed(X,Y,E) } :- slot(X,Y,E).
{ pos(X,Y,E,L) : literal(L) } :- ed(X,Y,E).
{ neg(X,Y,E,L) : literal(L) } :- ed(X,Y,E).
literal(L) :- static(L).
literal(L) :- universal(L).
literal(L) :- windowed(L).
:- ed(X,Y,E), not pos(X,Y,E,_).
:- pos(X,Y,E,L), neg(X,Y,E,L).

% Determinism (Appendix E, the sound part): a positive literal of one edge implies what the other denies.
apart(X,Y,D,Z,E) :- pos(X,Y,D,A), neg(X,Z,E,B), implies(A,B), Y != Z.
:- ed(X,Y,D), ed(X,Z,E), Y < Z, not apart(X,Y,D,Z,E), not apart(X,Z,E,Y,D).

% Every state can be reached. Parallel edges are numbered without gaps.
reached(0).
reached(Y) :- reached(X), ed(X,Y,_).
:- state(X), not reached(X).
:- ed(X,Y,E), E > 0, not ed(X,Y,E-1).
";

/// Symmetry breaking: only one numbering of each acyclic machine is kept.
const ACYCLIC: &str = "
% Acyclic: edges lead to higher numbers (see the slots). Of the topological orders the one of a queue is kept: states
% become ready with their last predecessor.
ready(Y,X) :- ed(X,Y,_), state(Y), not later(Y,X).
later(Y,X) :- ed(Z,Y,_), state(Y), state(X), X < Z.
:- ready(Y,X), ready(Y+1,Z), Z < X.
";

/// Symmetry breaking: only breadth-first numberings of cyclic machines are kept.
const CYCLIC: &str = "
% Cycles are allowed. States are numbered breadth-first: by their first predecessor, which has a lower number.
found(Y,X) :- ed(X,Y,_), state(Y), Y > 0, not sooner(Y,X).
sooner(Y,X) :- ed(Z,Y,_), state(Y), state(X), Z < X.
:- found(Y,X), X > Y.
:- found(Y,X), found(Y+1,Z), Z < X.
";

/// The bias towards one sub-task per state.
const FORALL_ALONE: &str = "
% Bias: a positive `forall` is the only literal of its edge, and only where an edge has it another one may deny it.
alone(X,Y,E) :- pos(X,Y,E,L), universal(L).
:- alone(X,Y,E), pos(X,Y,E,A), pos(X,Y,E,B), A < B.
:- alone(X,Y,E), neg(X,Y,E,_).
waits(X,L) :- pos(X,Y,E,L), universal(L).
:- neg(X,Y,E,L), universal(L), not waits(X,L).
";

/// The same bias for `once` and `atleast`.
const COUNTS_ALONE: &str = "
% Bias: as `forall`, a `once` or `atleast` is denied only where an edge has it; an edge that has it says nothing about the newest
% observation.
waits(X,L) :- pos(X,Y,E,L), counted(L,_).
:- neg(X,Y,E,L), counted(L,_), not waits(X,L).
counts(X,Y,E) :- pos(X,Y,E,L), counted(L,_).
:- counts(X,Y,E), pos(X,Y,E,L), static(L).
:- counts(X,Y,E), neg(X,Y,E,L), static(L).
";

/// Atoms over the window other than `forall`.
const WINDOWS: &str = "
% `once` and `atleast` count what the buffer has, a join pairs it with the newest observation.
in_window(O) :- counted(L,_), instance(L,O).
in_window(O) :- pair(L,O,_).
since(L,N) :- counted(L,K), observed(N,_), K { p_holds(O,N) : instance(L,O) }.
since(L,N) :- pair(L,O,P), observed(N,I), observation(I,P), p_holds(O,N).
n_all(X,Y,E,N) :- pos(X,Y,E,L), windowed(L), observed(N,_), not since(L,N).
n_all(X,Y,E,N) :- neg(X,Y,E,L), windowed(L), since(L,N).
";

/// The runs of a machine over the tree, and how they must end.
const RUNS: &str = "
% Listing 1 and ground atoms: whether static literals fail depends on the observation alone.
holds(e_pred(P),I) :- instance(e_pred(P),O), observation(I,O).
holds(O,I) :- static(O), observation(I,O).
n_phi(X,Y,E,I) :- pos(X,Y,E,L), static(L), observed(_,I), not holds(L,I).
n_phi(X,Y,E,I) :- neg(X,Y,E,L), static(L), holds(L,I).

% Listing 2: the buffer since the state was entered. Unlike there `a_pred` stays true until the state is left.
in_window(O) :- universal(L), instance(L,O).
p_holds(O,N) :- observed(N,I), observation(I,O), in_window(O).
p_holds(O,N) :- parent(N,M), p_holds(O,M), not moved(M).
not_all_p_hold(a_pred(P),N) :- instance(a_pred(P),O), observed(N,_), not p_holds(O,N).
a_pred(L,N) :- universal(L), observed(N,_), not not_all_p_hold(L,N).
n_all(X,Y,E,N) :- pos(X,Y,E,L), universal(L), observed(N,_), not a_pred(L,N).
n_all(X,Y,E,N) :- neg(X,Y,E,L), universal(L), a_pred(L,N).

% The state after each node is chosen, then forced: deriving it along the tree is many times slower to ground.
phi(X,Y,N) :- ed(X,Y,E), observed(N,I), not n_phi(X,Y,E,I), not n_all(X,Y,E,N).
st(0,0).
{ st(N,X) : state(X); st(N,X) : terminal(X) } = 1 :- observed(N,_).
moved(N) :- parent(N,M), st(M,X), not st(N,X).
:- parent(N,M), st(M,X), phi(X,Y,N), not st(N,Y).
:- parent(N,M), st(M,X), st(N,Y), X != Y, not phi(X,Y,N).

% The examples. Every node that ends no goal trace and no dead-end trace is the end or a prefix of an incomplete one.
:- goal(N), not st(N,u_acc).
:- dead_end(N), not st(N,u_rej).
:- running(N), st(N,u_acc).
:- running(N), st(N,u_rej).
";

/// The cost: `@3` edges and literals, then `@2` literals that name objects, then `@1` negations.
const OBJECTIVE: &str = "
% The smallest: edges and literals, then ground literals, then negative ones. A count and a second literal cost one more.
#minimize { 1@3,X,Y,E : ed(X,Y,E); 1@3,X,Y,E,L,pos : pos(X,Y,E,L); 1@3,X,Y,E,L,neg : neg(X,Y,E,L) }.
#minimize { C@3,X,Y,E,L,extra : pos(X,Y,E,L), extra(L,C); C@3,X,Y,E,L,extra : neg(X,Y,E,L), extra(L,C) }.
#minimize { 1@2,X,Y,E,L,pos : pos(X,Y,E,L), ground(L); 1@2,X,Y,E,L,neg : neg(X,Y,E,L), ground(L) }.
#minimize { 1@1,X,Y,E,L : neg(X,Y,E,L) }.

#defined dead_end/1. #defined goal/1. #defined running/1. #defined parent/2. #defined observed/2. #defined ground/1.
#defined observation/2. #defined static/1. #defined universal/1. #defined implies/2. #defined instance/2.
#defined windowed/1. #defined counted/2. #defined pair/3. #defined extra/2.
#show ed/3. #show pos/4. #show neg/4.
";

/// The problem of finding the smallest machine with this number of states, accepting and rejecting ones not counted, as a program
/// whose optimal answer sets are those machines.
///
/// `ed(X,Y,E)` is an edge from state `X` to `Y`, the `E`-th of these; `pos(X,Y,E,L)` and `neg(X,Y,E,L)` are its literals.
/// All states are used: solve it for one state, then two, … to find the fewest.
///
/// ```
/// use form_core::{Kind, Signature, Trace};
/// use form_learn::{Options, asp::to_asp};
/// let signature = Signature::parse(["goal"])?;
/// let trace = Trace::new(Kind::Goal, [signature.observation(["goal"])?]);
/// let program = to_asp(&signature, &[trace], &Options::default(), 1)?;
/// assert!(program.contains("slot(0,u_acc,0)."));
/// # Ok::<(), form_learn::Error>(())
/// ```
pub fn to_asp(
    signature: &Signature,
    traces: &[Trace],
    options: &Options,
    states: usize,
) -> Result<String> {
    let rejecting = traces.iter().any(|trace| trace.kind() == Kind::DeadEnd);
    let mut program = format!("% The smallest machine with {states} non-terminal state(s).\n");
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(program, "state(0..{}).", states.saturating_sub(1));
    program.push_str(if rejecting {
        "terminal(u_acc). terminal(u_rej).\n"
    } else {
        "terminal(u_acc).\n"
    });
    for (from, to) in targets(states, rejecting, options.cyclic) {
        for k in 0..options.max_disjuncts {
            let _ = writeln!(program, "slot({from},{to},{k}).");
        }
    }
    write_literals(&mut program, signature, &vocabulary(signature, options)?);
    program.push('\n');
    program.push_str(MACHINE);
    program.push_str(if options.cyclic { CYCLIC } else { ACYCLIC });
    if options.forall_alone {
        program.push_str(FORALL_ALONE);
        if options.windows() {
            program.push_str(COUNTS_ALONE);
        }
    }
    write_tree(&mut program, signature, traces);
    program.push_str(RUNS);
    if options.windows() {
        program.push_str(WINDOWS);
    }
    program.push_str(OBJECTIVE);
    Ok(program)
}

/// The pairs of states that an edge may lead from and to.
pub(super) fn targets(states: usize, rejecting: bool, cyclic: bool) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for from in 0..states {
        let others = (0..states).filter(|&to| if cyclic { to != from } else { to > from });
        let terminal = ["u_acc", "u_rej"]
            .into_iter()
            .take(1 + usize::from(rejecting));
        let names = others.map(|to| to.to_string());
        pairs.extend((names.chain(terminal.map(str::to_owned))).map(|to| (from.to_string(), to)));
    }
    pairs
}

/// The vocabulary, its instances, and the implications between its atoms.
fn write_literals(program: &mut String, signature: &Signature, vocabulary: &[LearnableAtom]) {
    program.push_str(
        "\n% The atoms that may stand on edges, and the instances of the quantified ones.\n",
    );
    let terms: Vec<String> = vocabulary.iter().map(|a| atom_to_asp(&a.atom)).collect();
    for (learnable, term) in vocabulary.iter().zip(&terms) {
        let instance = |id| atom_to_asp(&signature.atom(id).clone().into());
        let _ = match &learnable.window {
            None => write!(program, "static({term})."),
            Some(_) if learnable.is_forall() => write!(program, "universal({term})."),
            Some(Window::Count(count)) => {
                write!(program, "windowed({term}). counted({term},{count}).")
            }
            Some(Window::Join(_)) => write!(program, "windowed({term})."),
        };
        if learnable.cost > 1 {
            let _ = write!(program, " extra({term},{}).", learnable.cost - 1);
        }
        if learnable.ground {
            let _ = write!(program, " ground({term}).");
        }
        if let Some(Window::Join(pairs)) = &learnable.window {
            for (once, now) in pairs {
                let (once, now) = (instance(*once), instance(*now));
                let _ = write!(program, " pair({term},{once},{now}).");
            }
        } else if matches!(learnable.atom, Atom::Quantified(_)) {
            for id in learnable.mask.iter() {
                let _ = write!(program, " instance({term},{}).", instance(id));
            }
        }
        program.push('\n');
    }
    program.push_str("% Where the first holds, so does the second.\n");
    for (a, first) in vocabulary.iter().zip(&terms) {
        let implied = (vocabulary.iter().zip(&terms)).filter(|(b, _)| b.follows_from(a));
        let facts: Vec<String> = implied
            .map(|(_, second)| format!("implies({first},{second})."))
            .collect();
        let _ = writeln!(program, "{}", facts.join(" "));
    }
}

/// The prefix tree of the traces, and their distinct observations.
fn write_tree(program: &mut String, signature: &Signature, traces: &[Trace]) {
    let distinct: BTreeSet<&AtomSet> = traces.iter().flat_map(Trace::steps).collect();
    let numbers: BTreeMap<&AtomSet, usize> = distinct.into_iter().zip(0..).collect();
    program.push_str("\n% The distinct observations.\n");
    for (observation, i) in &numbers {
        let facts: Vec<String> = (observation.iter())
            .map(|id| atom_to_asp(&signature.atom(id).clone().into()))
            .map(|atom| format!("observation({i},{atom})."))
            .collect();
        let _ = writeln!(program, "{}", facts.join(" "));
    }
    program
        .push_str("% The tree of the traces: each node, the one before it and its observation.\n");
    let mut nodes: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut ends: BTreeSet<(usize, &str)> = BTreeSet::new();
    for trace in traces {
        let mut node = 0;
        for (step, observation) in trace.steps().iter().enumerate() {
            if step > 0 {
                ends.insert((node, "running"));
            }
            let (parent, i) = (node, numbers[observation]);
            let next = nodes.len() + 1;
            node = *nodes.entry((parent, i)).or_insert_with(|| {
                let _ = writeln!(program, "parent({next},{parent}). observed({next},{i}).");
                next
            });
        }
        ends.insert((node, predicate(trace.kind())));
    }
    program.push_str("% How the traces end.\n");
    for (node, kind) in ends {
        let _ = writeln!(program, "{kind}({node}).");
    }
}

fn predicate(kind: Kind) -> &'static str {
    match kind {
        Kind::Goal => "goal",
        Kind::DeadEnd => "dead_end",
        Kind::Incomplete => "running",
    }
}
