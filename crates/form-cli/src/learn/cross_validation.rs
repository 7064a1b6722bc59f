//! `form learn --cross-validate`: how well machines judge traces that they were not learnt from.
//!
//! The distinct traces are dealt out to K folds, one after the other. For each fold a machine is learnt from the other folds and judges
//! this one: with a tolerance one for each number of states of the table, else one in the way of the answer.

use anyhow::Result;
use form_core::Dataset;
use form_learn::{LearnOutcome, Limits, Options};
use serde_json::{Value, json};

use super::holdout::{self, HeldOut};
use super::tolerance::weights;
use super::{Args, Learning, learner};
use crate::output::count;

/// How well machines judge the folds that they were not learnt from.
pub struct CrossValidated {
    /// The number of states they may have; without a tolerance as many as they need.
    states: Option<usize>,
    folds: Vec<HeldOut>,
}

/// Reads a number of folds.
pub fn parse(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(folds) if (2..=1000).contains(&folds) => Ok(folds),
        _ => Err("expected a number of folds from 2 to 1000".to_owned()),
    }
}

/// Cross-validates each row of the table, or the answer.
pub fn run(
    args: &Args,
    (data, options, limits): (&Dataset, &Options, &Limits),
    folds: usize,
    result: &Learning,
) -> Result<Vec<CrossValidated>> {
    let rows: Vec<Option<usize>> = match &result.tolerant {
        None => vec![None],
        Some(learnt) => (learnt.levels.iter())
            .map(|level| Some(level.states))
            .collect(),
    };
    let folds = folds.min(data.traces().len());
    let mut table: Vec<CrossValidated> = (rows.into_iter())
        .map(|states| CrossValidated {
            states,
            folds: Vec::new(),
        })
        .collect();
    for fold in 0..folds {
        let (rest, kept_back) = holdout::keep_back(data, |i| i % folds == fold);
        let mut learner = learner(args, &rest, options);
        for ((_, trace), weight) in rest.traces().iter().zip(weights(&rest)) {
            learner.add_weighted(trace, weight);
        }
        for row in &mut table {
            let outcome: LearnOutcome = match row.states {
                None => learner.learn(limits)?,
                Some(max_states) => {
                    let limits = Limits {
                        max_states,
                        ..limits.clone()
                    };
                    learner.learn_fewest_misjudged(&limits)?.outcome
                }
            };
            let judged = holdout::judge(&rest, &kept_back, &outcome)?;
            row.folds.push(judged);
        }
    }
    Ok(table)
}

impl CrossValidated {
    /// The traces of all folds with a machine, and those that were misjudged.
    fn totals(&self) -> (usize, usize) {
        let judged = (self.folds.iter())
            .filter_map(|fold| Some((fold.traces, fold.misjudged.as_ref()?.len())));
        judged.fold((0, 0), |sum, fold| (sum.0 + fold.0, sum.1 + fold.1))
    }

    fn to_text(&self) -> String {
        let (traces, wrong) = self.totals();
        let without = (self.folds.iter())
            .filter(|fold| fold.misjudged.is_none())
            .count();
        let right = traces - wrong;
        let percent = 100.0 * right as f64 / traces.max(1) as f64;
        let mut text = format!("{percent:.1} % ({right} of {traces})");
        if without > 0 {
            text += &format!("; no machine for {}", count(without, "fold"));
        }
        text
    }
}

/// As comments of a machine file.
pub fn to_text(table: &[CrossValidated]) -> String {
    let Some(first) = table.first() else {
        return String::new();
    };
    let folds = format!(
        "#\n# cross-validation with {}",
        count(first.folds.len(), "fold")
    );
    if let [CrossValidated { states: None, .. }] = table {
        return format!("{folds}: {} judged rightly\n", first.to_text());
    }
    let mut text = format!("{folds}: traces judged rightly\n");
    for row in table {
        let states = row.states.unwrap_or_default();
        text += &format!("# {states:>6}  {}\n", row.to_text());
    }
    text
}

pub fn to_json(table: &[CrossValidated]) -> Value {
    (table.iter())
        .map(|row| {
            let (traces, misjudged) = row.totals();
            let folds: Vec<Value> = (row.folds.iter())
                .map(|fold| {
                    let misjudged = fold.misjudged.as_ref().map(Vec::len);
                    json!({ "traces": fold.traces, "misjudged": misjudged })
                })
                .collect();
            json!({ "states": row.states, "traces": traces, "misjudged": misjudged, "folds": folds })
        })
        .collect()
}
