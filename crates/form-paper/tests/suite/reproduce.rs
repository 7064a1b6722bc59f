//! The experiments: their runs are carried out once, continued, never mixed up with others, and told of as they were.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use form_lab::{Method, Preset, RunConfig, RunResult};
use form_paper::{
    Experiment, Measurements, PlanOptions, PlannedRun, Results, RunOutcome, Runner, keep_runs,
    most_telling_first, plan_runs, results_table, write_results,
};

/// Runs that take no time.
fn conditions(seeds: u64) -> PlanOptions {
    let set = [
        ("worlds", "4"),
        ("ppo.train_batch", "128"),
        ("ppo.minibatch", "64"),
        ("ppo.epochs", "1"),
        ("iterations", "2"),
        ("least_samples", "1"),
        ("network.filters", "[2]"),
        ("network.hidden", "[4]"),
        ("network.sequence", "8"),
        ("learning.explore", "3000"),
        ("evaluation.episodes", "2"),
        ("evaluation.final_episodes", "3"),
    ];
    PlanOptions {
        preset: Preset::Fast,
        seeds,
        set: set
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
    }
}

fn runner(folder: &Path, budget: Option<Duration>) -> Runner {
    Runner {
        folder: folder.join("runs"),
        jobs: 2,
        threads: 1,
        budget,
        interrupt: Arc::default(),
    }
}

#[test]
fn runs_are_carried_out_once_and_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let (runner, conditions) = (runner(folder.path(), None), conditions(1));
    let experiments = [Experiment::AllYellow, Experiment::Timings];
    let plan = plan_runs(&experiments, &conditions).unwrap();
    // Five methods of the first task, and two of each of the two others: none is ordered twice.
    assert_eq!(plan.len(), 5 + 2 + 2);
    let said = std::sync::Mutex::new(Vec::new());
    let say = |line: &str| said.lock().unwrap().push(line.to_owned());
    let outcomes = runner.carry_out(&plan, &say).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.result.is_some()));
    assert_eq!(said.lock().unwrap().len(), plan.len());
    runner.carry_out(&plan, &say).unwrap();
    assert_eq!(
        said.lock().unwrap().len(),
        plan.len(),
        "nothing is done again"
    );

    let out = folder.path().join("results");
    let kept = keep_runs(&out, &runner, &plan).unwrap();
    let results = write_results(
        &out,
        &kept,
        &experiments,
        &conditions,
        &kept.outcomes(&plan).unwrap(),
        "form reproduce",
    );
    let Results { files, findings } = results.unwrap();
    assert_eq!(
        files,
        ["all-yellow.svg", "all-yellow.png", "runs.csv", "results.md"]
    );
    let csv = std::fs::read_to_string(out.join("runs.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + plan.len());
    assert!(out.join("runs/all-yellow/ppo-1/metrics.csv").is_file());
    let table = results_table(&experiments, &outcomes);
    assert!(table.contains("| all-yellow: ppo | 1 | 0 | – |"), "{table}");
    // Nothing is said of tasks whose runs are missing.
    let transfer = findings
        .iter()
        .find(|f| f.claim.contains("4 yellow"))
        .unwrap();
    assert_eq!(transfer.holds, None);
    let ppo = findings
        .iter()
        .find(|f| f.claim.contains("Plain PPO"))
        .unwrap();
    assert_eq!(ppo.holds, None, "{ppo:?}");
}

#[test]
fn runs_with_other_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (runner, mut conditions) = (runner(folder.path(), None), conditions(1));
    let mut plan = Experiment::GreenButOne.runs(&conditions).unwrap();
    plan.truncate(1);
    runner.carry_out(&plan, &|_| {}).unwrap();
    conditions
        .set
        .push(("ppo.gamma".to_owned(), "0.5".to_owned()));
    let mut others = Experiment::GreenButOne.runs(&conditions).unwrap();
    others.truncate(1);
    for error in [
        runner.outcomes(&others).unwrap_err(),
        runner.carry_out(&others, &|_| {}).unwrap_err(),
    ] {
        let error = format!("{error:#}");
        assert!(
            error.contains("ppo.gamma is 0.98 there and 0.5 here"),
            "{error}"
        );
    }
}

/// Runs of several computers are put together: finished ones count, and of the others those that are furthest.
#[test]
fn runs_of_several_computers_are_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let conditions = conditions(2);
    let mut plan = Experiment::GreenButOne.runs(&conditions).unwrap();
    plan.truncate(2);
    let out = folder.path().join("results");
    let computer = |name: &str| {
        let runner = runner(&folder.path().join(name), None);
        runner.carry_out(&plan[..1], &|_| {}).unwrap();
        runner
    };
    let [first, second] = ["first", "second"].map(computer);
    let metrics = |runner: &Runner| runner.folder_of(&plan[0].name).join("metrics.csv");
    let unfinished = |runner: &Runner, rows: usize| {
        let result = runner.folder_of(&plan[0].name).join("result.json");
        if result.exists() {
            std::fs::remove_file(result).unwrap();
        }
        let text = std::fs::read_to_string(metrics(runner)).unwrap();
        let lines: Vec<&str> = text.lines().take(1 + rows).collect();
        std::fs::write(metrics(runner), lines.join("\n") + "\n").unwrap();
    };
    unfinished(&first, 2);
    let steps = |kept: &Runner| {
        let outcome = kept.outcomes(&plan).unwrap().remove(0);
        assert!(outcome.result.is_none());
        outcome.progress.unwrap().steps
    };
    let kept = keep_runs(&out, &first, &plan).unwrap();
    // `learning.explore` in each of four worlds.
    assert_eq!(steps(&kept), 12_000);
    // The second run has not begun anywhere.
    assert_eq!(kept.outcomes(&plan).unwrap()[1].progress, None);
    let text = || {
        let outcomes = kept.outcomes(&plan).unwrap();
        let experiments = [Experiment::GreenButOne];
        write_results(&out, &kept, &experiments, &conditions, &outcomes, "form").unwrap();
        std::fs::read_to_string(out.join("results.md")).unwrap()
    };
    assert!(text().contains("| green-but-one: form | 1 | 0.01 [0.01–0.01] M |"));
    // Fewer steps change nothing, more do, and a finished run takes the place of any other.
    unfinished(&first, 1);
    assert_eq!(steps(&keep_runs(&out, &first, &plan).unwrap()), 12_000);
    let kept = keep_runs(&out, &second, &plan).unwrap();
    assert!(kept.outcomes(&plan).unwrap()[0].result.is_some());
    assert!(!text().contains("## Runs that are not finished"));
    keep_runs(&out, &first, &plan).unwrap();
    assert!(kept.outcomes(&plan).unwrap()[0].result.is_some());
}

/// With the paper's settings runs have 20 M steps, unless they converge by the rule of the other preset.
#[test]
fn runs_with_the_settings_of_the_paper() {
    let options = PlanOptions {
        preset: Preset::Paper,
        seeds: 2,
        set: Vec::new(),
    };
    let experiments = [Experiment::AllYellow, Experiment::GreenButOne];
    let plan = plan_runs(&experiments, &options).unwrap();
    for run in &plan {
        let steps = run.config.iterations as usize * run.config.ppo.train_batch;
        assert!((20_000_000..20_050_000).contains(&steps), "{steps}");
        assert_eq!(run.config.stop.success, 0.99);
    }
    // What tells most is made first, whatever the task.
    let order: Vec<String> = (most_telling_first(&plan).into_iter())
        .map(|run| run.name)
        .collect();
    assert_eq!(order.len(), 18);
    assert_eq!(order[0], "all-yellow/form-1");
    assert_eq!(order[7], "green-but-one/handcrafted-2");
    assert_eq!(order[8], "all-yellow/propositional-1");
    assert_eq!(order[17], "all-yellow/recurrent-ppo-2");
}

#[test]
fn what_there_is_no_time_for_is_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(folder.path(), Some(Duration::ZERO));
    let plan = Experiment::Unseen.runs(&conditions(2)).unwrap();
    let outcomes = runner.carry_out(&plan, &|_| {}).unwrap();
    assert_eq!(outcomes.len(), 2);
    assert!(outcomes.iter().all(|outcome| outcome.result.is_none()));
    assert!(!folder.path().join("runs").exists());
}

/// Machine and policies go from one run to the next, in the order in which they are needed.
#[test]
fn transfers_wait_for_what_they_start_from() {
    let folder = tempfile::tempdir().unwrap();
    let mut conditions = conditions(1);
    conditions
        .set
        .push(("stop.success".to_owned(), "0".to_owned()));
    conditions
        .set
        .push(("stop.episodes".to_owned(), "1".to_owned()));
    conditions
        .set
        .push(("iterations".to_owned(), "6".to_owned()));
    let runner = runner(folder.path(), None);
    let mut plan = Experiment::Transfer.runs(&conditions).unwrap();
    assert_eq!(plan.len(), 10);
    plan.retain(|order| order.name.contains("base") || order.name.ends_with("-4-1"));
    plan.reverse();
    let outcomes = runner.carry_out(&plan, &|_| {}).unwrap();
    assert_eq!(outcomes.len(), 6);
    for outcome in &outcomes {
        assert!(outcome.result.is_some(), "{}", outcome.run.name);
    }
    // There are curves of what has begun.
    let out = folder.path().join("results");
    let experiments = [Experiment::Transfer];
    write_results(&out, &runner, &experiments, &conditions, &outcomes, "form").unwrap();
    assert!(out.join("transfer.svg").is_file());
    let config =
        std::fs::read_to_string(folder.path().join("runs/transfer/partial-4-1/config.toml"));
    assert!(config.unwrap().contains("[transfer]"));
}

/// What runs of an experiment came to, made up: steps of those that converged, `None` for those that did not.
fn outcomes_of(name: &str, method: Method, steps: &[Option<u64>]) -> Vec<RunOutcome> {
    let (task, _) = name.split_once('/').unwrap();
    let made = steps.iter().zip(1..).map(|(steps, seed)| {
        let mut config = RunConfig::new(task, method, Preset::Fast);
        config.seed = seed;
        let result = RunResult {
            ending: if steps.is_some() {
                "converged"
            } else {
                "out-of-iterations"
            }
            .to_owned(),
            message: String::new(),
            task: task.to_owned(),
            method,
            preset: Preset::Fast,
            seed,
            success: Some(if steps.is_some() { 1.0 } else { 0.3 }),
            iterations: 1,
            steps: steps.unwrap_or(2_000_000),
            episodes: 1,
            seconds: 1.0,
            machine: None,
            states: 3,
            edges: 2,
            relearnings: 1,
            steps_to_final_machine: None,
            counterexamples: 1,
            traces: 1,
            learning_seconds: 0.1,
            last_learning_seconds: Some(0.1),
            equivalent: None,
            difference: None,
            evaluation: None,
            version: String::new(),
        };
        RunOutcome {
            run: PlannedRun {
                name: format!("{name}-{seed}"),
                config,
                from: None,
            },
            result: Some(result),
            progress: None,
        }
    });
    made.collect()
}

fn verdict(outcomes: &[RunOutcome], claim: &str) -> Option<bool> {
    let evidence = Measurements {
        outcomes,
        unseen: &[],
    };
    let findings = evidence.findings();
    let finding = findings
        .iter()
        .find(|finding| finding.claim.contains(claim));
    finding.unwrap().holds
}

#[test]
fn statements_are_decided_by_what_was_measured() {
    let form = outcomes_of(
        "all-yellow/form",
        Method::Form,
        &[Some(1_000_000), Some(1_100_000)],
    );
    let with = |steps: &[Option<u64>]| {
        let others = outcomes_of("all-yellow/propositional", Method::Propositional, steps);
        [form.clone(), others].concat()
    };
    let claim = "faster than the propositional machine on AllYellow";
    assert_eq!(
        verdict(&with(&[Some(1_500_000), Some(1_400_000)]), claim),
        Some(true)
    );
    assert_eq!(
        verdict(&with(&[Some(1_100_000), Some(1_000_000)]), claim),
        Some(false)
    );
    // One that did not converge tells nothing about how fast it did.
    assert_eq!(verdict(&with(&[Some(1_500_000), None]), claim), Some(false));
    assert_eq!(verdict(&with(&[]), claim), None);
    let mut missing = with(&[Some(1_500_000), Some(1_400_000)]);
    missing[3].result = None;
    assert_eq!(verdict(&missing, claim), None);
    // Runs that do not stop when they converge say nothing about when they did.
    let mut paper = with(&[Some(1_500_000), Some(1_400_000)]);
    paper[0].run.config.stop.success = 2.0;
    assert_eq!(verdict(&paper, claim), None);
}

#[test]
fn a_method_fails_where_it_fails_everywhere() {
    let tasks = [
        "all-yellow/ppo",
        "green-but-one/ppo",
        "blue-all-yellow-7/ppo",
    ];
    let failed: Vec<RunOutcome> = (tasks.iter())
        .flat_map(|task| outcomes_of(task, Method::Ppo, &[None, None]))
        .collect();
    assert_eq!(verdict(&failed, "Plain PPO fails"), Some(true));
    assert_eq!(verdict(&failed[2..], "Plain PPO fails"), None);
    let mut one_works = failed;
    one_works[0].result.as_mut().unwrap().success = Some(1.0);
    one_works[1].result.as_mut().unwrap().success = Some(0.9);
    assert_eq!(verdict(&one_works, "Plain PPO fails"), Some(false));
}
