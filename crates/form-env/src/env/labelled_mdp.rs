//! A finite labelled MDP as a table: what tabular methods work on (the paper's Section 2, with all states listed).

use std::collections::HashMap;

use form_core::{AtomSet, Signature};
use rand::{Rng, RngExt};

use crate::error::{Error, Result};

/// One possible outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// How probable it is.
    pub probability: f64,
    /// The state that is entered.
    pub next: usize,
    /// The environment's own reward.
    pub reward: f64,
    /// Whether the environment ends the episode.
    pub terminated: bool,
}

/// A finite MDP whose states are labelled: entering a state makes its atoms true, and so does starting in it.
#[derive(Clone, Debug)]
pub struct LabelledMdp {
    signature: Signature,
    /// The distinct labels.
    labels: Vec<AtomSet>,
    label_of: Vec<usize>,
    actions: usize,
    outcomes: Vec<Outcome>,
    /// Where the outcomes of a state and an action begin, by `state * actions + action`; one more entry ends the last.
    begins: Vec<usize>,
    starts: Vec<(f64, usize)>,
}

/// How far a sum of probabilities may be from 1.
const TOLERANCE: f64 = 1e-6;

impl LabelledMdp {
    /// A table with these labels per state, outcomes per state and action, and states in which episodes start, with their
    /// probabilities.
    pub fn new(
        signature: Signature,
        labels: Vec<AtomSet>,
        outcomes: Vec<Vec<Vec<Outcome>>>,
        starts: Vec<(f64, usize)>,
    ) -> Result<Self> {
        let states = outcomes.len();
        let wrong = |what, expected, given| {
            Err(Error::WrongNumber {
                what,
                expected,
                given,
            })
        };
        if labels.len() != states {
            return wrong("labels, one per state", states, labels.len());
        }
        let actions = outcomes.first().map_or(0, Vec::len);
        if actions == 0 {
            return Err(Error::None {
                what: "state with an action",
            });
        }
        check(&starts, states, || "the start of episodes".to_owned())?;
        let mut flat = Vec::with_capacity(states * actions);
        let mut begins = vec![0];
        for (state, of_state) in outcomes.into_iter().enumerate() {
            if of_state.len() != actions {
                return wrong("actions in every state", actions, of_state.len());
            }
            for (action, of_action) in of_state.into_iter().enumerate() {
                let chances: Vec<(f64, usize)> = (of_action.iter())
                    .map(|outcome| (outcome.probability, outcome.next))
                    .collect();
                check(&chances, states, || {
                    format!("action {action} in state {state}")
                })?;
                flat.extend(of_action);
                begins.push(flat.len());
            }
        }
        let (mut distinct, mut numbers) = (Vec::new(), HashMap::new());
        let label_of = (labels.into_iter())
            .map(|label| {
                *numbers.entry(label).or_insert_with_key(|label| {
                    distinct.push(label.clone());
                    distinct.len() - 1
                })
            })
            .collect();
        Ok(Self {
            signature,
            labels: distinct,
            label_of,
            actions,
            outcomes: flat,
            begins,
            starts,
        })
    }

    /// All atoms that can ever be among the labels.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.label_of.len()
    }

    /// The number of actions.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// The distinct labels of states.
    pub fn labels(&self) -> &[AtomSet] {
        &self.labels
    }

    /// The label of a state, by its number among [`labels`](Self::labels).
    #[inline]
    pub fn label_of(&self, state: usize) -> usize {
        self.label_of[state]
    }

    /// The outcomes of an action.
    #[inline]
    pub fn outcomes(&self, state: usize, action: usize) -> &[Outcome] {
        let at = state * self.actions + action;
        &self.outcomes[self.begins[at]..self.begins[at + 1]]
    }

    /// The states in which episodes start, and how probable each is.
    pub fn starts(&self) -> &[(f64, usize)] {
        &self.starts
    }

    /// A state to start an episode in.
    pub fn start(&self, random: &mut impl Rng) -> usize {
        self.starts[drawn(self.starts.iter().map(|start| start.0), random)].1
    }

    /// One outcome of an action, drawn.
    #[inline]
    pub fn sample(&self, state: usize, action: usize, random: &mut impl Rng) -> Outcome {
        let outcomes = self.outcomes(state, action);
        match outcomes {
            [only] => *only,
            _ => outcomes[drawn(outcomes.iter().map(|o| o.probability), random)],
        }
    }
}

/// The position of a draw with these probabilities. The last one takes what rounding leaves.
fn drawn(probabilities: impl Iterator<Item = f64>, random: &mut impl Rng) -> usize {
    let mut left = random.random::<f64>();
    let mut last = 0;
    for (i, probability) in probabilities.enumerate() {
        if probability > 0.0 {
            last = i;
        }
        left -= probability;
        if left < 0.0 {
            break;
        }
    }
    last
}

fn check(chances: &[(f64, usize)], states: usize, place: impl Fn() -> String) -> Result<()> {
    let problem = |problem: String| Err(Error::Table(format!("{}: {problem}", place())));
    let mut sum = 0.0;
    for (probability, state) in chances {
        if !(0.0..=1.0 + TOLERANCE).contains(probability) {
            return problem(format!("{probability} is not a probability"));
        }
        if *state >= states {
            return problem(format!(
                "there is no state {state}, only {states}, counted from 0"
            ));
        }
        sum += probability;
    }
    if (sum - 1.0).abs() > TOLERANCE {
        return problem(format!("the probabilities add up to {sum}, not to 1"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::random::{Stream, generator};

    fn coin(probability: f64) -> Result<LabelledMdp> {
        let outcome = |probability, next| Outcome {
            probability,
            next,
            reward: 0.0,
            terminated: false,
        };
        let toss = vec![vec![outcome(probability, 0), outcome(0.25, 1)]];
        LabelledMdp::new(
            Signature::parse(["heads"]).unwrap(),
            vec![AtomSet::new(), AtomSet::new()],
            vec![toss.clone(), toss],
            vec![(1.0, 0)],
        )
    }

    #[test]
    fn outcomes_are_drawn_as_often_as_they_are_probable() {
        let table = coin(0.75).unwrap();
        let random = &mut generator(5, Stream::Other(0));
        let ones: usize = (0..10_000).map(|_| table.sample(0, 0, random).next).sum();
        assert!((2300..2700).contains(&ones), "{ones}");
        assert_eq!(table.labels().len(), 1);
    }

    #[test]
    fn tables_that_make_no_sense_are_refused() {
        let error = coin(0.5).unwrap_err().to_string();
        assert!(
            error.contains("action 0 in state 0: the probabilities add up to 0.75"),
            "{error}"
        );
        let error = coin(-0.5).unwrap_err().to_string();
        assert!(error.contains("not a probability"), "{error}");
    }
}
