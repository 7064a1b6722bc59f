//! The machines of a run in order: when each was learnt, what changed, and which trace refuted the one before.

use std::collections::BTreeMap;

use form_core::{BoundMachine, Machine, MachineStatus, Signature, Trace, explain, to_svg};

use super::data::{CounterexampleData, EdgeData, GoneEdge, MachineData, in_papers_notation};
use crate::metrics::{MetricsRow, TimingsRow};

/// What a run's files say about its machines.
pub(super) struct History<'a> {
    /// The machines in their order, with their numbers and files.
    pub(super) machines: Vec<(u64, Option<String>, Machine)>,
    pub(super) metrics: &'a [MetricsRow],
    pub(super) timings: &'a [TimingsRow],
    /// The traces with their lines, and the atoms they are about.
    pub(super) traces: &'a [(usize, Trace)],
    pub(super) signature: Option<&'a Signature>,
}

impl History<'_> {
    /// The machines as the page shows them.
    pub(super) fn describe(&self) -> Vec<MachineData> {
        let mut before: Option<&Machine> = None;
        let mut described = Vec::new();
        for (number, file, machine) in &self.machines {
            described.push(self.describe_one(*number, file.clone(), machine, before));
            before = Some(machine);
        }
        described
    }

    fn describe_one(
        &self,
        number: u64,
        file: Option<String>,
        machine: &Machine,
        before: Option<&Machine>,
    ) -> MachineData {
        // The first machine was not learnt in an iteration.
        let at = (self.metrics.iter()).position(|row| number > 0 && row.relearnings >= number);
        let row = at.map(|at| &self.metrics[at]);
        let earlier = at.and_then(|at| at.checked_sub(1));
        let known = earlier.map_or(0, |at| self.metrics[at].traces);
        let now = row.map_or(0, |row| row.traces);
        let new = (usize::try_from(known).ok())
            .zip(usize::try_from(now).ok())
            .and_then(|(known, now)| self.traces.get(known..now))
            .unwrap_or_default();
        let timing = row
            .and_then(|row| (self.timings.iter()).find(|timing| timing.iteration == row.iteration));
        let change = before.map(|before| Change::between(before, machine));
        let is_new = |edge: usize| (change.as_ref()).is_some_and(|change| change.new[edge]);
        MachineData {
            number,
            file,
            svg: to_svg(machine),
            states: (machine.states().iter())
                .map(|name| name.as_str().to_owned())
                .collect(),
            initial: machine.initial().index(),
            accept: machine.accept().index(),
            reject: machine.reject().map(form_core::StateId::index),
            edges: (machine.edges().iter().enumerate())
                .map(|(number, edge)| EdgeData {
                    from: edge.from.index(),
                    to: edge.to.index(),
                    formula: in_papers_notation(&edge.formula),
                    reward: edge.reward.unwrap_or(match edge.to == machine.accept() {
                        true => 1.0,
                        false => 0.0,
                    }),
                    is_new: is_new(number),
                })
                .collect(),
            iteration: row.map(|row| row.iteration),
            steps: row.map(|row| row.steps),
            seconds: timing.map(|timing| timing.learning_seconds),
            counterexamples: new.len(),
            counterexample: before.and_then(|before| self.refutation(before, new)),
            renamed: (change.iter())
                .flat_map(|change| change.renamed.clone())
                .collect(),
            gone: change.map(|change| change.gone).unwrap_or_default(),
        }
    }

    /// The shortest new trace that a machine misjudges.
    fn refutation(&self, machine: &Machine, new: &[(usize, Trace)]) -> Option<CounterexampleData> {
        let bound = machine.bind(self.signature?).ok()?;
        let refuting = new
            .iter()
            .filter(|(_, trace)| trace.disagreement(&bound).is_some());
        let (line, trace) = refuting.min_by_key(|(_, trace)| trace.steps().len())?;
        Some(refuted(&bound, *line, trace))
    }
}

/// How a machine misjudges a trace.
fn refuted(machine: &BoundMachine, line: usize, trace: &Trace) -> CounterexampleData {
    let name = |state| machine.machine().state_name(state).to_owned();
    let wrong = trace.disagreement(machine);
    let after = wrong.map_or(trace.steps().len(), |wrong| wrong.after);
    let mut states = vec![name(machine.machine().initial())];
    states.extend((explain(machine, trace).iter().take(after)).map(|step| name(step.to)));
    let kind = |progress| match progress {
        MachineStatus::Accepted => "goal",
        MachineStatus::Rejected => "dead-end",
        MachineStatus::Running => "incomplete",
    };
    CounterexampleData {
        line,
        kind: trace.kind().as_str(),
        steps: (trace.steps().iter())
            .map(|step| machine.signature().texts(step))
            .collect(),
        states,
        expected: kind(wrong.map_or(trace.kind().expected(), |wrong| wrong.expected)),
        said: kind(wrong.map_or(MachineStatus::Running, |wrong| wrong.reached)),
    }
}

/// The difference between two machines, whatever their states are called.
struct Change {
    /// Whether each edge of the new machine is new.
    new: Vec<bool>,
    gone: Vec<GoneEdge>,
    renamed: Vec<(String, String)>,
}

/// An edge: the numbers of its states, and its formula.
type EdgeKey = (usize, usize, String);

/// Up to this many states, all matchings of states are tried.
const MOST_STATES: usize = 7;

impl Change {
    fn between(old: &Machine, new: &Machine) -> Self {
        let (before, now) = (edge_keys(old), edge_keys(new));
        let matching = Matching::find(old, new, &before, &now);
        let moved = |edge: &EdgeKey| {
            let (from, to) = (matching.of[&edge.0]?, matching.of[&edge.1]?);
            Some((from, to, edge.2.clone()))
        };
        let kept: Vec<EdgeKey> = before.iter().filter_map(moved).collect();
        let name = |state: usize| old.states()[state].as_str().to_owned();
        Self {
            new: now.iter().map(|edge| !kept.contains(edge)).collect(),
            gone: (before.iter())
                .filter(|edge| moved(edge).is_none_or(|moved| !now.contains(&moved)))
                .map(|edge| GoneEdge {
                    from: name(edge.0),
                    to: name(edge.1),
                    formula: edge.2.clone(),
                })
                .collect(),
            // A state none of whose edges survived is a new one, not a renamed one.
            renamed: (matching.of.iter())
                .filter(|(_, state)| {
                    kept.iter()
                        .any(|edge| Some(edge.0) == **state && now.contains(edge))
                })
                .filter_map(|(old, new_state)| {
                    Some((name(*old), new.states()[(*new_state)?].as_str().to_owned()))
                })
                .filter(|(old, new)| old != new)
                .collect(),
        }
    }
}

fn edge_keys(machine: &Machine) -> Vec<EdgeKey> {
    let edge = |edge: &form_core::Edge| {
        let (from, to) = (edge.from.index(), edge.to.index());
        (from, to, in_papers_notation(&edge.formula))
    };
    machine.edges().iter().map(edge).collect()
}

/// Which state of the new machine each state of the old one has become, if any.
struct Matching {
    of: BTreeMap<usize, Option<usize>>,
    common: usize,
}

impl Matching {
    /// The matching under which most edges agree; of these, one that keeps most names.
    fn find(old: &Machine, new: &Machine, before: &[EdgeKey], now: &[EdgeKey]) -> Self {
        let mut fixed: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        fixed.insert(old.initial().index(), Some(new.initial().index()));
        fixed.insert(old.accept().index(), Some(new.accept().index()));
        if let Some(reject) = old.reject() {
            fixed.insert(reject.index(), new.reject().map(form_core::StateId::index));
        }
        let taken = |machine: &Machine, state: usize| {
            [
                Some(machine.initial()),
                Some(machine.accept()),
                machine.reject(),
            ]
            .into_iter()
            .flatten()
            .any(|special| special.index() == state)
        };
        let free_old: Vec<usize> = (0..old.states().len())
            .filter(|state| !taken(old, *state))
            .collect();
        let mut free_new: Vec<usize> = (0..new.states().len())
            .filter(|state| !taken(new, *state))
            .collect();
        let named = |state: usize| {
            new.state(old.states()[state].as_str())
                .map(form_core::StateId::index)
        };
        if free_old.len() > MOST_STATES || free_new.len() > MOST_STATES {
            let by_name =
                |state: &usize| (*state, named(*state).filter(|name| free_new.contains(name)));
            fixed.extend(free_old.iter().map(by_name));
            return Self {
                of: fixed,
                common: 0,
            };
        }
        let mut best = Self {
            of: fixed.clone(),
            common: 0,
        };
        best.of.extend(free_old.iter().map(|state| (*state, None)));
        let mut search = Search {
            before,
            now,
            best,
            kept_names: 0,
            named: &named,
        };
        search.extend(&mut fixed, &free_old, &mut free_new);
        search.best
    }
}

/// Tries all matchings of the remaining states.
struct Search<'a> {
    before: &'a [EdgeKey],
    now: &'a [EdgeKey],
    best: Matching,
    kept_names: usize,
    named: &'a dyn Fn(usize) -> Option<usize>,
}

impl Search<'_> {
    fn extend(
        &mut self,
        of: &mut BTreeMap<usize, Option<usize>>,
        old: &[usize],
        new: &mut Vec<usize>,
    ) {
        let Some((state, rest)) = old.split_first() else {
            self.compare(of);
            return;
        };
        for at in 0..new.len() {
            let candidate = new.remove(at);
            of.insert(*state, Some(candidate));
            self.extend(of, rest, new);
            new.insert(at, candidate);
        }
        // With more old states than new ones, some have no match.
        if old.len() > new.len() {
            of.insert(*state, None);
            self.extend(of, rest, new);
        }
        of.remove(state);
    }

    fn compare(&mut self, of: &BTreeMap<usize, Option<usize>>) {
        let has = |from: usize, to: usize, formula: &str| {
            (self.now.iter()).any(|edge| (edge.0, edge.1, edge.2.as_str()) == (from, to, formula))
        };
        let common = (self.before.iter())
            .filter(|edge| match (of[&edge.0], of[&edge.1]) {
                (Some(from), Some(to)) => has(from, to, &edge.2),
                _ => false,
            })
            .count();
        let kept = (of.iter()).filter(|(old, new)| new.is_some() && **new == (self.named)(**old));
        let kept = kept.count();
        if (common, kept) > (self.best.common, self.kept_names) {
            self.best = Matching {
                of: of.clone(),
                common,
            };
            self.kept_names = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(edges: &str) -> Machine {
        format!("initial u0\naccept u_acc\n{edges}")
            .parse()
            .unwrap()
    }

    #[track_caller]
    fn check(
        old: &str,
        new: &str,
        expected_new: &[usize],
        gone: &[&str],
        renamed: &[(&str, &str)],
    ) {
        let new = machine(new);
        let change = Change::between(&machine(old), &new);
        let is_new: Vec<usize> = (0..new.edges().len())
            .filter(|edge| change.new[*edge])
            .collect();
        assert_eq!(is_new, expected_new);
        let formulae: Vec<&str> = change.gone.iter().map(|edge| &*edge.formula).collect();
        assert_eq!(formulae, gone);
        let names: Vec<(&str, &str)> = (change.renamed.iter())
            .map(|(old, new)| (&**old, &**new))
            .collect();
        assert_eq!(names, renamed);
    }

    #[test]
    fn what_changed_does_not_depend_on_names() {
        let two = "u0 -> u1 : a\nu1 -> u_acc : goal\n";
        check(two, two, &[], &[], &[]);
        check(
            two,
            "u0 -> x : a\nx -> u_acc : goal\n",
            &[],
            &[],
            &[("u1", "x")],
        );
        // A state in between: the last one is called otherwise now.
        check(
            two,
            "u0 -> u1 : b\nu1 -> u2 : a\nu2 -> u_acc : goal\n",
            &[0, 1],
            &["a"],
            &[("u1", "u2")],
        );
        check(
            two,
            "u0 -> u1 : a\nu1 -> u_acc : not a and goal\n",
            &[1],
            &["goal"],
            &[],
        );
        check("u0 -> u_acc : goal\n", two, &[0, 1], &["goal"], &[]);
        // States that are no more.
        check(
            "u0 -> u1 : a\nu1 -> u2 : b\nu2 -> u_acc : goal\n",
            two,
            &[1],
            &["b", "goal"],
            &[],
        );
    }

    #[test]
    fn machines_of_many_states_are_compared_by_name() {
        let chain = |count: usize| {
            let edges = (0..count).map(|i| format!("u{i} -> u{} : a{i}\n", i + 1));
            edges.collect::<String>() + &format!("u{count} -> u_acc : goal\n")
        };
        let is_new = Change::between(&machine(&chain(30)), &machine(&chain(31))).new;
        let count = is_new.iter().filter(|new| **new).count();
        assert_eq!(count, 2);
    }
}
