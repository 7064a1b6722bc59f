//! Walks in the paper's room: the traces they give.

use std::collections::BTreeSet;
use std::path::Path;

use form_core::{Kind, Machine, Trace};
use form_learn::walks::Walks;

/// The lines of a trace file.
fn lines(walks: &Walks) -> Vec<String> {
    let signature = walks.signature().unwrap();
    let atoms: Vec<String> = signature.atoms().iter().map(ToString::to_string).collect();
    let header = serde_json::json!({ "signature": atoms }).to_string();
    let traces = walks.record().unwrap();
    let traces = traces.iter().map(|trace| trace.to_json(&signature));
    [header].into_iter().chain(traces).collect()
}

#[test]
fn the_shipped_traces_are_those_of_seed_7() {
    for (task, wanted) in [
        ("all_yellow", [20, 0, 20]),
        ("blue_all_yellow_7", [20, 0, 20]),
        // Walks that survive 3,000 steps among lava are rare: the first one has to do.
        ("green_but_one", [20, 20, 1]),
    ] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let read = |name: String| std::fs::read_to_string(file.join(name)).unwrap();
        let machine: Machine = read(format!("{task}.form")).parse().unwrap();
        let mut walks = Walks::new(machine, 7);
        walks.wanted = Kind::ALL.into_iter().zip(wanted).collect();
        let shipped = read(format!("{task}.jsonl"));
        let shipped: Vec<&str> = shipped
            .lines()
            .take(1 + wanted.iter().sum::<usize>())
            .collect();
        assert_eq!(lines(&walks), shipped, "{task}");
    }
}

#[test]
fn they_are_what_was_asked_for() {
    let mut walks = Walks::blue_all_yellow_7(3);
    walks.objects.push(("yellow".to_owned(), 3));
    walks.wanted = [(Kind::Goal, 4), (Kind::Incomplete, 2)].into();
    walks.max_observations = Some(120);
    let signature = walks.signature().unwrap();
    assert_eq!(signature.len(), 16);
    assert!(signature.id_of_text("yellow(o14)").is_some());
    let traces = walks.record().unwrap();
    let kinds: Vec<Kind> = traces.iter().map(Trace::kind).collect();
    assert_eq!(kinds[..4], [Kind::Goal; 4]);
    assert_eq!(kinds[4..], [Kind::Incomplete; 2]);
    let machine = walks.machine.bind(&signature).unwrap();
    for trace in &traces {
        assert_eq!(trace.disagreement(&machine), None);
        assert!(trace.steps().len() <= 120);
    }
    // One thing lies in a cell, and all of them are met.
    let met: BTreeSet<_> = traces.iter().flat_map(Trace::steps).collect();
    assert!(met.iter().all(|observation| observation.len() == 1));
    assert_eq!(met.len(), 16);
}

#[test]
fn another_seed_gives_other_traces() {
    let record = |seed| Walks::green_but_one(seed).each(5).record().unwrap();
    assert_eq!(record(1), record(1));
    assert_ne!(record(1), record(2));
    assert_eq!(record(1).len(), 15);
}

#[test]
fn a_task_that_does_not_fit_the_room_is_named() {
    let mut walks = Walks::green_but_one(1).each(1);
    walks.lava = 0;
    let error = walks.record().unwrap_err().to_string();
    assert!(error.contains("no predicate `lava`"), "{error}");
}
