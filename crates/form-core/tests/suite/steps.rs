//! `steps all`: every environment step is an observation. The tasks that need it, its files, and that the two kinds never mix.

use form_core::{
    AtomSet, CompareOptions, Dataset, Error, Kind, Machine, Monitor, Recorder, Replay, Signature,
    StepMode, Trace, TraceFile, check, compare, trace_header,
};

fn machine(edges: &str) -> Machine {
    format!("initial u0\naccept acc\nsteps all\n{edges}")
        .parse()
        .unwrap()
}

/// States and rewards of a machine on an episode.
fn run(machine: &Machine, atoms: &[&str], episode: &[&[&str]]) -> Vec<(String, f64)> {
    let signature = Signature::parse(atoms).unwrap();
    let machine = machine.bind(&signature).unwrap();
    let mut monitor = Monitor::new(&machine);
    (episode.iter())
        .map(|labels| {
            let step = monitor.observe(&machine, &signature.observation(*labels).unwrap());
            let state = machine.machine().state_name(monitor.state()).to_owned();
            (state, step.reward)
        })
        .collect()
}

fn states(run: &[(String, f64)]) -> Vec<&str> {
    run.iter().map(|(state, _)| state.as_str()).collect()
}

fn rewards(run: &[(String, f64)]) -> Vec<f64> {
    run.iter().map(|(_, reward)| *reward).collect()
}

#[test]
fn press_twice() {
    let twice = machine("u0 -> u1 : press\nu1 -> acc : press\nu1 -> u0 : not press");
    let ran = run(
        &twice,
        &["press"],
        &[&["press"], &[], &["press"], &["press"]],
    );
    assert_eq!(states(&ran), ["u1", "u0", "u1", "acc"]);
    // With every change, two presses in a row are one.
    let changes = twice.with_step_mode(StepMode::Changes);
    let ran = run(
        &changes,
        &["press"],
        &[&["press"], &[], &["press"], &["press"]],
    );
    assert_eq!(states(&ran), ["u1", "u1", "u1", "u1"]);
}

#[test]
fn a_reward_per_coin_and_a_cost_per_step() {
    let coins = machine("u0 -> acc : goal\nu0 -> u0 : coin => 1\nu0 -> u0 : true => -0.1");
    let episode: [&[&str]; 5] = [&["coin"], &["coin"], &[], &["coin"], &["goal"]];
    let ran = run(&coins, &["coin", "goal"], &episode);
    assert_eq!(rewards(&ran), [1.0, 1.0, -0.1, 1.0, 1.0]);
    assert_eq!(states(&ran)[4], "acc");
}

#[test]
fn not_a_after_nothing() {
    let idle = machine("u0 -> acc : not a");
    assert_eq!(states(&run(&idle, &["a"], &[&["a"], &["a"]])), ["u0", "u0"]);
    assert_eq!(states(&run(&idle, &["a"], &[&["a"], &[]])), ["u0", "acc"]);
    let findings = check(&idle.bind(&Signature::parse(["a"]).unwrap()).unwrap());
    assert!(findings.is_clean(), "{findings:?}");
    assert!(idle.edges_without_positive_atom().is_empty());
    let changes = idle.with_step_mode(StepMode::Changes);
    let findings = check(&changes.bind(&Signature::parse(["a"]).unwrap()).unwrap());
    assert_eq!(findings.never_fire.len(), 1, "nothing else can be observed");
    assert_eq!(changes.edges_without_positive_atom().len(), 1);
}

#[test]
fn files_say_which() {
    let machine = machine("u0 -> acc : true");
    let text = machine.to_string();
    assert_eq!(
        text,
        "machine machine\ninitial u0\naccept  acc\nsteps   all\nu0 -> acc : true\n"
    );
    assert_eq!(text.parse::<Machine>().unwrap(), machine);
    assert!(machine.to_json().contains(r#""steps":"all""#));
    assert_eq!(Machine::from_json(&machine.to_json()).unwrap(), machine);
    assert_eq!(
        Machine::from_line("steps all; not a").unwrap().step_mode(),
        StepMode::All
    );
    let changes = machine.with_step_mode(StepMode::Changes);
    assert!(!changes.to_string().contains("steps"));
    assert!(!changes.to_json().contains("steps"));
    let explicit = "initial u0\naccept acc\nsteps changes\nu0 -> acc : true";
    assert_eq!(explicit.parse::<Machine>().unwrap(), changes);
    for (line, problem) in [
        ("steps some", "unknown steps `some`"),
        ("steps", "expected `all` or `changes`"),
        ("steps all\nsteps all", "`steps` is given twice"),
    ] {
        let error = format!("initial u0\naccept acc\n{line}\n").parse::<Machine>();
        let message = error.unwrap_err().to_string();
        assert!(message.contains(problem), "{message}");
    }
    let wrong = r#"{"initial":"a","accept":"b","edges":[],"steps":"some"}"#;
    let message = Machine::from_json(wrong).unwrap_err().to_string();
    assert!(message.contains("unknown steps `some`"), "{message}");
}

fn file(text: &'static str) -> TraceFile {
    TraceFile::new("t.jsonl", text.as_bytes()).unwrap()
}

const EVERY_STEP: &str = r#"{"signature":["a","b"],"steps":"all"}
{"kind":"incomplete","steps":[["a"],["a"],[]]}
{"kind":"goal","steps":[["a"],[],["b"]]}
"#;

#[test]
fn trace_files_say_which() {
    let signature = Signature::parse(["a", "b"]).unwrap();
    assert_eq!(file(EVERY_STEP).signature().unwrap(), signature);
    let traces = file(EVERY_STEP).traces(&signature).unwrap();
    let lengths: Vec<usize> = traces.iter().map(|(_, t)| t.steps().len()).collect();
    assert_eq!(lengths, [3, 3]);
    assert!(traces.iter().all(|(_, t)| t.step_mode() == StepMode::All));
    // Written again, they are the same file.
    let mut text = trace_header(&signature, StepMode::All) + "\n";
    for (_, trace) in &traces {
        text += &(trace.to_json(&signature) + "\n");
    }
    assert_eq!(text, EVERY_STEP);
    // The signature may be left out.
    let bare = "{\"steps\":\"all\"}\n{\"kind\":\"goal\",\"steps\":[[],[]]}\n";
    assert_eq!(file(bare).traces(&signature).unwrap()[0].1.steps().len(), 2);
    assert!(!file(bare).declares_signature().unwrap());
    for (text, problem) in [
        ("{\"steps\":\"some\"}\n", "unknown steps `some`"),
        (
            "{\"kind\":\"goal\",\"steps\":\"all\"}\n",
            "the steps of a trace are a list",
        ),
        (
            "{\"kind\":\"goal\",\"steps\":[]}\n{\"steps\":\"all\"}\n",
            "only the first line may declare which steps count",
        ),
    ] {
        let message = file(text).traces(&signature).unwrap_err().to_string();
        assert!(message.contains(problem), "{message}");
    }
}

#[test]
fn the_two_kinds_never_mix() {
    let signature = Signature::parse(["a", "b"]).unwrap();
    let machine: Machine = "initial u0\naccept acc\nu0 -> acc : b".parse().unwrap();
    let every_step = machine.clone().with_step_mode(StepMode::All);
    let bind = |machine: &Machine| machine.bind(&signature).unwrap();
    let mut replay = Replay::default();
    replay.add(&bind(&every_step), file(EVERY_STEP)).unwrap();
    assert_eq!((replay.total(), replay.disagreements), (2, 0));
    let error = replay.add(&bind(&machine), file(EVERY_STEP)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.jsonl has `steps all`, but machine machine has `steps changes`: both must count every step, or every change"
    );
    let mut data = Dataset::new(signature.clone());
    data.read(file(EVERY_STEP)).unwrap();
    assert_eq!(data.step_mode(), StepMode::All);
    let other = file("{\"kind\":\"goal\",\"steps\":[[\"a\"]]}\n");
    assert!(matches!(data.read(other), Err(Error::MixedSteps { .. })));
    let compared = compare(
        &bind(&machine),
        &bind(&every_step),
        &CompareOptions::default(),
    );
    assert!(matches!(compared, Err(Error::MixedSteps { .. })));
}

#[test]
fn recorders_keep_every_step() {
    let signature = Signature::parse(["a"]).unwrap();
    let a = signature.observation(["a"]).unwrap();
    let mut recorder = Recorder::with_mode(StepMode::All);
    for observation in [&AtomSet::new(), &a, &a] {
        assert!(recorder.observe(observation));
    }
    let trace = recorder.finish(Kind::Incomplete);
    assert_eq!(
        trace,
        Trace::with_mode(
            StepMode::All,
            Kind::Incomplete,
            [AtomSet::new(), a.clone(), a.clone()]
        )
    );
    assert_ne!(trace, Trace::new(Kind::Incomplete, [a]));
}
