//! Explanations against exhaustive enumeration: what traces are said to force, they force, and none of them can be left
//! out.
//!
//! Whether a machine belongs to those that a claim is about, and whether it has an edge, is decided here once more, from
//! the words of the documentation: by trying all numberings and all observations.

use form_core::{Formula, Kind, Trace};
use form_learn::{
    Criterion, Explanation, LearnOutcome, Learner, Learnt, Limits, Proof, Reason, TracePrefix,
};

use super::brute_force::{Edge, Outgoing, Space, find};
use super::problems::{Problem, problem};

/// A problem, its different traces, the machine learnt from it and why it is so.
struct Explained {
    problem: Problem,
    learnt: Learnt,
    explanation: Explanation,
}

fn learner(problem: &Problem) -> (Learner, Vec<Trace>) {
    let mut learner = Learner::new(&problem.signature, &problem.options);
    let traces = problem.traces.iter();
    let different = traces.filter(|trace| learner.add(trace).is_some());
    let different = different.cloned().collect();
    (learner, different)
}

fn explained(mut problem: Problem) -> Option<Explained> {
    let (mut learner, traces) = learner(&problem);
    problem.traces = traces;
    let limits = Limits {
        max_states: problem.max_states,
        ..Limits::default()
    };
    match learner.learn(&limits).unwrap() {
        LearnOutcome::Minimal(learnt) => Some(Explained {
            explanation: learner.explain(&limits).unwrap(),
            problem,
            learnt,
        }),
        _ => None,
    }
}

impl Explained {
    /// The problem that has only these parts of its traces.
    fn only(&self, parts: &[TracePrefix]) -> Problem {
        let part = |part: &TracePrefix| {
            let whole = &self.problem.traces[part.trace];
            assert_eq!(part.whole, part.length == whole.steps().len());
            let kind = if part.whole {
                whole.kind()
            } else {
                Kind::Incomplete
            };
            assert_eq!(part.kind, kind);
            Trace::with_mode(
                whole.step_mode(),
                kind,
                whole.steps()[..part.length].to_vec(),
            )
        };
        Problem {
            traces: parts.iter().map(part).collect(),
            ..self.problem.clone()
        }
    }

    fn rejecting(&self) -> bool {
        let mut traces = self.problem.traces.iter();
        traces.any(|trace| trace.kind() == Kind::DeadEnd)
    }

    /// The traces force the machines of the claim to have the edge, and no fewer do.
    fn check(&self, claim: &Claim<'_>, proof: &Proof) {
        let found = |parts: &[TracePrefix]| {
            find(
                &self.only(parts),
                self.rejecting(),
                self.learnt.states,
                self.learnt.cost.size,
                |space, machine| {
                    claim.is_about(self, space, machine) && !claim.is_met(self, space, machine)
                },
            )
        };
        let place = || {
            format!(
                "{claim:?} in\n{}\n{}",
                self.learnt.machine,
                self.problem.describe()
            )
        };
        let counterexample = found(&proof.traces);
        assert!(
            counterexample.is_none(),
            "{counterexample:?} against {}",
            place()
        );
        assert!(proof.irreducible, "{}", place());
        for i in 0..proof.traces.len() {
            let mut fewer = proof.traces.clone();
            let part = fewer.remove(i);
            assert!(found(&fewer).is_some(), "without {part:?}, {}", place());
        }
    }

    /// No machine with fewer states is consistent with the traces, and no fewer of them do.
    fn check_states(&self, proof: &Proof) {
        for states in 1..self.learnt.states {
            let problem = self.only(&proof.traces);
            let found = find(&problem, self.rejecting(), states, SIZE, |_, _| true);
            assert!(found.is_none(), "{found:?}\n{}", self.problem.describe());
        }
        assert!(proof.irreducible);
        let limits = Limits {
            max_states: self.learnt.states - 1,
            ..Limits::default()
        };
        for i in 0..proof.traces.len() {
            let mut fewer = proof.traces.clone();
            let part = fewer.remove(i);
            let outcome = learner(&self.only(&fewer)).0.learn(&limits).unwrap();
            assert!(
                matches!(outcome, LearnOutcome::Minimal(_)),
                "without {part:?}\n{}",
                self.problem.describe()
            );
        }
    }

    /// The edges of the learnt machine, state by state.
    fn edges(&self, space: &Space<'_>) -> Vec<Outgoing> {
        let mut edges = vec![Outgoing::new(); self.learnt.states];
        for edge in self.learnt.machine.edges() {
            let (positive, negative) = label(space, &edge.formula);
            edges[edge.from.index()].push(Edge {
                to: edge.to.index(),
                positive,
                negative,
            });
        }
        edges
    }
}

/// The literals of a conjunction, as bits over the candidates.
fn label(space: &Space<'_>, formula: &Formula) -> (u32, u32) {
    let mut label = (0, 0);
    for (atom, positive) in formula.literals() {
        let number = space.atoms.iter().position(|c| c.atom == *atom).unwrap();
        if positive {
            label.0 |= 1 << number;
        } else {
            label.1 |= 1 << number;
        }
    }
    label
}

/// What is said of an edge.
#[derive(Debug)]
struct Claim<'a> {
    /// The edge's number.
    edge: usize,
    level: Criterion,
    /// The literals that are forced, if not all of them and nothing else.
    literals: Option<&'a Formula>,
}

impl Claim<'_> {
    fn is_about(&self, explained: &Explained, space: &Space<'_>, machine: &[Outgoing]) -> bool {
        let (cost, bound) = (space.cost(machine), explained.learnt.cost);
        let small = [
            (Criterion::Size, cost.size, bound.size),
            (Criterion::Ground, cost.ground, bound.ground),
            (Criterion::Negative, cost.negative, bound.negative),
        ];
        let mut small = small.into_iter().filter(|(level, ..)| *level <= self.level);
        small.all(|(_, cost, bound)| cost <= bound)
            && (1..machine.len()).all(|to| machine.iter().flatten().any(|edge| edge.to == to))
            && !is_idle(explained, space, machine)
            && (self.level < Criterion::Order
                || order(space, machine) >= order(space, &explained.edges(space)))
    }

    /// Whether the machine has the edge in some numbering.
    fn is_met(&self, explained: &Explained, space: &Space<'_>, machine: &[Outgoing]) -> bool {
        let states = machine.len();
        let edge = &explained.learnt.machine.edges()[self.edge];
        let (positive, negative) = label(space, self.literals.unwrap_or(&edge.formula));
        numberings(states).into_iter().any(|number| {
            let number = |state: usize| *number.get(state).unwrap_or(&state);
            let all = || (0..states).flat_map(|from| machine[from].iter().map(move |e| (from, e)));
            let upwards = all().all(|(from, e)| number(from) < number(e.to));
            (explained.problem.options.cyclic || upwards)
                && all().any(|(from, e)| {
                    number(from) == edge.from.index()
                        && number(e.to) == edge.to.index()
                        && match self.literals {
                            None => (e.positive, e.negative) == (positive, negative),
                            Some(_) => positive & !e.positive == 0 && negative & !e.negative == 0,
                        }
                })
        })
    }
}

/// All numberings of this many states in which the first keeps its number.
fn numberings(states: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![0]];
    for _ in 1..states {
        all = (all.into_iter())
            .flat_map(|begun: Vec<usize>| {
                let left = (1..states)
                    .filter(|n| !begun.contains(n))
                    .collect::<Vec<_>>();
                left.into_iter().map(move |n| [&begun[..], &[n]].concat())
            })
            .collect();
    }
    all
}

/// Whether some literal about the newest observation makes no difference on the data: a positive one that another positive
/// one implies or never meets, or a negative one that blocks no observation and keeps nothing apart.
fn is_idle(explained: &Explained, space: &Space<'_>, machine: &[Outgoing]) -> bool {
    let steps = explained.problem.traces.iter().flat_map(Trace::steps);
    let seen: Vec<u32> = steps
        .map(|step| step.iter().map(|id| 1 << id.index()).sum())
        .collect();
    let meet = |a: u32, b: u32| seen.iter().any(|o| o & a != 0 && o & b != 0);
    let atoms = &space.atoms;
    let of = |bits: u32| (0..atoms.len()).filter(move |i| bits >> i & 1 == 1);
    let news = |bits: u32| of(bits).filter(|i| !atoms[*i].forall);
    machine.iter().any(|edges| {
        edges.iter().any(|edge| {
            let needless = news(edge.positive).any(|a| {
                news(edge.positive).any(|b| {
                    let (a_mask, b_mask) = (atoms[a].mask, atoms[b].mask);
                    a != b && (a_mask & !b_mask == 0 || !meet(a_mask, b_mask))
                })
            });
            let idle = news(edge.negative).any(|x| {
                let blocks = of(edge.positive).any(|y| {
                    let (x, y) = (&atoms[x], &atoms[y]);
                    y.forall || y.mask & !x.mask != 0 && meet(x.mask, y.mask)
                });
                let parts = edges
                    .iter()
                    .any(|other| other.to != edge.to && space.denied(other.positive) >> x & 1 == 1);
                !blocks && !parts
            });
            needless || idle
        })
    })
}

/// What the order of the tie-break compares, the greater the better: which places have edges, then their literals.
fn order(space: &Space<'_>, machine: &[Outgoing]) -> (Vec<bool>, Vec<Vec<bool>>) {
    let bits = |bits: u32| (0..space.atoms.len()).map(move |i| bits >> i & 1 == 1);
    let (mut places, mut labels) = (Vec::new(), Vec::new());
    for (from, edges) in machine.iter().enumerate() {
        // Terminal states have the last two numbers.
        for to in (0..machine.len() + 2).filter(|to| *to != from) {
            let mut parallel: Vec<Vec<bool>> = (edges.iter().filter(|edge| edge.to == to))
                .map(|edge| bits(edge.positive).chain(bits(edge.negative)).collect())
                .collect();
            parallel.sort();
            parallel.reverse();
            places.extend((0..space.problem.options.max_disjuncts).map(|i| i < parallel.len()));
            labels.extend(parallel);
        }
    }
    (places, labels)
}

/// Machines of larger size are not enumerated here.
const SIZE: usize = 7;

#[test]
fn what_is_said_to_be_forced_is_forced_by_no_fewer_traces() {
    let mut levels = [0; 4];
    for seed in 0..1000 {
        let Some(explained) = explained(problem(seed)) else {
            continue;
        };
        let (learnt, explanation) = (&explained.learnt, &explained.explanation);
        assert_eq!(explanation.stopped, None);
        assert!(explanation.is_irreducible());
        assert_eq!(explanation.edges.len(), learnt.machine.edges().len());
        if learnt.cost.size > SIZE {
            continue;
        }
        explained.check_states(explanation.states.as_ref().unwrap());
        for (edge, reason) in explanation.edges.iter().enumerate() {
            let reason = reason.as_ref().unwrap();
            levels[Criterion::ALL
                .iter()
                .position(|l| *l == reason.criterion)
                .unwrap()] += 1;
            check_reason(&explained, edge, reason);
        }
    }
    assert!(levels.iter().all(|level| *level > 5), "{levels:?}");
}

fn check_reason(explained: &Explained, edge: usize, reason: &Reason) {
    let level = reason.criterion;
    let claim = Claim {
        edge,
        level,
        literals: None,
    };
    // With three states an order of the numberings is part of that of the machines.
    if level < Criterion::Order || explained.learnt.states < 3 {
        explained.check(&claim, &reason.proof);
    }
    assert_eq!(reason.alternative.is_some(), level > Criterion::Size);
    if let Some(alternative) = &reason.alternative {
        check_alternative(explained, &claim, alternative);
    }
    if let Some(core) = &reason.forced {
        let claim = Claim {
            edge,
            level: Criterion::Size,
            literals: Some(&core.literals),
        };
        explained.check(&claim, &core.proof);
    }
}

/// The alternative agrees with all traces, is as good up to the level before, and does not have the edge.
fn check_alternative(explained: &Explained, claim: &Claim<'_>, alternative: &Learnt) {
    let bound = alternative
        .machine
        .bind(&explained.problem.signature)
        .unwrap();
    for trace in &explained.problem.traces {
        assert_eq!(trace.disagreement(&bound), None);
    }
    assert!(form_core::check(&bound).overlaps.is_empty());
    let before = Criterion::ALL[Criterion::ALL
        .iter()
        .position(|l| *l == claim.level)
        .unwrap()
        - 1];
    let other = Explained {
        problem: explained.problem.clone(),
        learnt: alternative.clone(),
        explanation: explained.explanation.clone(),
    };
    let before = Claim {
        level: before,
        ..*claim
    };
    let space = Space::new(&other.problem);
    let machine = other.edges(&space);
    assert_eq!(space.cost(&machine), alternative.cost);
    assert!(before.is_about(explained, &space, &machine));
    assert!(!before.is_met(explained, &space, &machine));
}
