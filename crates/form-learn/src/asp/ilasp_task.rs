//! The learning task of the paper for ILASP (Sections 2.2, 2.3 and 3.3, Appendix E).
//!
//! The background knowledge `B` says how a machine runs, the hypothesis space `S_M` lists the rules of machines, each with its
//! length, and every trace is a positive example with its observations as context. Constraints on the rules themselves
//! (determinism, no atom both positive and negative, one numbering of the states) go to ILASP's meta-program by injection:
//! there `active(I)` says that the `I`-th rule of the space was chosen, and atoms have numbers. Listings 2 and 3 are corrected
//! as in the program for clingo: a `forall` stays true until the state is left, the buffer starts when the state was last
//! entered, and no choice among instances keeps two edges apart.

use std::fmt::Write as _;

use form_core::{Atom, Kind, Signature, Trace};
use form_formats::{atom_to_asp, trace_to_asp};

use super::clingo_program::targets;
use crate::error::Result;
use crate::options::Options;
use crate::vocabulary::{LearnableAtom, vocabulary};
use crate::window::Window;

/// How a machine runs over the trace in the context.
const BACKGROUND: &str = "\
% B: the state before each step. An edge holds when its negation does not.
st(0,u0).
phi(X,Y,E,T) :- ed(X,Y,E), not n_phi(X,Y,E,T), step(T).
delta(X,Y,T) :- st(T,X), phi(X,Y,E,T).
moved(T) :- delta(X,Y,T).
st(T+1,Y) :- delta(X,Y,T).
st(T+1,X) :- st(T,X), step(T), not moved(T).
accept :- last(T), st(T+1,u_acc).
reject :- last(T), st(T+1,u_rej).
early :- step(T), st(T,u_acc).
early :- step(T), st(T,u_rej).

% Listing 1: some instance is observed now.
e_pred(P,T) :- obs(O,T), e_instance(P,O).

% Listing 2: all instances are in the buffer since the state was entered, until it is left.
entered(T+1) :- moved(T).
p_holds(O,T) :- obs(O,T), in_window(O).
in_window(O) :- a_instance(P,O).
p_holds(O,T) :- p_holds(O,T-1), step(T), not entered(T).
not_all_p_hold(P,T) :- a_instance(P,O), not p_holds(O,T), step(T).
a_pred(P,T) :- a_instance(P,O), not not_all_p_hold(P,T), step(T).
";

/// Atoms over the window other than `forall`; the rules of `c_pred` depend on the counts.
const WINDOWS: &str = "
% `once` and `atleast` count what the buffer has, a join pairs it with the newest observation.
in_window(O) :- o_instance(P,O).
in_window(O) :- c_instance(P,K,O).
in_window(O) :- j_pair(P,O,N).
o_pred(P,T) :- o_instance(P,O), p_holds(O,T).
j_pred(P,T) :- j_pair(P,O,N), p_holds(O,T), obs(N,T).
";

/// The constraints on the chosen rules.
const META: &str = "
    injected_literal(X,Y,E) :- injected_pos(X,Y,E,L).
    injected_literal(X,Y,E) :- injected_neg(X,Y,E,L).
    injected_positive(X,Y,E) :- injected_pos(X,Y,E,L).
    :- injected_literal(X,Y,E), not injected_ed(X,Y,E).
    :- injected_ed(X,Y,E), not injected_positive(X,Y,E).
    :- injected_pos(X,Y,E,L), injected_neg(X,Y,E,L).
    injected_apart(X,Y,D,Z,E) :- injected_pos(X,Y,D,A), injected_neg(X,Z,E,B), injected_implies(A,B), Y != Z.
    :- injected_ed(X,Y,D), injected_ed(X,Z,E), Y < Z, not injected_apart(X,Y,D,Z,E), not injected_apart(X,Z,E,Y,D).
    injected_reached(u0).
    injected_reached(Y) :- injected_reached(X), injected_ed(X,Y,E).
    :- injected_state(X,N), not injected_reached(X).
    :- injected_ed(X,Y,E), E > 0, not injected_ed(X,Y,E-1).
";

/// As in the program for clingo: the numbering of a queue.
const ACYCLIC: &str = "
    injected_enters(M,N) :- injected_ed(X,Y,E), injected_state(X,M), injected_state(Y,N).
    injected_later(M,N) :- injected_enters(K,N), injected_state(X,M), M < K.
    injected_ready(M,N) :- injected_enters(M,N), not injected_later(M,N).
    :- injected_ready(M,N), injected_ready(K,N+1), K < M.
";

/// As in the program for clingo: breadth-first numberings.
const CYCLIC: &str = "
    injected_enters(M,N) :- injected_ed(X,Y,E), injected_state(X,M), injected_state(Y,N), N > 0.
    injected_sooner(M,N) :- injected_enters(K,N), injected_state(X,M), K < M.
    injected_found(M,N) :- injected_enters(M,N), not injected_sooner(M,N).
    :- injected_found(M,N), M > N.
    :- injected_found(M,N), injected_found(K,N+1), K < M.
";

const FORALL_ALONE: &str = "
    injected_alone(X,Y,E) :- injected_pos(X,Y,E,L), injected_universal(L).
    :- injected_alone(X,Y,E), injected_pos(X,Y,E,A), injected_pos(X,Y,E,B), A < B.
    :- injected_alone(X,Y,E), injected_neg(X,Y,E,B).
    injected_waits(X,L) :- injected_pos(X,Y,E,L), injected_universal(L).
    :- injected_neg(X,Y,E,L), injected_universal(L), not injected_waits(X,L).
";

/// As in the program for clingo, for `once` and `atleast`.
const COUNTS_ALONE: &str = "
    injected_waits(X,L) :- injected_pos(X,Y,E,L), injected_counted(L).
    :- injected_neg(X,Y,E,L), injected_counted(L), not injected_waits(X,L).
    injected_counts(X,Y,E) :- injected_pos(X,Y,E,L), injected_counted(L).
    :- injected_counts(X,Y,E), injected_pos(X,Y,E,L), injected_static(L).
    :- injected_counts(X,Y,E), injected_neg(X,Y,E,L), injected_static(L).
";

/// Among the shortest hypotheses: fewest ground atoms, then fewest negations.
const PREFERENCES: &str = "
    :~ injected_pos(X,Y,E,L), injected_ground(L).[1@-1, X, Y, E, L, pos]
    :~ injected_neg(X,Y,E,L), injected_ground(L).[1@-1, X, Y, E, L, neg]
    :~ injected_neg(X,Y,E,L).[1@-2, X, Y, E, L]
";

/// The paper's learning task: the smallest machine with this number of states, accepting and rejecting ones not counted.
///
/// All states are used: solve it for one state, then two, … to find the fewest.
pub fn to_ilasp(
    signature: &Signature,
    traces: &[Trace],
    options: &Options,
    states: usize,
) -> Result<String> {
    let vocabulary = vocabulary(signature, options)?;
    let mut task = format!("% The smallest machine with {states} non-terminal state(s).\n\n");
    task.push_str(BACKGROUND);
    if options.windows() {
        task.push_str(WINDOWS);
        for count in 2..=options.counts {
            task.push_str(&counting(count));
        }
    }
    task.push_str(&instances(signature, &vocabulary));
    let rejecting = traces.iter().any(|trace| trace.kind() == Kind::DeadEnd);
    let name = |state: String| {
        if state.starts_with('u') {
            state
        } else {
            format!("u{state}")
        }
    };
    let pairs: Vec<(String, String)> = (targets(states, rejecting, options.cyclic).into_iter())
        .map(|(from, to)| (name(from), name(to)))
        .collect();
    // The facts of the meta-program are collected while the rules get their numbers.
    let mut facts = write_space(&mut task, &vocabulary, &pairs, options.max_disjuncts);
    // Writing to a string cannot fail, here and below.
    for state in 0..states {
        let _ = writeln!(facts, "    injected_state(u{state},{state}).");
    }
    for (from, to) in &pairs {
        let _ = writeln!(facts, "    injected_slot({from},{to}).");
    }
    write_literals(&mut facts, &vocabulary, options.windows());
    task.push_str("\n% What must hold of the rules. Atoms have their numbers.\n#inject(\"\n");
    task.push_str(&facts);
    task.push_str(META);
    task.push_str(if options.cyclic { CYCLIC } else { ACYCLIC });
    if options.forall_alone {
        task.push_str(FORALL_ALONE);
        if options.windows() {
            task.push_str(COUNTS_ALONE);
        }
    }
    task.push_str(PREFERENCES);
    task.push_str("\").\n\n% E: the traces.\n");
    for (i, trace) in traces.iter().enumerate() {
        write_example(&mut task, signature, i, trace);
    }
    Ok(task)
}

/// The rule of `atleast`: `count` different instances are in the buffer. It has no aggregate, because ILASP may not support them.
fn counting(count: usize) -> String {
    let held = (1..=count).map(|i| format!("c_instance(P,{count},O{i}), p_holds(O{i},T)"));
    let ordered = (1..count).map(|i| format!("O{i} < O{}", i + 1));
    let body: Vec<String> = held.chain(ordered).collect();
    format!("c_pred(P,{count},T) :- {}.\n", body.join(", "))
}

/// The instances of the quantified atoms, as facts of the background knowledge.
fn instances(signature: &Signature, vocabulary: &[LearnableAtom]) -> String {
    let mut facts = String::from("\n% The instances of the quantified atoms.\n");
    for learnable in vocabulary {
        let term = atom_to_asp(&learnable.atom);
        let (predicate, key) = split(&term);
        let observed = |id| {
            let atom = atom_to_asp(&signature.atom(id).clone().into());
            split(&atom).1.to_owned()
        };
        if let Some(Window::Join(pairs)) = &learnable.window {
            for (once, now) in pairs {
                let (once, now) = (observed(*once), observed(*now));
                let _ = writeln!(facts, "j_pair({key},{once},{now}).");
            }
        } else if matches!(learnable.atom, Atom::Quantified(_)) {
            let kind = predicate.trim_end_matches("_pred");
            for id in learnable.mask.iter() {
                let _ = writeln!(facts, "{kind}_instance({key},{}).", observed(id));
            }
        }
    }
    facts
}

/// The hypothesis space, each rule with its length; returns the facts about the rules for the meta-program.
fn write_space(
    task: &mut String,
    vocabulary: &[LearnableAtom],
    pairs: &[(String, String)],
    disjuncts: usize,
) -> String {
    task.push_str("\n% S_M: the edges, and the literals on them: a rule says when the edge does not hold.\n#max_penalty(100).\n");
    let mut facts = String::new();
    let mut rules = 0;
    let mut rule = |task: &mut String, length: usize, text: &str, stands_for: &str| {
        let _ = writeln!(task, "{length} ~ {text}");
        let _ = writeln!(facts, "    injected_{stands_for} :- active({rules}).");
        rules += 1;
    };
    for (from, to) in pairs {
        for k in 0..disjuncts {
            let edge = format!("{from},{to},{k}");
            rule(task, 1, &format!("ed({edge})."), &format!("ed({edge})"));
            for (a, learnable) in vocabulary.iter().enumerate() {
                for (not, sign) in [("not ", "pos"), ("", "neg")] {
                    let failing = at(&atom_to_asp(&learnable.atom), "T");
                    let text = format!("n_phi({edge},T) :- {not}{failing}, step(T).");
                    let stands_for = format!("{sign}({edge},{a})");
                    rule(task, learnable.cost, &text, &stands_for);
                }
            }
        }
    }
    facts
}

/// The facts about the atoms for the meta-program.
fn write_literals(facts: &mut String, vocabulary: &[LearnableAtom], windows: bool) {
    for (a, learnable) in vocabulary.iter().enumerate() {
        if learnable.ground {
            let _ = writeln!(facts, "    injected_ground({a}).");
        }
        let sort = match &learnable.window {
            None => Some("static"),
            Some(_) if learnable.is_forall() => Some("universal"),
            Some(Window::Count(_)) => Some("counted"),
            Some(Window::Join(_)) => None,
        };
        // Only the bias on counts asks which atoms are about the newest observation.
        if let Some(sort) = sort.filter(|sort| windows || *sort == "universal") {
            let _ = writeln!(facts, "    injected_{sort}({a}).");
        }
        for (b, _) in (vocabulary.iter().enumerate()).filter(|(_, b)| b.follows_from(learnable)) {
            let _ = writeln!(facts, "    injected_implies({a},{b}).");
        }
    }
}

/// A trace as a context-dependent example: where its run must end, and that it must not end before.
fn write_example(task: &mut String, signature: &Signature, number: usize, trace: &Trace) {
    let (included, excluded) = match trace.kind() {
        Kind::Goal => ("accept", "reject, early"),
        Kind::DeadEnd => ("reject", "accept, early"),
        Kind::Incomplete => ("", "accept, reject, early"),
    };
    let context: String = (trace_to_asp(trace.steps(), signature).lines())
        .map(|line| format!("    {line}\n"))
        .collect();
    let _ = writeln!(
        task,
        "#pos(ex{number}, {{{included}}}, {{{excluded}}}, {{\n{context}}}).\n#inject(\"example_active(ex{number}).\")."
    );
}

/// `obs(goal)` at the step `T`: `obs(goal,T)`.
fn at(term: &str, step: &str) -> String {
    let (predicate, argument) = split(term);
    format!("{predicate}({argument},{step})")
}

/// The predicate and the argument of `e_pred(blue)`.
fn split(term: &str) -> (&str, &str) {
    let (predicate, rest) = term.split_once('(').unwrap_or((term, ")"));
    (predicate, rest.strip_suffix(')').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_task() {
        let signature = Signature::parse(["yellow(o0)", "yellow(o1)"]).unwrap();
        let step = |atom: &str| signature.observation([atom]).unwrap();
        let traces = [
            Trace::new(Kind::Goal, [step("yellow(o0)"), step("yellow(o1)")]),
            Trace::new(Kind::DeadEnd, [step("yellow(o1)")]),
            Trace::new(Kind::Incomplete, [step("yellow(o0)")]),
        ];
        insta::assert_snapshot!(to_ilasp(&signature, &traces, &Options::default(), 1).unwrap());
    }

    #[test]
    fn literals_have_a_step() {
        assert_eq!(at("obs(goal)", "T"), "obs(goal,T)");
        assert_eq!(at("e_pred(on(var(0),b))", "V1"), "e_pred(on(var(0),b),V1)");
    }
}
