//! Blind spots: what the policy of a machine state needs to see and its settings hide, the likely reason why some maps are never
//! learnt.
//!
//! These are no proofs: with few maps, a policy can learn by heart where things are, and succeed in spite of a blind spot.

use form_core::{Atom, Formula, GroundAtom, Literal, Machine};
use form_env::Task;
use form_rl::{AssignmentMode, ProgressEncoding};

use crate::config::{RunConfig, ViewName};

/// Something that the settings hide from the policy of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindSpot {
    /// The machine state; none if it holds for all states.
    pub state: Option<String>,
    /// What is hidden, and the setting that reveals it.
    pub reason: String,
}

/// What the settings of a run in a grid world hide from the policies of a machine.
pub(crate) fn blind_spots(config: &RunConfig, task: &Task, machine: &Machine) -> Vec<BlindSpot> {
    if config.method.assignment_mode() == AssignmentMode::Unaided {
        let states = task.truth().machine().states().len();
        let memory = match config.network.memory {
            0 => "and it has no memory",
            _ => "and it knows of the past only what its memory keeps",
        };
        // A task with one sub-task has no past to know.
        return match states > 2 {
            true => vec![BlindSpot {
                state: None,
                reason: format!(
                    "the method {} shows its policy neither the machine state nor what was visited, {memory}",
                    config.method
                ),
            }],
            false => Vec::new(),
        };
    }
    if config.view == ViewName::Identities {
        return Vec::new();
    }
    let view = config.view.as_str();
    let mut found = Vec::new();
    for state in (machine.state_ids()).filter(|state| !machine.is_terminal(*state)) {
        let formulae = || machine.edges_from(state).map(|(_, edge)| &edge.formula);
        let atoms: Vec<&Atom> = formulae().flat_map(Formula::atoms).collect();
        let name = machine.state_name(state);
        let mut note = |reason: String| {
            let spot = BlindSpot {
                state: Some(name.to_owned()),
                reason,
            };
            if !found.contains(&spot) {
                found.push(spot);
            }
        };
        for atom in &atoms {
            let (named, remembers) = match atom {
                Atom::Ground(ground) => (vec![ground.clone()], false),
                Atom::Quantified(quantified) => {
                    let literals = quantified.literals().iter();
                    let many = |literal: &Literal| task.signature().instances(literal).len() > 1;
                    let remembers = literals.clone().any(|part| part.once && many(part));
                    (literals.filter_map(Literal::ground).collect(), remembers)
                }
            };
            for named in named.iter().filter(|named| has_twin(task, named)) {
                note(format!(
                    "{name} asks for {named}, and view = {view} hides the numbers of checkpoints: --set view=identities shows them"
                ));
            }
            if remembers && config.progress == ProgressEncoding::Bits {
                note(format!(
                    "{name} waits for {atom}; progress = bits tells which numbers were seen, and view = {view} hides which checkpoint has which number: use --set view=identities or --progress plane"
                ));
            }
        }
    }
    found
}

/// Whether another object looks the same: a checkpoint of the same colour.
fn has_twin(task: &Task, atom: &GroundAtom) -> bool {
    let same = |other: &&GroundAtom| other.predicate() == atom.predicate();
    task.signature().atoms().iter().filter(same).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Method, Preset};

    fn found(task: &str, method: Method, set: &[(&str, &str)]) -> Vec<String> {
        let mut config = RunConfig::new(task, method, Preset::Fast);
        for (key, value) in set {
            config.set(key, value).unwrap();
        }
        let task = Task::builtin(task).unwrap();
        let spots = blind_spots(&config, &task, task.truth().machine());
        spots.into_iter().map(|spot| spot.reason).collect()
    }

    #[test]
    fn numbers_that_a_view_does_not_show() {
        let blue = "blue-all-yellow-7";
        let planes = found(blue, Method::Form, &[]);
        assert_eq!(
            planes,
            [
                "u2 asks for purple(o7), and view = egocentric hides the numbers of checkpoints: --set view=identities shows them"
            ]
        );
        assert!(found(blue, Method::Form, &[("view", "identities")]).is_empty());
        assert!(found("all-yellow", Method::Form, &[]).is_empty());
        let green = found("green-but-one", Method::Form, &[]);
        assert!(
            green.len() == 1 && green[0].contains("u0 asks for green(o12)"),
            "{green:?}"
        );
    }

    #[test]
    fn indicators_of_objects_that_look_alike() {
        let bits = found("all-yellow", Method::Form, &[("progress", "bits")]);
        assert!(
            bits.len() == 1 && bits[0].contains("u0 waits for forall X. yellow(X)"),
            "{bits:?}"
        );
        let told_apart = [("progress", "bits"), ("view", "identities")];
        assert!(found("all-yellow", Method::Form, &told_apart).is_empty());
    }

    #[test]
    fn windows_of_objects_that_look_alike() {
        let mut config = RunConfig::new("all-yellow", Method::Form, Preset::Fast);
        config.set("progress", "bits").unwrap();
        let task = Task::builtin("all-yellow").unwrap();
        let reasons = |formula: &str| -> Vec<String> {
            let machine = format!("initial u0\naccept acc\nu0 -> acc : {formula}");
            let machine: Machine = machine.parse().unwrap();
            let spots = blind_spots(&config, &task, &machine);
            spots.into_iter().map(|spot| spot.reason).collect()
        };
        let counted = reasons("exists X. once yellow(X) and goal");
        assert!(
            counted.len() == 1 && counted[0].contains("waits for exists X. once yellow(X)"),
            "{counted:?}"
        );
        let named = reasons("once yellow(o0)");
        assert!(
            named.len() == 1 && named[0].contains("asks for yellow(o0)"),
            "{named:?}"
        );
        assert!(reasons("once goal").is_empty());
    }

    #[test]
    fn a_policy_without_a_machine() {
        let plain = found("all-yellow", Method::Ppo, &[]);
        assert!(
            plain.len() == 1 && plain[0].contains("it has no memory"),
            "{plain:?}"
        );
        let recurrent = found("all-yellow", Method::RecurrentPpo, &[]);
        assert!(
            recurrent[0].contains("what its memory keeps"),
            "{recurrent:?}"
        );
    }
}
