//! The paper's claims beside what was measured, computed from the results of runs.

use std::fmt::Write as _;

use form_core::{CompareOptions, Comparison, Machine, compare};
use form_env::Task;

use crate::groups::{Group, LEAST_SEEDS, Summary};
use crate::runner::RunOutcome;
use crate::statistics::median;
use crate::unseen::UnseenEvaluation;

/// A claim and what was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The claim.
    pub claim: String,
    /// What was measured.
    pub measured: String,
    /// Whether it holds here; none if runs are missing.
    pub holds: Option<bool>,
}

/// The results of runs, from which findings are computed.
#[derive(Clone, Copy, Debug)]
pub struct Measurements<'a> {
    /// The runs.
    pub outcomes: &'a [RunOutcome],
    /// The evaluations on held-out maps.
    pub unseen: &'a [UnseenEvaluation],
}

/// The tasks of the paper.
const TASKS: [&str; 3] = ["all-yellow", "green-but-one", "blue-all-yellow-7"];

impl<'a> Measurements<'a> {
    fn group(self, folder: &'a str, name: &'a str) -> Group<'a> {
        Group {
            outcomes: self.outcomes,
            folder,
            name,
        }
    }

    /// All findings.
    pub fn findings(self) -> Vec<Finding> {
        let mut findings = vec![
            self.plain_ppo(),
            self.recurrent(),
            self.machines(),
            self.faster("all-yellow", "FORM converges significantly faster than the propositional machine on AllYellow (here: by a factor of 1.25 or more)", CLEARLY),
            self.alike("green-but-one", "propositional", "First-order and propositional machines converge almost equally fast on GreenButOne (here: within a factor of 1.25)"),
            self.alike("all-yellow", "handcrafted", "FORM is almost on par with the handcrafted machine on AllYellow (here: within a factor of 1.25)"),
            self.first_order_scales(),
            self.propositional_scales(),
        ];
        for yellow in ["4", "6"] {
            findings.push(self.reuse(yellow));
            findings.push(self.partial(yellow));
        }
        findings.push(self.single());
        findings.extend(TASKS.map(|task| self.timing(task)));
        findings.extend(self.unseen_maps());
        findings
    }

    fn plain_ppo(self) -> Finding {
        let groups = TASKS.map(|task| (task, self.group(task, "ppo")));
        let said = groups.map(|(task, group)| format!("{task}: {}", group.in_words()));
        let complete =
            (groups.iter()).all(|(_, group)| group.is_complete() && group.success().is_some());
        let fails =
            (groups.iter()).all(|(_, group)| group.success().is_some_and(|rate| rate < 0.9));
        Finding {
            claim: "Plain PPO fails on all three tasks (here: success below 90 %)".to_owned(),
            measured: said.join("; "),
            holds: complete.then_some(fails),
        }
    }

    fn recurrent(self) -> Finding {
        let group = self.group("all-yellow", "recurrent-ppo");
        Finding {
            claim: "Recurrent PPO reaches a high return on AllYellow but not the optimum (here: success of 70 % or more, and no run converges)"
                .to_owned(),
            measured: group.in_words(),
            holds: (group.is_complete() && group.success().is_some())
                .then(|| group.success() >= Some(0.7) && group.steps().is_empty()),
        }
    }

    /// Whether the machines learnt are those of the figures.
    fn machines(self) -> Finding {
        let mut said = Vec::new();
        let mut holds = Some(true);
        for name in TASKS {
            let group = self.group(name, "form");
            let equal = (group.runs()).filter(|outcome| is_truth(outcome) == Some(true));
            let (equal, count) = (equal.count(), group.runs().count());
            said.push(format!("{name}: {equal} of {count}"));
            holds = match group.is_complete() {
                true => holds.map(|holds| holds && equal == count),
                false => None,
            };
        }
        Finding {
            claim: "The machines of Figures 4a, 5a and 6 are learnt from the agent's own traces"
                .to_owned(),
            measured: format!("equivalent to the figure: {}", said.join("; ")),
            holds,
        }
    }

    fn faster(self, folder: &'a str, claim: &str, least: f64) -> Finding {
        let (form, other) = (
            self.group(folder, "form"),
            self.group(folder, "propositional"),
        );
        self.ratio(claim, form, other, |ratio| ratio >= least)
    }

    fn alike(self, folder: &'a str, name: &'a str, claim: &str) -> Finding {
        let (form, other) = (self.group(folder, "form"), self.group(folder, name));
        self.ratio(claim, form, other, |ratio| {
            (1.0 / CLEARLY..CLEARLY).contains(&ratio)
        })
    }

    fn ratio(
        self,
        claim: &str,
        form: Group<'_>,
        other: Group<'_>,
        holds: impl Fn(f64) -> bool,
    ) -> Finding {
        let ratio = match (form.median_steps(), other.median_steps()) {
            (Some(form), Some(other)) => Some(other / form),
            _ => None,
        };
        let mut measured = format!(
            "{}: {}; {}: {}",
            form.name,
            form.in_words(),
            other.name,
            other.in_words()
        );
        if let Some(ratio) = ratio {
            let _ = write!(
                measured,
                "; {} needs {ratio:.2} times the steps",
                other.name
            );
        }
        let complete = form.is_complete() && other.is_complete();
        Finding {
            claim: claim.to_owned(),
            measured,
            holds: complete.then(|| ratio.is_some_and(holds)),
        }
    }

    fn first_order_scales(self) -> Finding {
        let group = self.group("blue-all-yellow-7", "form");
        Finding {
            claim: "Blue-AllYellow-7 is learnt with a first-order machine".to_owned(),
            measured: group.in_words(),
            holds: group.is_complete().then(|| group.all_converged()),
        }
    }

    fn propositional_scales(self) -> Finding {
        let group = self.group("blue-all-yellow-7", "propositional");
        let times = match median(&group.learning()) {
            Some(time) => format!("; the last machine took {:.1} s", time / 1000.0),
            None => String::new(),
        };
        let equal = group
            .runs()
            .filter(|run| is_truth(run) == Some(true))
            .count();
        let times = format!("{times}; {equal} learnt a machine equivalent to the figure");
        let any = !group.steps().is_empty() || equal > 0;
        Finding {
            claim: "Blue-AllYellow-7 cannot be learnt with a propositional machine (the paper: no machine within an hour)"
                .to_owned(),
            measured: group.in_words() + &times,
            holds: group.is_complete().then_some(!any),
        }
    }

    fn reuse(self, yellow: &str) -> Finding {
        let (scratch, partial) = (format!("scratch-{yellow}"), format!("partial-{yellow}"));
        let scratch = self.group("transfer", &scratch).median_of();
        let partial = self.group("transfer", &partial).median_of();
        speed_up(
            &format!("Reusing machine and policies speeds {yellow} yellow checkpoints up"),
            ("from scratch", &scratch),
            ("partial re-training", &partial),
        )
    }

    fn partial(self, yellow: &str) -> Finding {
        let (full, partial) = (format!("full-{yellow}"), format!("partial-{yellow}"));
        let full = self.group("transfer", &full).median_of();
        let partial = self.group("transfer", &partial).median_of();
        speed_up(
            &format!("Partial re-training is faster than full, {yellow} yellow checkpoints"),
            ("full", &full),
            ("partial", &partial),
        )
    }

    fn single(self) -> Finding {
        let groups = ["single-4", "single-6"].map(|name| self.group("transfer", name));
        let said = groups.map(|group| format!("{}: {}", group.name, group.in_words()));
        let base = self.group("transfer", "single-base");
        // A policy that was never learnt cannot be transferred.
        let complete = groups.iter().all(|group| group.is_complete()) && base.all_converged();
        let fails = groups.iter().all(|group| group.steps().is_empty());
        Finding {
            claim: "A single policy for all states does not transfer to 4 and 6 yellow checkpoints"
                .to_owned(),
            measured: said.join("; "),
            holds: complete.then_some(fails),
        }
    }

    fn timing(self, task: &'a str) -> Finding {
        let paper = match task {
            "all-yellow" => "1.0 s first-order, 16.3 s propositional",
            "green-but-one" => "0.5 s first-order, 0.6 s propositional",
            _ => "12.8 s first-order, propositional timed out after an hour",
        };
        let times = ["form", "propositional"].map(|name| self.group(task, name).learning());
        let said = |times: &[f64]| match median(times) {
            Some(time) => format!("{time:.1} ms ({} runs)", times.len()),
            None => "no run".to_owned(),
        };
        let [form, propositional] = &times;
        let complete = ["form", "propositional"].map(|name| self.group(task, name).is_complete());
        let faster = match (median(form), median(propositional)) {
            (Some(form), Some(propositional)) if complete == [true; 2] => {
                Some(form <= propositional)
            }
            _ => None,
        };
        Finding {
            claim: format!(
                "Table 3, {task}: a first-order machine takes no longer to learn than a propositional one (the paper: {paper})"
            ),
            measured: format!(
                "{} first-order, {} propositional",
                said(form),
                said(propositional)
            ),
            holds: faster,
        }
    }

    fn unseen_maps(self) -> Vec<Finding> {
        let mut tasks: Vec<&str> = self.unseen.iter().map(|one| one.task.as_str()).collect();
        tasks.sort_unstable();
        tasks.dedup();
        (tasks.into_iter())
            .map(|task| {
                let evaluations = || self.unseen.iter().filter(|one| one.task == task);
                let rates: Vec<f64> = evaluations().map(|one| one.evaluation.success).collect();
                let said: Vec<String> = (evaluations())
                    .map(|one| format!("{:.1} %", 100.0 * one.evaluation.success))
                    .collect();
                let least = if task == "all-yellow-6" { 0.97 } else { 0.99 };
                Finding {
                    claim: format!(
                        "(not in the paper) Trained on 1,000 maps of all-yellow, {task} on maps never seen, with no retraining: at least {:.0} %",
                        100.0 * least
                    ),
                    measured: said.join(", "),
                    holds: median(&rates).map(|rate| rate >= least),
                }
            })
            .collect()
    }
}

/// The minimum factor of a claimed speed-up: with a few seeds, smaller differences are not significant.
const CLEARLY: f64 = 1.25;

/// Compares the steps of two groups.
fn speed_up(claim: &str, slow: (&str, &Summary), fast: (&str, &Summary)) -> Finding {
    let mut measured = format!("{}: {}; {}: {}", slow.0, slow.1.words, fast.0, fast.1.words);
    let factor = match (slow.1.steps, fast.1.steps) {
        (Some(slow), Some(fast)) => Some(slow / fast),
        _ => None,
    };
    if let Some(factor) = factor {
        let _ = write!(measured, "; a factor of {factor:.1}");
    }
    let holds = match (slow.1.complete && fast.1.complete, factor) {
        (false, _) => None,
        (true, Some(factor)) => Some(factor >= CLEARLY),
        // If only the fast one converged, it is faster, too.
        (true, None) => Some(fast.1.steps.is_some() && slow.1.steps.is_none()),
    };
    Finding {
        claim: claim.to_owned(),
        measured,
        holds,
    }
}

/// Whether the learnt machine is equivalent to the task's own.
fn is_truth(outcome: &RunOutcome) -> Option<bool> {
    let result = outcome.result.as_ref()?;
    let machine: Machine = result.machine.as_ref()?.parse().ok()?;
    let task = Task::find(&outcome.run.config.task).ok()?;
    let options = CompareOptions::default();
    let bound = machine.bind(task.signature()).ok()?;
    let comparison = compare(task.truth(), &bound, &options).ok()?;
    Some(matches!(comparison, Comparison::Equivalent { .. }))
}

/// The findings as a Markdown table, after the rules by which they are judged.
pub fn findings_table(findings: &[Finding]) -> String {
    let mut text = format!(
        "The rule of each statement is in it, in brackets. Faster means a median of steps smaller by a factor of {CLEARLY} or more, and that all runs of the faster group converged. A statement is \
         judged when the runs of seeds 1 to {LEAST_SEEDS} at least are finished in every group that it compares; a group's runs count up to its first unfinished seed.\n\n\
         | what the paper says | what was measured here | holds |\n|---|---|---|\n"
    );
    for finding in findings {
        let holds = match finding.holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "runs are missing",
        };
        let _ = writeln!(
            text,
            "| {} | {} | {holds} |",
            finding.claim, finding.measured
        );
    }
    text
}
