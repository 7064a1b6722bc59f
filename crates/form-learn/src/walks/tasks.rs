//! The tasks to walk for: those of the paper's experiments, and chains of any length.

use std::fmt::Write;

use form_core::Machine;

use super::Walks;

/// What a chain asks for before the goal, again and again: `exists`, `forall` and a numbered checkpoint in turn, and
/// never the same colour twice in a row. The first three are those of Blue-AllYellow-7.
const CHAIN: [&str; 6] = [
    "exists X. blue(X)",
    "forall X. yellow(X)",
    "purple(o7)",
    "exists X. red(X)",
    "forall X. green(X)",
    "grey(o9)",
];

impl Walks {
    /// AllYellow (Figure 4a): all yellow checkpoints, then the goal.
    pub fn all_yellow(seed: u64) -> Self {
        let edges = "u0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal";
        Self::new(task("all_yellow", "", edges), seed)
    }

    /// GreenButOne-NoLava (Figure 5a): any green checkpoint but number 12, then the goal, and never lava.
    ///
    /// An episode has 500 steps at most, not 3,000: so many only one walk in 200,000 among the lava survives, and incomplete
    /// traces would take ages to come by.
    pub fn green_but_one(seed: u64) -> Self {
        let edges = "u0 -> u1 : exists X. green(X) and not green(o12) and not lava\nu0 -> u_rej : lava\n\
                     u1 -> u_acc : goal and not lava\nu1 -> u_rej : lava";
        Self {
            max_steps: 500,
            ..Self::new(task("green_but_one", "reject u_rej\n", edges), seed)
        }
    }

    /// Blue-AllYellow-7 (Figure 6): any blue checkpoint, then all yellow ones, then purple number 7, then the goal.
    pub fn blue_all_yellow_7(seed: u64) -> Self {
        Self::new(chain("blue_all_yellow_7", 4), seed)
    }

    /// So many sub-tasks in a row, of which the last is the goal: four are Blue-AllYellow-7.
    pub fn chain(sub_tasks: usize, seed: u64) -> Self {
        Self::new(chain(&format!("chain_{sub_tasks}"), sub_tasks), seed)
    }
}

fn chain(name: &str, sub_tasks: usize) -> Machine {
    let before = sub_tasks.saturating_sub(1);
    let mut edges = String::new();
    for (i, formula) in CHAIN.iter().cycle().take(before).enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(edges, "u{i} -> u{} : {formula}", i + 1);
    }
    task(name, "", &format!("{edges}u{before} -> u_acc : goal"))
}

fn task(name: &str, reject: &str, edges: &str) -> Machine {
    let text = format!("machine {name}\ninitial u0\naccept u_acc\n{reject}{edges}");
    text.parse().expect("the tasks are machines")
}

#[cfg(test)]
mod tests {
    use form_core::{Kind, Trace};

    use super::*;

    fn shipped(text: &str) -> Machine {
        text.parse().unwrap()
    }

    #[test]
    fn the_tasks_of_the_paper_are_the_shipped_machines() {
        for (walks, text) in [
            (
                Walks::all_yellow(0),
                include_str!("../../../../examples/all_yellow.form"),
            ),
            (
                Walks::green_but_one(0),
                include_str!("../../../../examples/green_but_one.form"),
            ),
            (
                Walks::blue_all_yellow_7(0),
                include_str!("../../../../examples/blue_all_yellow_7.form"),
            ),
        ] {
            assert_eq!(walks.machine, shipped(text));
        }
    }

    #[test]
    fn chains_have_as_many_states_as_sub_tasks() {
        for sub_tasks in 1..=8 {
            let machine = chain("chain", sub_tasks);
            assert_eq!(machine.states().len(), sub_tasks + 1);
            assert_eq!(machine.edges().len(), sub_tasks);
            let labels: Vec<String> = machine
                .edges()
                .iter()
                .map(|e| e.formula.to_string())
                .collect();
            assert!(labels.windows(2).all(|pair| pair[0] != pair[1]));
            assert_eq!(labels[sub_tasks - 1], "goal");
        }
    }

    fn mean_length(traces: &[Trace]) -> usize {
        let steps: usize = traces.iter().map(|trace| trace.steps().len()).sum();
        steps / traces.len()
    }

    #[test]
    fn help_completes_what_chance_does_not() {
        let mut walks = Walks::chain(16, 1).each(10);
        walks.patience = 20;
        let error = walks.record().unwrap_err().to_string();
        let expected = "10 goal traces of `chain_16` are missing after 20 episodes in vain";
        assert!(error.contains(expected), "{error}");
        let goals = |walks: &Walks| -> Vec<Trace> {
            let traces = walks.record().unwrap();
            let machine = walks.machine.bind(&walks.signature().unwrap()).unwrap();
            assert_eq!(traces.len(), 20);
            assert!(traces.iter().all(|t| t.disagreement(&machine).is_none()));
            let goals = traces.into_iter().filter(|t| t.kind() == Kind::Goal);
            goals.collect()
        };
        walks.guidance = 20;
        let little = mean_length(&goals(&walks));
        walks.guidance = 90;
        let much = mean_length(&goals(&walks));
        assert!(much < little, "{much} and {little} observations");
    }
}
