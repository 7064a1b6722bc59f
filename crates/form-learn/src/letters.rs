//! The search with one number of states where observations are [letters](crate::alphabet).
//!
//! Two questions: is there a machine at all, and which is the cheapest? The cost is bounded from below and asked for
//! [skeleton](crate::skeletons) by skeleton. First all machines of each cost are [followed](crate::follow), without a solver: that
//! finds small machines at once. Then a second thread asks the [relaxation](Relaxation), which is exact here, for any machine, while
//! this one goes on following; with one thread, or once a machine is known, they take turns. Where there are too many to follow, the relaxation answers both questions
//! in turn. Each answer is exact, so the result does not depend on which comes first. At the lowest cost, all further machines are
//! found in the same pass, so that ties cost little.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::above::Above;
use crate::alphabet::{Alphabet, Lettered};
use crate::budget::{Budget, SetOnDrop};
use crate::encode::{Lit, Relaxation, Solved};
use crate::follow::{Edges, Task, machines};
use crate::minimise::Bounds;
use crate::outcome::{Learnt, StopReason};
use crate::problem::Problem;
use crate::skeletons::{Skeleton, skeletons};

/// The result of the search.
pub(crate) enum Letters {
    /// The smallest machine, or none.
    Answer(Option<Learnt>),
    /// Too many machines have the lowest cost, now the lower bound: ties are better broken by the encoding.
    ManyTies,
}

/// The machines of one number of states that can be followed without a solver.
struct Follower<'a> {
    problem: &'a Problem,
    alphabet: Alphabet,
    states: usize,
    /// The nodes that may still be visited.
    nodes: usize,
}

impl<'a> Follower<'a> {
    /// If observations are letters, and the options allow it.
    fn new(problem: &'a Problem, letters: &Relaxation) -> Option<Self> {
        let states = letters.states();
        let follows = problem.options.techniques.follow && problem.shape(states).has_skeletons();
        Some(Self {
            problem,
            alphabet: letters.alphabet().filter(|_| follows)?.clone(),
            states,
            nodes: 0,
        })
    }

    /// Follows the machines of the lowest cost, then of the next, a few steps, with this number of nodes.
    fn cheapest(&mut self, bounds: &mut Bounds, nodes: usize, budget: &Budget) -> Option<Letters> {
        self.nodes = nodes;
        for _ in 0..STEPS {
            budget.check()?;
            let shape = self.problem.shape(self.states);
            let skeletons = skeletons(&shape, true, bounds.lower, self.problem.stays())?;
            match self.follow(&skeletons, bounds, budget) {
                Solved::Unsat => bounds.refute_lower(),
                Solved::Sat(answer) => return Some(answer),
                Solved::Unknown => return None,
            }
        }
        None
    }

    /// Follows all machines with these skeletons. `Unknown` if there are too many nodes, or a limit is reached.
    fn follow(
        &mut self,
        skeletons: &[Skeleton],
        bounds: &mut Bounds,
        budget: &Budget,
    ) -> Solved<Letters> {
        let shape = self.problem.shape(self.states);
        let task = Task {
            problem: self.problem,
            shape: shape.clone(),
            atoms: &self.alphabet.atoms,
            seeds: SEEDS,
            nodes: self.nodes,
            machines: TIES,
        };
        let make = |edges: &Edges| self.alphabet.machine(&shape, edges.clone());
        let found = machines(task, skeletons, |edges| make(edges).learnt, budget);
        self.nodes = found.nodes_left;
        let many = found.machines.len() == TIES;
        let mut best: Option<Lettered> = None;
        for machine in found.machines.iter().map(make) {
            budget.found(&machine.learnt);
            bounds.improve(&machine.learnt);
            if best.as_ref().is_none_or(|best| machine.precedes(best)) {
                best = Some(machine);
            }
        }
        match best {
            _ if !found.complete && many => Solved::Sat(Letters::ManyTies),
            _ if !found.complete => Solved::Unknown,
            Some(best) => Solved::Sat(Letters::Answer(Some(best.learnt))),
            None => Solved::Unsat,
        }
    }

    /// Follows machines while another thread looks for any machine.
    fn side_by_side(
        &mut self,
        letters: &mut Relaxation,
        bounds: &mut Bounds,
        budget: &Budget,
    ) -> Option<Letters> {
        let [over, refuted] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let problem = self.problem;
        let (answer, proof) = std::thread::scope(|scope| {
            let (for_prover, flag) = (budget.with_cancellation(&over), refuted.clone());
            let proof = scope.spawn(move || {
                let proof = letters.solve(problem, &[], None, usize::MAX, &for_prover);
                flag.store(matches!(proof, Solved::Unsat), Ordering::Relaxed);
                match proof {
                    Solved::Sat(()) => Solved::Sat(letters.lettered()),
                    Solved::Unsat => Solved::Unsat,
                    Solved::Unknown => Solved::Unknown,
                }
            });
            // However this ends, also by a panic, the other thread is told to end too.
            let at_end = SetOnDrop(over);
            let answer = self.cheapest(bounds, NODES, &budget.with_cancellation(&refuted));
            drop(at_end);
            (answer, proof.join())
        });
        match proof.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            Solved::Unsat => return Some(Letters::Answer(None)),
            Solved::Sat(found) => keep(found, bounds, budget),
            Solved::Unknown => {}
        }
        answer
    }
}

/// The smallest machine over letters; the bounds on its cost are kept up to date.
pub(crate) fn smallest(
    letters: &mut Relaxation,
    problem: &Problem,
    bounds: &mut Bounds,
    above: &mut Above,
    budget: &Budget,
) -> Result<Letters, StopReason> {
    let mut conflicts = FIRST_CONFLICTS;
    if is_refuted(
        letters,
        problem,
        bounds,
        (QUICK_CONFLICTS, QUICK_CALLS),
        budget,
    ) {
        return Ok(Letters::Answer(None));
    }
    if let Some(mut follower) = Follower::new(problem, letters) {
        let mut answer = follower.cheapest(bounds, FIRST_NODES, budget);
        // Once a machine is known, only the cheapest one is asked for.
        let in_turn = bounds.incumbent.is_some() || budget.one_thread();
        if answer.is_none() && in_turn {
            if is_refuted(letters, problem, bounds, (conflicts, CALLS), budget) {
                return Ok(Letters::Answer(None));
            }
            conflicts = conflicts.saturating_mul(2);
            answer = follower.cheapest(bounds, NODES, budget);
        } else if answer.is_none() {
            answer = follower.side_by_side(letters, bounds, budget);
        }
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
    let mut refuted = Vec::new();
    loop {
        if is_refuted(letters, problem, bounds, (conflicts, CALLS), budget) {
            return Ok(Letters::Answer(None));
        }
        for _ in 0..STEPS {
            if let Some(answer) = of_lowest_cost(letters, problem, bounds, &mut refuted, budget)? {
                return Ok(answer);
            }
        }
        if bounds.incumbent.is_none() {
            above.step(problem, letters.states(), conflicts, budget);
        }
        conflicts = conflicts.saturating_mul(2);
    }
}

/// Asks for any machine, unless one is known, with a limit on the conflicts of each call and on the calls; whether there is none.
fn is_refuted(
    letters: &mut Relaxation,
    problem: &Problem,
    bounds: &mut Bounds,
    (conflicts, calls): (i32, usize),
    budget: &Budget,
) -> bool {
    if bounds.incumbent.is_some() {
        return false;
    }
    let solved = letters.solve(problem, &[], Some(conflicts), calls, budget);
    if matches!(solved, Solved::Sat(())) {
        keep(letters.lettered(), bounds, budget);
    }
    matches!(solved, Solved::Unsat)
}

/// The best machine whose cost is the lower bound; `None` if there is none, and the bound is raised.
fn of_lowest_cost(
    letters: &mut Relaxation,
    problem: &Problem,
    bounds: &mut Bounds,
    refuted: &mut Vec<Vec<Lit>>,
    budget: &Budget,
) -> Result<Option<Letters>, StopReason> {
    // Where all skeletons are refuted already, no solver looks at the limits.
    budget.check().ok_or_else(|| budget.stop_reason())?;
    let others = letters.activation_literal();
    let mut cubes = Cubes::new(letters, problem, bounds.lower);
    let mut best: Option<Lettered> = None;
    for _ in 0..TIES {
        match cubes.solve(letters, problem, others, refuted, budget) {
            Solved::Unknown => return Err(budget.stop_reason()),
            Solved::Unsat => {
                return Ok(match best {
                    Some(best) => Some(Letters::Answer(Some(best.learnt))),
                    None if cubes.is_refuted(letters) => Some(Letters::Answer(None)),
                    None => {
                        bounds.refute_lower();
                        None
                    }
                });
            }
            Solved::Sat(()) => {
                let Some(found) = letters.lettered() else {
                    break;
                };
                letters.block(others, &found);
                budget.found(&found.learnt);
                bounds.improve(&found.learnt);
                if best.as_ref().is_none_or(|best| found.precedes(best)) {
                    best = Some(found);
                }
            }
        }
    }
    Ok(Some(Letters::ManyTies))
}

/// Keeps a consistent machine, and shows it.
fn keep(found: Option<Lettered>, bounds: &mut Bounds, budget: &Budget) {
    if let Some(found) = found {
        budget.found(&found.learnt);
        bounds.improve(&found.learnt);
    }
}

/// A pass over the machines of one cost.
enum Cubes {
    /// Skeleton by skeleton.
    Skeletons {
        skeletons: Vec<Skeleton>,
        /// What refuted some of them together with machines that are known.
        cores: Vec<Vec<Lit>>,
        /// The first that is not refuted.
        next: usize,
    },
    /// All at once, under a bound on the cost.
    Bound(Vec<Lit>),
}

impl Cubes {
    fn new(letters: &mut Relaxation, problem: &Problem, cost: usize) -> Self {
        let shape = problem.shape(letters.states());
        let skeletons = match shape.has_skeletons() {
            true => skeletons(&shape, true, cost, problem.stays()),
            false => None,
        };
        match skeletons {
            None => Self::Bound(letters.at_most(cost)),
            Some(skeletons) => Self::Skeletons {
                skeletons,
                cores: Vec::new(),
                next: 0,
            },
        }
    }

    /// Whether the last proof of unsatisfiability holds for any cost.
    fn is_refuted(&self, letters: &Relaxation) -> bool {
        match self {
            Self::Skeletons { .. } => false,
            Self::Bound(bound) => !letters.core_has(bound),
        }
    }

    /// Whether there is a machine that is not blocked while `others` is assumed; more and more are during the pass. `refuted` has
    /// what refutes skeletons in every pass.
    fn solve(
        &mut self,
        letters: &mut Relaxation,
        problem: &Problem,
        others: Lit,
        refuted: &mut Vec<Vec<Lit>>,
        budget: &Budget,
    ) -> Solved<()> {
        let (skeletons, cores, next) = match self {
            Self::Bound(bound) => {
                let all = [&bound[..], &[others]].concat();
                return letters.solve(problem, &all, None, usize::MAX, budget);
            }
            Self::Skeletons {
                skeletons,
                cores,
                next,
            } => (skeletons, cores, next),
        };
        while let Some(skeleton) = skeletons.get(*next) {
            let cube = letters.skeleton(skeleton);
            let is_in_cube = |core: &Vec<Lit>| core.iter().all(|l| cube.contains(l));
            if !cores.iter().chain(refuted.iter()).any(is_in_cube) {
                let all = [&cube[..], &[others]].concat();
                match letters.solve(problem, &all, None, usize::MAX, budget) {
                    Solved::Unsat => {}
                    answer => return answer,
                }
                let used = cube
                    .into_iter()
                    .filter(|l| letters.core_has(&[*l]))
                    .collect();
                match letters.core_has(&[others]) {
                    true => cores.push(used),
                    false => refuted.push(used),
                }
            }
            *next += 1;
        }
        Solved::Unsat
    }
}

/// The conflicts and the number of calls for any machine, before machines are followed and later.
const QUICK_CONFLICTS: i32 = 500;
const QUICK_CALLS: usize = 2;
const FIRST_CONFLICTS: i32 = 2000;
const CALLS: usize = 16;
/// How many steps of the bound on the cost are taken at a time.
const STEPS: usize = 8;
/// The nodes that are visited to follow machines, at first and later.
const FIRST_NODES: usize = 20_000;
const NODES: usize = 1_200_000;
/// How many traces of each end are followed from the start.
const SEEDS: usize = 30;
/// How many machines of the lowest cost are enumerated.
const TIES: usize = 100;
