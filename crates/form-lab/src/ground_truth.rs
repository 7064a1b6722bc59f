//! A learnt machine beside the task's own: what differs in what can be observed, and the settings that the task's machine needs.
//!
//! Runs learn without the task's machine; only their result is compared with it, for the user.

use std::collections::BTreeMap;

use form_core::{
    Atom, BoundMachine, CompareOptions, Comparison, Edge, Machine, Observations, Quantifier,
    StateId, compare,
};
use form_env::Task;

use crate::config::{Method, RunConfig};

/// A task whose machine is unknown: what any task may need.
const OF_ANY_TASK: &str = "a task with several edges between two states needs learning.max_disjuncts = 2 or more, one with ways back learning.cyclic = true";
/// The same, for settings that need the same objects on all maps.
const OF_ANY_WINDOW: &str = "one with counts learning.counts, as large as the largest count, one with joins learning.joins = true, one with things in any order learning.once = true";

/// What the learner was not given for the task's machine.
#[derive(Default)]
struct Missing {
    /// Settings with their values.
    settings: Vec<String>,
    /// Those that need the same objects on all maps, with the atom that needs them.
    of_window: Vec<(String, String)>,
}

/// What is said of a run that ended without a machine: the settings that the task needs. `varied`: its maps have different objects.
pub(crate) fn no_machine_hint(
    config: &RunConfig,
    truth: Option<&Machine>,
    varied: bool,
) -> Option<String> {
    match known_truth(config, truth) {
        Some(truth) => missing(config, truth).sentence(varied),
        None if varied => Some(OF_ANY_TASK.to_owned()),
        None => Some(format!("{OF_ANY_TASK}, {OF_ANY_WINDOW}")),
    }
}

/// What is said of a learnt machine that differs from the task's own after this trace.
pub(crate) fn difference_remark(
    config: &RunConfig,
    truth: Option<&Machine>,
    varied: bool,
    trace: &str,
) -> String {
    let differs = format!(
        "the learnt machine differs from the task's own on what can be observed: they part after {trace}"
    );
    let sentence =
        known_truth(config, truth).and_then(|truth| missing(config, truth).sentence(varied));
    match sentence {
        Some(sentence) => format!("{differs}; {sentence}"),
        None => differs,
    }
}

/// The task's machine, where the learner could state it as it is.
fn known_truth<'a>(config: &RunConfig, truth: Option<&'a Machine>) -> Option<&'a Machine> {
    truth.filter(|_| config.method != Method::Propositional)
}

/// The settings that a machine needs and the configuration does not have.
fn missing(config: &RunConfig, truth: &Machine) -> Missing {
    let learning = &config.learning;
    let mut missing = Missing::default();
    let mut disjuncts: BTreeMap<(StateId, StateId), usize> = BTreeMap::new();
    for edge in truth.edges() {
        *disjuncts.entry((edge.from, edge.to)).or_default() += edge.formula.disjuncts().len();
    }
    let most = disjuncts.into_values().max().unwrap_or(0);
    if most > learning.max_disjuncts {
        let setting = format!("learning.max_disjuncts = {most}");
        missing.settings.push(setting);
    }
    if !learning.cyclic && has_cycle(truth) {
        missing.settings.push("learning.cyclic = true".to_owned());
    }
    let mut most_counted = (learning.counts, None);
    let (mut join, mut once) = (None, None);
    for atom in truth.atoms() {
        let Atom::Quantified(quantified) = atom else {
            continue;
        };
        match (quantified.quantifier(), quantified.single()) {
            (Quantifier::AtLeast(count), _) if count as usize > most_counted.0 => {
                most_counted = (count as usize, Some(atom));
            }
            (Quantifier::Exists, None) if !learning.joins => join = join.or(Some(atom)),
            (Quantifier::Exists, Some(literal)) if literal.once && !learning.once => {
                once = once.or(Some(atom));
            }
            _ => {}
        }
    }
    let needed = [
        (
            format!("learning.counts = {}", most_counted.0),
            most_counted.1,
        ),
        ("learning.joins = true".to_owned(), join),
        ("learning.once = true".to_owned(), once),
    ];
    missing.of_window = (needed.into_iter())
        .filter_map(|(setting, atom)| Some((setting, format!("`{}`", atom?))))
        .collect();
    missing
}

impl Missing {
    /// As the end of a sentence, if anything is missing.
    fn sentence(&self, varied: bool) -> Option<String> {
        let settings = self.settings.iter().cloned();
        let window = self.of_window.iter();
        let window = window.map(|(setting, atom)| format!("{setting} for {atom}"));
        let all: Vec<String> = settings.chain(window).collect();
        if all.is_empty() {
            return None;
        }
        let mut sentence = format!("the task's machine needs {}", all.join(" and "));
        if varied && !self.of_window.is_empty() {
            sentence += ", and learning.counts, learning.joins and learning.once need the same objects on all maps: give the task one number of checkpoints of each colour";
        }
        Some(sentence)
    }
}

/// Whether a state is reached again from itself by way of another.
fn has_cycle(machine: &Machine) -> bool {
    let returns = |edge: &Edge| machine.reachable_from(edge.to).contains(&edge.from);
    (machine.edges().iter()).any(|edge| edge.from != edge.to && returns(edge))
}

/// A shortest trace on which a machine and that of a task part, of single atoms as a room has them; empty if they are equivalent, and
/// none if the comparison takes too long or the machine names what the task does not have. Where maps have different objects, over all of them and over those of all maps.
pub fn difference_from_truth(task: &Task, machine: &Machine) -> Option<Vec<String>> {
    let bound = machine.bind(task.signature()).ok()?;
    let options = CompareOptions {
        observations: Observations::Single,
        rewards: false,
        max_steps: 2_000_000,
    };
    let trace = |first: &BoundMachine, second: &BoundMachine| {
        let found = compare(first, second, &options).ok()?;
        Some(match found {
            Comparison::Equivalent { .. } => Vec::new(),
            Comparison::Different(difference) => (difference.trace.iter())
                .map(|observation| task.signature().texts(observation).join(", "))
                .collect(),
        })
    };
    let over_all = trace(&bound, task.truth())?;
    match task.shared_signature() {
        Some(shared) if over_all.is_empty() => {
            trace(&bound.within(shared), &task.truth().within(shared))
        }
        _ => Some(over_all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Preset;

    fn hint(edges: &str, settings: &[(&str, &str)], varied: bool) -> Option<String> {
        let machine: Machine = format!("initial u0\naccept acc\n{edges}").parse().unwrap();
        let mut config = RunConfig::new("all-yellow", Method::ReachAvoid, Preset::Fast);
        for (key, value) in settings {
            config.set(key, value).unwrap();
        }
        no_machine_hint(&config, Some(&machine), varied)
    }

    /// The hint names what the machine of the task needs and no more, with the size of counts.
    #[test]
    fn the_hint_depends_on_the_task() {
        let gems = "u0 -> u1 : atleast 3 X. purple(X)\nu1 -> acc : goal";
        let needs = "the task's machine needs learning.counts = 3 for `atleast 3 X. purple(X)`";
        assert_eq!(hint(gems, &[], false).as_deref(), Some(needs));
        let too_few = hint(gems, &[("learning.counts", "2")], false);
        assert_eq!(too_few.as_deref(), Some(needs));
        assert_eq!(hint(gems, &[("learning.counts", "3")], false), None);
        let varied = hint(gems, &[], true).unwrap();
        assert!(
            varied.contains("need the same objects on all maps"),
            "{varied}"
        );

        let both =
            "u0 -> u1 : exists X. (once key(X) and door(X))\nu1 -> acc : once a(o)\nu1 -> u0 : b";
        assert_eq!(
            hint(both, &[], false).unwrap(),
            "the task's machine needs learning.cyclic = true and learning.joins = true for `exists X. (once key(X) and door(X))` and learning.once = true for `once a(o)`"
        );
        let parallel = "u0 -> acc : a or b\nu0 -> acc : c";
        let needs = "the task's machine needs learning.max_disjuncts = 3";
        assert_eq!(hint(parallel, &[], true).as_deref(), Some(needs));
    }

    /// Machines are compared on what a room shows: one atom at a time.
    #[test]
    fn machines_are_compared_on_what_can_be_observed() {
        let task = Task::builtin("all-yellow").unwrap();
        let part = |edges: &str| {
            let machine = format!("initial u0\naccept acc\n{edges}").parse().unwrap();
            difference_from_truth(&task, &machine)
        };
        let same = "u0 -> u1 : forall X. yellow(X)\nu1 -> acc : goal and not yellow(o0)";
        assert_eq!(part(same), Some(Vec::new()));
        let one = "u0 -> u1 : yellow(o0)\nu1 -> acc : goal";
        assert_eq!(part(one).unwrap(), ["yellow(o0)", "goal"]);
    }
}
