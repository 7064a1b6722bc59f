//! The laws: everything that evaluates, transforms or judges a machine agrees with the definition of truth.

use std::collections::{BTreeSet, HashSet, VecDeque};

use form_core::{
    AtomSet, BoundMachine, CompareOptions, Comparison, EdgeId, Formula, GroundObservations,
    GroundOptions, Kind, Machine, MachineStatus, Monitor, Notation, Observations, Overlap,
    Recorder, Run, Signature, StateId, StepMode, Trace, check, compare, ground, overlaps,
    satisfies,
};
use proptest::prelude::*;

use super::arbitrary::{self, full_signature};

/// Algorithm 1 over an explicit buffer and uncompiled formulae: what a run is.
struct Defined<'a> {
    machine: &'a BoundMachine,
    state: StateId,
    buffer: Vec<AtomSet>,
}

impl<'a> Defined<'a> {
    fn new(machine: &'a BoundMachine) -> Self {
        Self {
            machine,
            state: machine.machine().initial(),
            buffer: Vec::new(),
        }
    }

    fn step(&mut self, observation: &AtomSet) -> (Option<EdgeId>, f64) {
        if observation.is_empty() && self.machine.machine().step_mode() == StepMode::Changes {
            return (None, 0.0);
        }
        self.buffer.push(observation.clone());
        let lifted = self.machine.machine();
        let taken = lifted
            .edges_from(self.state)
            .find(|(_, edge)| satisfies(&self.buffer, &edge.formula, self.machine.signature()));
        let Some((id, edge)) = taken else {
            return (None, 0.0);
        };
        if edge.to != self.state {
            self.state = edge.to;
            self.buffer.clear();
        }
        let default = if edge.to == lifted.accept() { 1.0 } else { 0.0 };
        (Some(id), edge.reward.unwrap_or(default))
    }
}

fn bind(machine: &Machine) -> BoundMachine {
    machine.bind(&full_signature()).unwrap()
}

/// MachineStatus and reward after each of the observations.
fn behaviour(machine: &BoundMachine, observations: &[AtomSet]) -> Vec<(MachineStatus, f64)> {
    let mut run = Run::new(machine);
    let mut result = Vec::new();
    for observation in observations {
        let step = run.step(machine, observation);
        result.push((machine.machine().status(run.state()), step.reward));
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back(formula in arbitrary::formula(&full_signature())) {
        for notation in [Notation::Ascii, Notation::Unicode] {
            let text = formula.display(notation).to_string();
            prop_assert_eq!(&text.parse::<Formula>().unwrap(), &formula, "{}", text);
        }
    }

    #[test]
    fn the_compiled_form_is_the_definition(
        (kept, formula) in signature_and_formula(),
        buffer in arbitrary::observations(1..5),
        padding in 0..200_usize,
    ) {
        // Any signature with the formula's atoms will do: small ones, and ones that do not fit in 128 bits.
        let kept = kept.ids().map(|id| kept.atom(id).to_string());
        let spare = (0..padding).map(|i| format!("a_spare(x{i})"));
        let signature = Signature::parse(kept.chain(spare)).unwrap();
        let one_edge = arbitrary::one_edge(&formula);
        let machine = one_edge.bind(&signature).unwrap();
        let full = full_signature();
        let moved = |set: &AtomSet| -> AtomSet {
            set.iter().filter_map(|id| signature.id_of(full.atom(id))).collect()
        };
        let buffer: Vec<AtomSet> = buffer.iter().map(moved).collect();
        let seen = buffer.iter().fold(AtomSet::new(), |all, o| all.union(o));
        let compiled = machine.choose(one_edge.initial(), &buffer[buffer.len() - 1], &seen).is_some();
        prop_assert_eq!(compiled, satisfies(&buffer, &formula, &signature));
    }

    #[test]
    fn runs_follow_algorithm_1(machine in arbitrary::machine(&full_signature(), 3, 8), observations in arbitrary::observations(0..12)) {
        let machine = bind(&machine);
        let (mut run, mut defined) = (Run::new(&machine), Defined::new(&machine));
        for observation in &observations {
            let step = run.step(&machine, observation);
            prop_assert_eq!((step.edge, step.reward), defined.step(observation));
            prop_assert_eq!(run.state(), defined.state);
        }
    }

    #[test]
    fn peek_is_stepping_a_copy(machine in arbitrary::machine(&full_signature(), 3, 8), observations in arbitrary::observations(0..12)) {
        let machine = bind(&machine);
        let mut monitor = Monitor::new(&machine);
        for observation in &observations {
            // Each observation is tried in every situation on the way: also the newest again, which does nothing.
            for tried in &observations {
                let mut copy = monitor.clone();
                let peeked = monitor.peek(&machine, tried);
                prop_assert_eq!(peeked, copy.observe(&machine, tried));
                let state = peeked.edge.map_or(monitor.state(), |edge| machine.outcome(edge).0);
                prop_assert_eq!(state, copy.state());
            }
            monitor.observe(&machine, observation);
        }
    }

    #[test]
    fn atoms_that_no_edge_tells_apart_can_be_exchanged(
        machine in arbitrary::machine(&full_signature(), 3, 4),
        observations in arbitrary::observations(0..12),
    ) {
        let machine = bind(&machine);
        let ids: Vec<_> = machine.signature().ids().collect();
        let pairs = ids.iter().flat_map(|one| ids.iter().map(move |other| (*one, *other)));
        for (one, other) in pairs.filter(|(one, other)| !machine.tells_apart(*one, *other)) {
            let exchanged = |set: &AtomSet| -> AtomSet {
                set.iter().map(|id| if id == one { other } else if id == other { one } else { id }).collect()
            };
            let moved: Vec<AtomSet> = observations.iter().map(exchanged).collect();
            prop_assert_eq!(behaviour(&machine, &observations), behaviour(&machine, &moved));
        }
    }

    #[test]
    fn what_is_not_awaited_makes_no_difference_any_more(
        machine in arbitrary::machine(&full_signature(), 2, 4),
        seen in arbitrary::observation(),
        later in arbitrary::observations(1..6),
    ) {
        let machine = bind(&machine);
        for state in machine.machine().state_ids() {
            let awaited = machine.awaited_atoms(state, &seen);
            prop_assert!(!awaited.intersects(&seen) && awaited.is_subset(machine.progress_atoms(state)));
            // As if all others had been observed as well.
            let others: AtomSet = machine.signature().ids().filter(|id| !awaited.contains(*id)).collect();
            let (mut few, mut many) = (seen.clone(), seen.union(&others));
            for newest in &later {
                few.union_with(newest);
                many.union_with(newest);
                prop_assert_eq!(machine.choose(state, newest, &few), machine.choose(state, newest, &many));
            }
        }
    }

    #[test]
    fn monitor_and_recorder_compress_alike(machine in arbitrary::machine(&full_signature(), 3, 8), observations in arbitrary::observations(0..20)) {
        let machine = bind(&machine);
        let mode = machine.machine().step_mode();
        let (mut monitor, mut recorder) = (Monitor::new(&machine), Recorder::with_mode(mode));
        for observation in &observations {
            // An environment repeats itself: each observation comes twice.
            for _ in 0..2 {
                monitor.observe(&machine, observation);
                recorder.observe(observation);
            }
        }
        let trace = recorder.finish(Kind::Incomplete);
        let mut run = Run::new(&machine);
        for step in trace.steps() {
            run.step(&machine, step);
        }
        prop_assert_eq!(run.state(), monitor.state());
        prop_assert_eq!(run.seen(), monitor.seen());
        // Compressing what is compressed changes nothing; and where every step counts, nothing is lost.
        prop_assert_eq!(Trace::with_mode(mode, Kind::Incomplete, trace.steps().to_vec()), trace.clone());
        if mode == StepMode::All {
            let twice: Vec<AtomSet> = observations.iter().flat_map(|o| [o.clone(), o.clone()]).collect();
            prop_assert_eq!(trace.steps(), twice);
        }
    }

    #[test]
    fn machines_survive_their_files(machine in arbitrary::machine(&full_signature(), 4, 8)) {
        prop_assert_eq!(&machine.to_string().parse::<Machine>().unwrap(), &machine);
        prop_assert_eq!(&Machine::from_json(&machine.to_json()).unwrap(), &machine);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn grounding_is_lifting(
        machine in arbitrary::machine(&full_signature(), 3, 6),
        traces in prop::collection::vec(arbitrary::observations(1..10), 8),
    ) {
        let lifted = bind(&machine);
        // Some machines remember too much to be grounded for all sets of atoms.
        let options = GroundOptions { max_edges: 5_000, ..GroundOptions::default() };
        let grounded = match ground(&lifted, &options) {
            Err(form_core::Error::Limit { .. }) => return Err(TestCaseError::reject("too large")),
            grounded => grounded.unwrap(),
        };
        prop_assert!(grounded.atoms().iter().all(|atom| matches!(atom, form_core::Atom::Ground(_))));
        let grounded = bind(&grounded);
        for trace in &traces {
            prop_assert_eq!(behaviour(&lifted, trace), behaviour(&grounded, trace));
        }
        let single = GroundOptions { observations: GroundObservations::Single, ..GroundOptions::default() };
        let single = bind(&ground(&lifted, &single).unwrap());
        for trace in &traces {
            let one: Vec<AtomSet> = trace.iter().filter_map(|o| o.iter().next()).map(|id| AtomSet::from_iter([id])).collect();
            prop_assert_eq!(behaviour(&lifted, &one), behaviour(&single, &one));
        }
    }

    #[test]
    fn overlaps_are_exact(machine in arbitrary::guarded_machine(&small_signature(), 2, 5)) {
        let signature = small_signature();
        let machine = machine.bind(&signature).unwrap();
        let findings = check(&machine);
        prop_assert!(findings.undecided.is_empty());
        let holds = |edge: EdgeId, buffer: &[AtomSet]| satisfies(buffer, &machine.machine().edge(edge).formula, &signature);
        for overlap in &findings.overlaps {
            let buffer = [overlap.witness.seen.difference(&overlap.witness.newest), overlap.witness.newest.clone()];
            prop_assert!(every_step(&machine) || !overlap.witness.newest.is_empty());
            prop_assert!(holds(overlap.first, &buffer) && holds(overlap.second, &buffer));
        }
        let pairs = |overlaps: &[Overlap]| overlaps.iter().map(|o| (o.first, o.second)).collect::<BTreeSet<_>>();
        prop_assert_eq!(pairs(&findings.overlaps), overlaps_by_enumeration(&machine));
        let alone = overlaps(&machine);
        prop_assert_eq!(pairs(&alone), pairs(&findings.overlaps));
        for overlap in &alone {
            let buffer = [overlap.witness.seen.difference(&overlap.witness.newest), overlap.witness.newest.clone()];
            prop_assert!(holds(overlap.first, &buffer) && holds(overlap.second, &buffer));
        }
    }

    #[test]
    fn edges_that_never_fire_are_exact(machine in arbitrary::machine(&small_signature(), 2, 5)) {
        let machine = machine.bind(&small_signature()).unwrap();
        let findings = check(&machine);
        let never: BTreeSet<EdgeId> = findings.never_fire.iter().map(|(edge, _)| *edge).collect();
        let fired = firing_by_enumeration(&machine);
        let all: BTreeSet<EdgeId> = machine.machine().state_ids().flat_map(|s| machine.outgoing(s).to_vec()).collect();
        prop_assert_eq!(&never | &fired, all);
        prop_assert!(never.is_disjoint(&fired));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn comparison_is_exact((first, second) in arbitrary::machines(&tiny_signature(), 2, 4)) {
        let signature = tiny_signature();
        let (first, second) = (first.bind(&signature).unwrap(), second.bind(&signature).unwrap());
        for observations in [Observations::All, Observations::Single] {
            let alphabet: Vec<AtomSet> = subsets(&first)
                .filter(|o| observations == Observations::All || o.len() <= 1)
                .collect();
            let shortest = shortest_difference(&first, &second, &alphabet);
            let options = CompareOptions { observations, ..CompareOptions::default() };
            match compare(&first, &second, &options).unwrap() {
                Comparison::Different(difference) => {
                    let mode = first.machine().step_mode();
                    let trace = Trace::with_mode(mode, Kind::Incomplete, difference.trace.clone());
                    prop_assert_eq!(trace.steps(), &difference.trace[..], "not compressed");
                    let (a, b) = (behaviour(&first, trace.steps()), behaviour(&second, trace.steps()));
                    let last = a.len() - 1;
                    prop_assert_ne!(a[last], b[last]);
                    prop_assert_eq!(&a[..last], &b[..last]);
                    prop_assert_eq!(Some(trace.steps().len()), shortest);
                }
                Comparison::Equivalent { .. } => prop_assert_eq!(None, shortest),
            }
        }
    }
}

/// The laws above say something only if the random machines behave in every way that they tell apart.
mod random_machines {
    use super::*;

    const SAMPLE: usize = 500;

    #[track_caller]
    fn are_common(outcomes: [usize; 2]) {
        let enough = SAMPLE / 5;
        assert!(
            outcomes.iter().all(|n| *n >= enough),
            "{outcomes:?} of {SAMPLE}"
        );
    }

    /// Whether a run of the machine can leave its initial state at all.
    fn moves(machine: &BoundMachine) -> bool {
        let (lifted, fired) = (machine.machine(), firing_by_enumeration(machine));
        lifted
            .edges_from(lifted.initial())
            .any(|(id, edge)| edge.to != edge.from && fired.contains(&id))
    }

    #[test]
    fn are_equivalent_and_different() {
        let signature = tiny_signature();
        for observations in [Observations::All, Observations::Single] {
            let options = CompareOptions {
                observations,
                ..CompareOptions::default()
            };
            let mut outcomes = [0, 0];
            for (first, second) in arbitrary::sample(&arbitrary::machines(&signature, 2, 4), SAMPLE)
            {
                let same = first.edges() == second.edges();
                let (first, second) = (
                    first.bind(&signature).unwrap(),
                    second.bind(&signature).unwrap(),
                );
                match compare(&first, &second, &options).unwrap() {
                    Comparison::Equivalent { .. } if same || !moves(&first) => {}
                    Comparison::Equivalent { .. } => outcomes[0] += 1,
                    Comparison::Different(_) => outcomes[1] += 1,
                }
            }
            are_common(outcomes);
        }
    }

    #[test]
    fn overlap_and_do_not() {
        let mut outcomes = [0, 0];
        for machine in arbitrary::sample(
            &arbitrary::guarded_machine(&small_signature(), 2, 5),
            SAMPLE,
        ) {
            let competing = machine.state_ids().any(|state| {
                let targets: BTreeSet<_> = machine.edges_from(state).map(|(_, e)| e.to).collect();
                targets.len() > 1
            });
            let findings = check(&machine.bind(&small_signature()).unwrap());
            if competing {
                outcomes[usize::from(findings.overlaps.is_empty())] += 1;
            }
        }
        are_common(outcomes);
    }

    #[test]
    fn have_edges_that_fire_and_that_never_do() {
        let mut outcomes = [0, 0];
        for machine in arbitrary::sample(&arbitrary::machine(&small_signature(), 2, 5), SAMPLE) {
            let findings = check(&machine.bind(&small_signature()).unwrap());
            if !machine.edges().is_empty() {
                outcomes[usize::from(findings.never_fire.is_empty())] += 1;
            }
        }
        are_common(outcomes);
    }
}

/// Signatures with most of the vocabulary, each with a formula over it.
fn signature_and_formula() -> impl Strategy<Value = (Signature, Formula)> {
    prop::sample::subsequence(arbitrary::vocabulary(), 8..=11).prop_flat_map(|kept| {
        let signature = Signature::parse(kept).unwrap();
        let formula = arbitrary::formula(&signature);
        (Just(signature), formula)
    })
}

/// Eight atoms: every buffer can be gone through.
fn small_signature() -> Signature {
    Signature::parse([
        "goal", "p(a)", "p(b)", "p(c)", "q(a)", "q(b)", "on(a, b)", "on(a, a)",
    ])
    .unwrap()
}

/// Four atoms: every pair of runs can be gone through.
fn tiny_signature() -> Signature {
    Signature::parse(["goal", "p(a)", "p(b)", "q(a)"]).unwrap()
}

fn every_step(machine: &BoundMachine) -> bool {
    machine.machine().step_mode() == StepMode::All
}

/// Every observation that counts.
fn subsets(machine: &BoundMachine) -> impl Iterator<Item = AtomSet> + use<> {
    let ids: Vec<_> = machine.signature().ids().collect();
    let first = usize::from(!every_step(machine));
    (first..1_usize << ids.len()).map(move |bits| {
        ids.iter()
            .enumerate()
            .filter(|(i, _)| bits >> i & 1 == 1)
            .map(|(_, id)| *id)
            .collect()
    })
}

fn overlaps_by_enumeration(machine: &BoundMachine) -> BTreeSet<(EdgeId, EdgeId)> {
    let lifted = machine.machine();
    let all: Vec<AtomSet> = subsets(machine).collect();
    let mut open = Vec::new();
    for state in lifted.state_ids() {
        let edges = machine.outgoing(state);
        for (i, a) in edges.iter().enumerate() {
            let others = edges[i + 1..].iter();
            open.extend(
                others
                    .filter(|b| lifted.edge(*a).to != lifted.edge(**b).to)
                    .map(|b| (*a, *b)),
            );
        }
    }
    let mut found = BTreeSet::new();
    for newest in &all {
        for seen in all.iter().filter(|seen| newest.is_subset(seen)) {
            let buffer = [seen.clone(), newest.clone()];
            let holds =
                |edge: EdgeId| satisfies(&buffer, &lifted.edge(edge).formula, machine.signature());
            open.retain(|(a, b)| {
                let together = holds(*a) && holds(*b);
                if together {
                    found.insert((*a, *b));
                }
                !together
            });
        }
    }
    found
}

/// The edges that fire in some run, by walking through every run.
fn firing_by_enumeration(machine: &BoundMachine) -> BTreeSet<EdgeId> {
    let observations: Vec<AtomSet> = subsets(machine).collect();
    let mut fired = BTreeSet::new();
    for state in machine.machine().state_ids() {
        let mut visited = HashSet::from([AtomSet::new()]);
        let mut queue = vec![AtomSet::new()];
        while let Some(seen) = queue.pop() {
            for newest in &observations {
                let union = seen.union(newest);
                let edge = machine.choose(state, newest, &union);
                fired.extend(edge);
                let stays = edge.is_none_or(|e| machine.machine().edge(e).to == state);
                if stays && visited.insert(union.clone()) {
                    queue.push(union);
                }
            }
        }
    }
    fired
}

/// The length of a shortest trace that tells the machines apart, by going through every pair of runs.
fn shortest_difference(
    first: &BoundMachine,
    second: &BoundMachine,
    alphabet: &[AtomSet],
) -> Option<usize> {
    let mut open = VecDeque::from([(Run::new(first), Run::new(second), None, 0)]);
    let mut visited = HashSet::new();
    while let Some((a, b, last, length)) = open.pop_front() {
        for (i, observation) in alphabet.iter().enumerate() {
            if last == Some(i) && !every_step(first) {
                continue;
            }
            let (mut a, mut b) = (a.clone(), b.clone());
            let rewards = (
                a.step(first, observation).reward,
                b.step(second, observation).reward,
            );
            let progress = (
                first.machine().status(a.state()),
                second.machine().status(b.state()),
            );
            if progress.0 != progress.1 || rewards.0 != rewards.1 {
                return Some(length + 1);
            }
            let key = (
                (a.state(), a.seen().clone()),
                (b.state(), b.seen().clone()),
                i,
            );
            if progress.0 == MachineStatus::Running && visited.insert(key) {
                open.push_back((a, b, Some(i), length + 1));
            }
        }
    }
    None
}
