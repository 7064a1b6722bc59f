//! The experiment `zero-shot`: its machines are those that its generator draws, they can be completed, and its tables say what was measured.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use form_env::{GridWorld, Maps, Shortest, Split, WorldOptions, shortest};
use form_lab::world_for;
use form_paper::{ZeroShot, ZeroShotGroup, draw_machines, random_machines, zero_shot_tables};
use form_rl::ReachAvoidPolicy;

#[test]
fn the_machines_are_those_that_the_generator_draws() {
    let machines = random_machines().unwrap();
    assert_eq!(machines.len(), 100);
    let lines: Vec<String> = (machines.iter())
        .map(|machine| machine.to_json().replace('\n', ""))
        .collect();
    assert_eq!(draw_machines().unwrap(), lines.join("\n") + "\n");
    // They differ in what the experiment is about.
    let with = |word: &str| {
        machines
            .iter()
            .filter(|m| m.to_string().contains(word))
            .count()
    };
    for word in ["exists", "forall", "not ", "u_rej", "lava", "goal"] {
        assert!(with(word) >= 20, "{word}: {}", with(word));
    }
    for states in 2..=7 {
        assert!(
            machines
                .iter()
                .any(|machine| machine.inner_states() == states)
        );
    }
}

#[test]
fn every_machine_can_be_completed() {
    for machine in random_machines().unwrap() {
        let task = Arc::new(world_for(&machine).unwrap());
        let map = task.map(0, Split::HeldOut, 0).unwrap();
        let world = GridWorld::new(task, Maps::Set([map].into()), WorldOptions::default()).unwrap();
        let found = shortest(&world, 5_000_000);
        assert!(
            matches!(found, Shortest::Exactly(_)),
            "{machine}: {found:?}"
        );
    }
}

#[test]
fn a_small_experiment_is_kept_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = AtomicBool::new(false);
    let experiment = ZeroShot {
        policies: vec![ReachAvoidPolicy::ideal()],
        maps: 1,
        command: "form reproduce zero-shot --maps 1".to_owned(),
        interrupt: &interrupt,
    };
    let (rows, complete) = experiment.carry_out(folder.path(), &|_| {}).unwrap();
    assert!(complete);
    assert_eq!(rows.len(), 2 * (5 + 100 + 24));
    // The exact policy never fails, and no episode is left out.
    assert!(rows.iter().all(|row| row.evaluation.success == 1.0));
    let raw = folder.path().join("evaluations.jsonl");
    let kept = std::fs::read_to_string(&raw).unwrap();
    let some: Vec<&str> = kept.lines().take(20).collect();
    std::fs::write(&raw, some.join("\n") + "\n").unwrap();
    let (again, _) = experiment.carry_out(folder.path(), &|_| {}).unwrap();
    assert_eq!(again, rows);
    assert_eq!(std::fs::read_to_string(&raw).unwrap(), kept);
    let written = std::fs::read_to_string(folder.path().join("results.md")).unwrap();
    let made = zero_shot_tables(&rows, "form reproduce zero-shot --maps 1");
    assert_eq!(written, made);
    assert!(made.contains("| worst task of the paper, no shield | ≥ 99.5 % | 100.0 % | yes |"));
    let mut worse = rows.clone();
    let random = (worse.iter_mut()).find(|row| row.group == ZeroShotGroup::Random && row.shield);
    let random = random.unwrap();
    random.evaluation.successes = 0;
    random.evaluation.dead_ends = 1;
    let made = zero_shot_tables(&worse, "");
    assert!(
        made.contains("| worst random machine, shield | ≥ 99.0 % | 0.0 % | no |"),
        "{made}"
    );
    assert!(
        made.contains("| dead ends with shield, all machines | 0 | 1 | no |"),
        "{made}"
    );
}
