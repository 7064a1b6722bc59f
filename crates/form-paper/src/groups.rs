//! Groups of runs that differ only in their seeds: which an experiment has, and what their results have in common.

use std::fmt::Write as _;

use form_lab::{RunResult, mean};

use crate::plan::Experiment;
use crate::runner::RunOutcome;
use crate::statistics::median;

/// The methods of a task in the order of the legend.
const METHODS: [&str; 5] = [
    "form",
    "handcrafted",
    "propositional",
    "recurrent-ppo",
    "ppo",
];

/// The groups of runs of an experiment, with their names in legends.
pub(crate) fn groups(experiment: Experiment) -> Vec<(&'static str, &'static str)> {
    match experiment {
        Experiment::AllYellow | Experiment::GreenButOne | Experiment::BlueAllYellow7 => {
            METHODS.map(|method| (method, method)).to_vec()
        }
        Experiment::Transfer => vec![
            ("base", "2 yellow"),
            ("single-base", "2 yellow, single policy"),
            ("scratch-4", "4 yellow, from scratch"),
            ("partial-4", "4 yellow, partial re-training"),
            ("full-4", "4 yellow, full re-training"),
            ("single-4", "4 yellow, single policy"),
            ("scratch-6", "6 yellow, from scratch"),
            ("partial-6", "6 yellow, partial re-training"),
            ("full-6", "6 yellow, full re-training"),
            ("single-6", "6 yellow, single policy"),
        ],
        Experiment::Unseen => vec![("form", "form")],
        Experiment::Timings => Vec::new(),
    }
}

/// A claim is judged from this number of finished seeds on.
pub(crate) const LEAST_SEEDS: usize = 5;

/// The runs of one folder and name, for all seeds.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    /// All runs, of this group and others.
    pub(crate) outcomes: &'a [RunOutcome],
    pub(crate) folder: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> Group<'a> {
    /// All runs, or those of the first seeds if at least [`LEAST_SEEDS`] in a row are finished. Seeds after a gap do not count: slow runs
    /// are those that a budget leaves unfinished.
    pub(crate) fn runs(self) -> impl Iterator<Item = &'a RunOutcome> {
        let Group {
            outcomes,
            folder,
            name,
        } = self;
        let all = (outcomes.iter()).filter(move |outcome| outcome.is_of(folder, name));
        let finished = (all.clone())
            .take_while(|outcome| outcome.result.is_some())
            .count();
        all.take(match finished >= LEAST_SEEDS {
            true => finished,
            false => usize::MAX,
        })
    }

    fn results(self) -> impl Iterator<Item = &'a RunResult> {
        self.runs().filter_map(|outcome| outcome.result.as_ref())
    }

    /// Whether it has runs, all are finished, and each stops when it converges: otherwise the time of convergence is unknown.
    pub(crate) fn is_complete(self) -> bool {
        let tells = |outcome: &RunOutcome| {
            outcome.result.is_some() && outcome.run.config.stop.success <= 1.0
        };
        self.runs().count() > 0 && self.runs().all(tells)
    }

    /// The largest number of steps of a run, finished or not.
    fn most_steps(self) -> f64 {
        let steps = self.runs().filter_map(|run| match &run.result {
            Some(result) => Some(result.steps),
            None => run.progress.as_ref().map(|progress| progress.steps),
        });
        steps.max().unwrap_or(0) as f64
    }

    /// The environment steps of the runs that converged.
    pub(crate) fn steps(self) -> Vec<f64> {
        let converged = self.results().filter(|result| result.ending == "converged");
        converged.map(|result| result.steps as f64).collect()
    }

    fn converged(self) -> String {
        format!(
            "{} of {} converged",
            self.steps().len(),
            self.runs().count()
        )
    }

    pub(crate) fn all_converged(self) -> bool {
        self.steps().len() == self.runs().count()
    }

    /// The median of the steps, if all runs converged.
    pub(crate) fn median_steps(self) -> Option<f64> {
        self.all_converged()
            .then(|| median(&self.steps()))
            .flatten()
    }

    /// The mean success rate; none if it is unknown for some run.
    pub(crate) fn success(self) -> Option<f64> {
        let rates: Option<Vec<f64>> = self.results().map(|result| result.success).collect();
        mean(&rates?)
    }

    /// The mean success rate of random play on the same episodes.
    pub(crate) fn random(self) -> Option<f64> {
        let evaluations = (self.results()).filter_map(|result| result.evaluation.as_ref());
        let rates: Vec<f64> = evaluations.filter_map(|found| found.random).collect();
        mean(&rates)
    }

    pub(crate) fn in_words(self) -> String {
        if self.most_steps() == 0.0 {
            return "no run has begun".to_owned();
        }
        let mut text = self.converged();
        if !self.all_converged() {
            let _ = write!(text, " in up to {} steps", millions(self.most_steps()));
        }
        if let Some(steps) = median(&self.steps()) {
            let _ = write!(text, ", median {} steps", millions(steps));
        }
        if let Some(success) = self.success() {
            let _ = write!(text, ", success {:.1} %", 100.0 * success);
        }
        if let Some(random) = self.random() {
            let _ = write!(text, " (random {:.1} %)", 100.0 * random);
        }
        text
    }

    /// Milliseconds that the last machine of each run took.
    pub(crate) fn learning(self) -> Vec<f64> {
        let seconds = (self.results()).filter_map(|result| result.last_learning_seconds);
        seconds.map(|seconds| 1000.0 * seconds).collect()
    }
}

fn millions(steps: f64) -> String {
    format!("{:.2} M", steps / 1e6)
}

/// The summary of a group for a comparison.
pub(crate) struct Summary {
    pub(crate) complete: bool,
    pub(crate) steps: Option<f64>,
    pub(crate) words: String,
}

impl Group<'_> {
    pub(crate) fn median_of(self) -> Summary {
        Summary {
            complete: self.is_complete(),
            steps: self.median_steps(),
            words: self.in_words(),
        }
    }
}
