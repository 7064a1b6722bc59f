//! How good a run is, and whether that is the end of it.
//!
//! Success is measured on a fixed set of episodes: the same maps, starts and random numbers for the whole run, with actions drawn as
//! in training, every episode played to its end. Evaluations are made as often as their budget allows, which is counted in steps and never by
//! the clock, so that a run is the same to the byte wherever it is made. Whatever the evaluations decide is confirmed on fresh episodes,
//! and the success that a run is credited with is measured on others again, which no decision was based on.

use std::time::Instant;

use anyhow::Result;
use form_env::Split;
use form_rl::{AssignmentMode, Choice, Episode};

use super::Trainer;
use crate::arena::Arena;
use crate::evaluation::{
    Evaluation, EvaluationPlan, Failures, Start, evaluate, evaluate_watched, play_watched, random,
    starts,
};
use crate::metrics::TimingsRow;
use crate::tally::{Ending, Iteration, LastEvaluation, Stalled};
use crate::watcher::Watcher;

/// After how many evaluations that are no better than the best a run is said to stall, and again after as many.
const STALLS: u64 = 5;
/// The most maps that are named then.
const MOST_MAPS: usize = 3;

/// What the episodes of a run's evaluations are drawn from, apart from its seed.
#[derive(Clone, Copy)]
enum Episodes {
    /// Those of all evaluations.
    Fixed,
    /// Those that confirm what the evaluation after this iteration says.
    Fresh(u64),
    /// Those of the last evaluation.
    Final,
}

/// What is known of the fixed episodes without policies.
#[derive(Debug)]
pub(super) struct Fixed {
    starts: Vec<Start>,
    random: f64,
}

/// What an evaluation came to.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) ending: Option<Ending>,
    pub(super) stalled: Option<Stalled>,
}

impl<A: Arena> Trainer<A> {
    /// How good the agents are at present. Nobody learns from it, and the run goes on as if nothing had been.
    pub fn evaluate(&mut self, plan: &EvaluationPlan) -> Result<Evaluation> {
        let machine = self.game.assignment().machine();
        evaluate(&self.config, &self.arena, machine, &mut self.agents, plan)
    }

    /// The same; nothing if it was interrupted.
    pub fn evaluate_watched(
        &mut self,
        plan: &EvaluationPlan,
        watcher: Watcher<'_>,
    ) -> Result<Option<Evaluation>> {
        let machine = self.game.assignment().machine();
        let (config, arena) = (&self.config, &self.arena);
        evaluate_watched(config, arena, machine, &mut self.agents, plan, watcher)
    }

    /// The evaluation before anything is learnt, as the row of iteration 0; nothing if it was interrupted. A run that has been going
    /// on has no use for it.
    pub fn first_evaluation(&mut self) -> Result<Option<Iteration>> {
        let start = Instant::now();
        let interrupt = self.interrupt.clone();
        let watcher = Watcher::none().interrupted_by(&interrupt);
        if self.measure(watcher)?.is_none() {
            return Ok(None);
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Some(Iteration {
            metrics: self.metrics(&[]),
            timings: TimingsRow {
                iteration: self.tally.iteration,
                seconds: self.seconds(),
                evaluation_seconds: seconds,
                ..TimingsRow::default()
            },
            policies: Vec::new(),
            relearnt: None,
            stalled: None,
            ending: None,
        }))
    }

    /// How good the policies are that a run came to: on episodes that no decision was based on. Nothing if it was interrupted.
    pub fn final_evaluation(&mut self, watcher: Watcher<'_>) -> Result<Option<Evaluation>> {
        let plan = self.plan(Episodes::Final, self.config.evaluation.final_episodes);
        self.evaluate_watched(&plan, watcher)
    }

    /// The success of random play on the episodes of the evaluations.
    pub fn random_success(&mut self) -> Result<f64> {
        Ok(self.fixed()?.random)
    }

    fn fixed(&mut self) -> Result<&Fixed> {
        if self.fixed.is_none() {
            let plan = self.plan(Episodes::Fixed, self.config.evaluation.episodes);
            let (config, arena) = (&self.config, &self.arena);
            let watcher = Watcher::none();
            self.fixed = Some(Fixed {
                starts: starts(arena, &plan, false, watcher)?.unwrap_or_default(),
                random: random(config, arena, &plan, watcher)?.unwrap_or_default(),
            });
        }
        Ok(self.fixed.get_or_insert_with(|| Fixed {
            starts: Vec::new(),
            random: 0.0,
        }))
    }

    fn plan(&self, episodes: Episodes, count: usize) -> EvaluationPlan {
        let purpose = match episodes {
            Episodes::Fixed => 0,
            Episodes::Final => 1,
            Episodes::Fresh(iteration) => 2 + iteration,
        };
        EvaluationPlan {
            split: Split::Training,
            episodes: count,
            choice: Choice::Sample,
            seed: mix(self.config.seed, purpose),
        }
    }

    /// Evaluates the run if it can afford it, and decides whether that is its end; nothing if it was interrupted. The iteration took
    /// so many steps, in which so many episodes ended.
    pub(super) fn judge(&mut self, steps: usize, ended: usize) -> Result<Option<Judged>> {
        if !self.can_afford(steps, ended) {
            return Ok(Some(Judged::default()));
        }
        let interrupt = self.interrupt.clone();
        let watcher = Watcher::none().interrupted_by(&interrupt);
        let Some(failures) = self.measure(watcher)? else {
            return Ok(None);
        };
        let success = (self.tally.measured.last).map_or(0.0, |last| last.success());
        let improved = success > self.tally.best;
        let knows = self.config.method.roles() == AssignmentMode::Unaided
            || self.game.assignment().can_accept();
        let ending = match knows {
            true => match self.ending(watcher)? {
                Some(decision) => decision,
                None => return Ok(None),
            },
            false => None,
        };
        let stalled = match ending {
            None => self.stalled(improved, &failures)?,
            Some(_) => None,
        };
        Ok(Some(Judged { ending, stalled }))
    }

    /// Whether there is something new to measure, and the budget allows it. How long episodes take is guessed from the rollouts: steps an
    /// episode that ended; and from the last evaluation, if that was cheaper.
    fn can_afford(&self, steps: usize, ended: usize) -> bool {
        let (measured, config) = (&self.tally.measured, &self.config.evaluation);
        let guess = config.episodes as f64 * steps as f64 / ended.max(1) as f64;
        let guess = (measured.last).map_or(guess, |last| guess.min(last.steps as f64));
        let allowed = config.share * measured.training_steps as f64;
        measured.changed && measured.steps as f64 + guess <= allowed
    }

    /// Plays the fixed episodes and writes down what came of it; where they failed, or nothing if it was interrupted.
    fn measure(&mut self, watcher: Watcher<'_>) -> Result<Option<Failures>> {
        let plan = self.plan(Episodes::Fixed, self.config.evaluation.episodes);
        let Some(played) = self.play(&plan, watcher)? else {
            return Ok(None);
        };
        let iteration = self.tally.iteration;
        let steps = played.iter().map(|episode| episode.steps() as u64).sum();
        let measured = &mut self.tally.measured;
        measured.steps += steps;
        measured.changed = false;
        measured.last = Some(LastEvaluation {
            iteration,
            episodes: played.len() as u64,
            successes: played.iter().filter(|one| Episode::is_success(one)).count() as u64,
            steps,
        });
        self.fixed()?;
        let starts = (self.fixed.as_ref()).map_or(&[][..], |fixed| &fixed.starts);
        let names = (self.config.method.roles() != AssignmentMode::Unaided).then(|| self.machine());
        Ok(Some(Failures::of(&played, starts, names)))
    }

    fn play(
        &mut self,
        plan: &EvaluationPlan,
        watcher: Watcher<'_>,
    ) -> Result<Option<Vec<Episode>>> {
        let machine = self.game.assignment().machine();
        let (config, arena) = (&self.config, &self.arena);
        play_watched(config, arena, machine, &mut self.agents, plan, watcher)
    }

    /// Whether the run is over, by its last evaluation; the outer nothing if it was interrupted.
    fn ending(&mut self, watcher: Watcher<'_>) -> Result<Option<Option<Ending>>> {
        let Some(last) = self.tally.measured.last else {
            return Ok(Some(None));
        };
        let (stop, success) = (self.config.stop.clone(), last.success());
        self.tally.best = self.tally.best.max(success);
        let floor = self.tally.best * (1.0 - stop.fall);
        let fell = stop.fall > 0.0 && self.tally.best >= stop.crossing && success < floor;
        // A few episodes cannot tell 98 from 99 %: one failure more than the rate allows is reason enough to look closer.
        let enough = last.successes as f64 >= (stop.success * last.episodes as f64).floor();
        self.tally.streak = if enough { self.tally.streak + 1 } else { 0 };
        let converged = enough && self.tally.streak >= stop.patience;
        if !fell && !converged {
            return Ok(Some(None));
        }
        // Fresh episodes have the last word: of many evaluations, some look better or worse than they are.
        let plan = self.plan(Episodes::Fresh(self.tally.iteration), stop.episodes);
        let Some(fresh) = self.play(&plan, watcher)? else {
            return Ok(None);
        };
        self.tally.measured.steps += fresh.iter().map(|one| one.steps() as u64).sum::<u64>();
        let episodes = fresh.len() as u64;
        let successes = fresh.iter().filter(|one| Episode::is_success(one)).count() as u64;
        if fell && (successes as f64) < floor * episodes as f64 {
            return Ok(Some(Some(Ending::Fell)));
        }
        if converged && successes as f64 >= stop.success * episodes as f64 {
            return Ok(Some(Some(Ending::Converged {
                successes,
                episodes,
            })));
        }
        self.tally.streak = 0;
        Ok(Some(None))
    }

    /// What is to be said if evaluations have not been getting better.
    fn stalled(&mut self, improved: bool, failures: &Failures) -> Result<Option<Stalled>> {
        let measured = &mut self.tally.measured;
        if improved || self.tally.streak > 0 {
            measured.without_progress = 0;
            measured.failures = Failures::default();
            return Ok(None);
        }
        measured.without_progress += 1;
        measured.failures.pool(failures);
        let evaluations = measured.without_progress;
        if !evaluations.is_multiple_of(STALLS) {
            return Ok(None);
        }
        let failures = measured.failures.clone();
        Ok(Some(Stalled {
            best: self.tally.best,
            evaluations,
            maps: failures.worst_maps(MOST_MAPS),
            reasons: self.reasons(&failures)?,
        }))
    }

    /// What can be known of the reasons why episodes fail.
    fn reasons(&self, failures: &Failures) -> Result<Vec<String>> {
        let mut reasons = Vec::new();
        let failing = |state: &str| failures.states.iter().any(|found| found.state == state);
        for agent in (self.agents.iter()).filter(|agent| failing(agent.name())) {
            if !agent.is_trained() && !agent.is_frozen() {
                reasons.push(format!(
                    "the policy of {} has not been updated: it has not had the {} samples of least_samples yet",
                    agent.name(),
                    self.config.least_samples
                ));
            }
        }
        let spots = self.arena.blind_spots(self.machine()).into_iter();
        let relevant = spots.filter(|spot| spot.state.as_deref().is_none_or(failing));
        reasons.extend(relevant.map(|spot| spot.reason));
        if let Some(limit) = self.arena.step_limit() {
            let plan = self.plan(Episodes::Fixed, self.config.evaluation.episodes);
            let starts = starts(&self.arena, &plan, true, Watcher::none())?;
            let beyond = (starts.iter().flatten()).filter(|start| start.is_beyond(limit));
            let mut maps: Vec<usize> = beyond.filter_map(|start| start.map).collect();
            maps.sort_unstable();
            maps.dedup();
            for map in maps {
                reasons.push(format!(
                    "map {map} cannot be completed in {limit} steps from all of its starts"
                ));
            }
        }
        Ok(reasons)
    }
}

/// A seed for a purpose, that of SplitMix64: unlike that of the training, whose starts and draws are others.
fn mix(seed: u64, purpose: u64) -> u64 {
    let mut mixed = seed.wrapping_add((purpose + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
