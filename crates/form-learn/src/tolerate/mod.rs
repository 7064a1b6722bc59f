//! Learning from traces of which some are wrong: the smallest machine that misjudges few of them.
//!
//! For one number of states after the other, the fewest misjudged traces are found and proven, until they are few enough. Among the
//! machines with that number of states that misjudge fewest, the cheapest is chosen as always. [`Tolerance::Auto`] weighs
//! states against misjudged traces by description length ([`shortest`]).

mod description;
mod packing;
mod search;
mod shortest;
mod soft_cegis;
mod suspects;
mod tables;
mod tolerance;
mod tolerant_outcome;

use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::options::Limits;
use crate::outcome::{Learnt, StopReason};
use crate::vocabulary::vocabulary;
use search::Search;

pub use tolerance::Tolerance;
pub use tolerant_outcome::{Level, OtherSuspects, Suspect, TolerantOutcome};

impl Learner {
    /// The smallest machine that misjudges at most as many traces as tolerated, and among those of its size fewest. Traces that
    /// contradict each other are no error then.
    ///
    /// ```
    /// use form_core::{Kind, Signature, Trace};
    /// use form_learn::{Learner, Limits, Options, Tolerance};
    /// let signature = Signature::parse(["goal", "lava"])?;
    /// let mut learner = Learner::new(&signature, &Options::default());
    /// let goal = [signature.observation(["goal"])?];
    /// learner.add_weighted(&Trace::new(Kind::Goal, goal.clone()), 20);
    /// learner.add(&Trace::new(Kind::Incomplete, goal));
    /// let learnt = learner.learn_tolerant(Tolerance::AtMost(1), &Limits::default())?;
    /// assert_eq!((learnt.misjudged, learnt.suspects[0].expected), (1, Kind::Goal));
    /// # Ok::<(), form_learn::Error>(())
    /// ```
    pub fn learn_tolerant(
        &mut self,
        tolerance: Tolerance,
        limits: &Limits,
    ) -> Result<TolerantOutcome> {
        let total = self.problem().traces.total_weight();
        let total = total.ok_or(Error::Weights)?;
        let tolerated = match tolerance {
            Tolerance::AtMost(number) => Some(number),
            Tolerance::Share(share) => Some((share.max(0.0) * total as f64).floor() as u64),
            Tolerance::Auto => None,
        };
        if let Some(tolerated) = tolerated.filter(|tolerated| *tolerated > 0 && *tolerated >= total)
        {
            let traces = total;
            return Err(Error::Tolerance { tolerated, traces });
        }
        self.search_tolerant(limits, tolerated, |search| match tolerated {
            Some(tolerated) => search.at_most(tolerated),
            None => search.shortest_description(total, true),
        })
    }

    /// The machine with the shortest description together with the traces it misjudges, as far as a few solver calls show: what
    /// [`Tolerance::Auto`] looks for, without the proof. Nothing at a limit before the first machine.
    pub fn learn_shortest_description(&mut self, limits: &Limits) -> Result<Option<Learnt>> {
        let total = self.problem().traces.total_weight().ok_or(Error::Weights)?;
        let found = self.search_tolerant(limits, None, |search| {
            search.seeks_others = false;
            search.shortest_description(total, false)
        });
        Ok(found?.outcome.into_learnt())
    }

    /// The machine that misjudges fewest traces of all with at most `limits.max_states` states, and the exact table up to there.
    pub fn learn_fewest_misjudged(&mut self, limits: &Limits) -> Result<TolerantOutcome> {
        self.problem().traces.total_weight().ok_or(Error::Weights)?;
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is of one lifetime, the closure of any"
        )]
        self.search_tolerant(limits, Some(0), |search| search.fewest_of_all())
    }

    /// Searches, and counts the work of that.
    fn search_tolerant(
        &mut self,
        limits: &Limits,
        tolerated: Option<u64>,
        search_for: impl FnOnce(&mut Search<'_>) -> Result<(), StopReason>,
    ) -> Result<TolerantOutcome> {
        let problem = self.problem();
        problem.traces.expect_one_mode()?;
        // If there were too many atoms, the vocabulary is empty.
        if problem.vocabulary.is_empty() && !problem.signature.is_empty() {
            vocabulary(&problem.signature, &problem.options)?;
        }
        let mut search = Search::new(problem, limits);
        let ended = search_for(&mut search);
        let found = search.outcome(ended, tolerated);
        let budget = search.budget;
        self.count_work(&budget);
        let found = found?;
        Ok(TolerantOutcome {
            outcome: self.named(found.outcome)?,
            ..found
        })
    }
}
