//! Whether a run stops: it has converged, its success rate fell (Appendix C of the paper), or it has stalled, which it reports.
//!
//! Evaluations decide, and fresh episodes confirm the decision: of many evaluations, some look better or worse than the policies are.

use anyhow::Result;
use form_rl::Episode;

use super::evaluations::EpisodeSet;
use super::{StopCause, Trainer};
use crate::env_factory::EnvFactory;
use crate::evaluate::{Failures, starts};
use crate::explore::Exploration;
use crate::play_callback::PlayCallback;

/// A run is reported as stalled after this many evaluations without improvement, then after twice as many, and so on.
const STALLED_AFTER: u64 = 5;
/// The most maps that are named then.
const MOST_MAPS: usize = 3;

/// A run whose evaluations have stopped improving.
#[derive(Clone, Debug, PartialEq)]
pub struct Stalled {
    /// The best success rate with the current machine.
    pub best: f64,
    /// How many evaluations in a row did not improve on it.
    pub evaluations: u64,
    /// The maps on which most episodes fail, and the states in which they do.
    pub maps: Vec<String>,
    /// Likely reasons, where they can be known.
    pub reasons: Vec<String>,
}

/// What the evaluation of an iteration led to.
#[derive(Default)]
pub(super) struct StopCheck {
    pub(super) stop_cause: Option<StopCause>,
    pub(super) stalled: Option<Stalled>,
}

impl<F: EnvFactory> Trainer<F> {
    /// Evaluates the policies if the budget allows it, and decides whether the run stops; nothing if it was interrupted. The
    /// iteration took `steps` environment steps, and `ended` episodes ended in it.
    pub(super) fn evaluate_and_check(
        &mut self,
        steps: usize,
        ended: usize,
    ) -> Result<Option<StopCheck>> {
        if !self.can_afford_evaluation(steps, ended) {
            return Ok(Some(StopCheck::default()));
        }
        let interrupt = self.interrupt.clone();
        let callback = PlayCallback::none().interrupted_by(&interrupt);
        let Some(failures) = self.evaluate_fixed(callback)? else {
            return Ok(None);
        };
        let success = (self.state.evaluations.last).map_or(0.0, |last| last.success());
        let improved = success > self.state.best;
        let stop_cause = match self.has_policies() {
            true => match self.stop_cause(callback)? {
                Some(decision) => decision,
                None => return Ok(None),
            },
            false => None,
        };
        let stalled = match stop_cause {
            None => self.stalled(improved, &failures)?,
            Some(_) => None,
        };
        Ok(Some(StopCheck {
            stop_cause,
            stalled,
        }))
    }

    /// Whether the run stops after its last evaluation; the outer `None` if it was interrupted.
    fn stop_cause(&mut self, callback: PlayCallback<'_>) -> Result<Option<Option<StopCause>>> {
        let Some(last) = self.state.evaluations.last else {
            return Ok(Some(None));
        };
        let (stop, success) = (self.config.stop.clone(), last.success());
        self.state.best = self.state.best.max(success);
        let floor = self.state.best * (1.0 - stop.fall);
        let fell = stop.fall > 0.0 && self.state.best >= stop.crossing && success < floor;
        // A few episodes cannot tell 98 from 99 %: one failure more than the rate allows is enough to look closer.
        let enough = last.successes as f64 >= (stop.success * last.episodes as f64).floor();
        self.state.streak = if enough { self.state.streak + 1 } else { 0 };
        let open = (self.exploration.as_ref()).is_some_and(Exploration::has_open_questions);
        let converged = enough && !open && self.state.streak >= stop.patience;
        if !fell && !converged {
            return Ok(Some(None));
        }
        let plan = self.plan(EpisodeSet::Fresh(self.state.iteration), stop.episodes);
        let Some(fresh) = self.play(&plan, callback)? else {
            return Ok(None);
        };
        self.state.evaluations.steps += fresh.iter().map(|one| one.steps() as u64).sum::<u64>();
        let episodes = fresh.len() as u64;
        let successes = fresh.iter().filter(|one| Episode::is_success(one)).count() as u64;
        if fell && (successes as f64) < floor * episodes as f64 {
            return Ok(Some(Some(StopCause::Fell)));
        }
        if converged && successes as f64 >= stop.success * episodes as f64 {
            return Ok(Some(Some(StopCause::Converged {
                successes,
                episodes,
            })));
        }
        self.state.streak = 0;
        Ok(Some(None))
    }

    /// The report of a run whose evaluations have stopped improving, when one is due.
    fn stalled(&mut self, improved: bool, failures: &Failures) -> Result<Option<Stalled>> {
        let known = &mut self.state.evaluations;
        if improved || self.state.streak > 0 {
            known.without_progress = 0;
            known.failures = Failures::default();
            return Ok(None);
        }
        known.without_progress += 1;
        known.failures.pool(failures);
        let evaluations = known.without_progress;
        let times = evaluations / STALLED_AFTER;
        if !evaluations.is_multiple_of(STALLED_AFTER) || !times.is_power_of_two() {
            return Ok(None);
        }
        let failures = known.failures.clone();
        Ok(Some(Stalled {
            best: self.state.best,
            evaluations,
            maps: failures.worst_maps(MOST_MAPS),
            reasons: self.reasons(&failures)?,
        }))
    }

    /// Likely reasons why episodes fail.
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
        let spots = self.envs.blind_spots(self.machine()).into_iter();
        let relevant = spots.filter(|spot| spot.state.as_deref().is_none_or(failing));
        reasons.extend(relevant.map(|spot| spot.reason));
        if let Some(limit) = self.envs.step_limit() {
            let plan = self.plan(EpisodeSet::Fixed, self.config.evaluation.episodes);
            let callback = PlayCallback::none().interrupted_by(&self.interrupt);
            let starts = starts(&self.envs, &plan, true, callback)?;
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
