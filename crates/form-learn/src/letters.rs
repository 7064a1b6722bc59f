//! The search with one number of states where observations are letters: the [relaxation](Relaxation) is exact and answers all
//! questions with one solver.
//!
//! Whether there is a machine at all and which is the cheapest are asked in turn. The cost is bounded from below and asked for
//! [skeleton](crate::skeletons) by skeleton; at the lowest cost, all further machines are found in the same pass, so that ties
//! cost little.

use crate::above::Above;
use crate::budget::Budget;
use crate::encode::{Lettered, Lit, Relaxation, Solved};
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

/// The smallest machine over letters; the bounds on its cost are kept up to date.
pub(crate) fn smallest(
    letters: &mut Relaxation,
    problem: &Problem,
    bounds: &mut Bounds,
    above: &mut Above,
    budget: &Budget,
) -> Result<Letters, StopReason> {
    bounds.raise(letters.lowest_cost());
    let (mut conflicts, mut calls) = (FIRST_CONFLICTS, FIRST_CALLS);
    let mut refuted = Vec::new();
    loop {
        // Any machine, to refute the number of states; then the cheapest, which is easier to find.
        if bounds.incumbent.is_none() {
            match letters.solve(problem, &[], Some(conflicts), calls, budget) {
                Solved::Unsat => return Ok(Letters::Answer(None)),
                Solved::Sat(()) => keep(letters.lettered(), bounds, budget),
                Solved::Unknown => {}
            }
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
        calls = CALLS;
    }
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

/// The conflicts of the first calls for any machine.
const FIRST_CONFLICTS: i32 = 2000;
/// The number of calls for any machine, at first and later.
const FIRST_CALLS: usize = 16;
const CALLS: usize = 4;
/// How many steps of the bound on the cost are taken at a time.
const STEPS: usize = 8;
/// How many machines of the lowest cost are enumerated.
const TIES: usize = 100;
