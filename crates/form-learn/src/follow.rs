//! All consistent machines with given [skeletons](crate::skeletons), found without a solver: a depth-first search that follows
//! traces through the machine while it is being built.
//!
//! For machines without cycles whose edges have one atom each, negations aside: states with one edge, or observations that are
//! letters. States are numbered topologically, so when the edges of a state are chosen it is known where each trace enters it.
//! Every trace that ends must leave it: the one with the fewest atoms left to leave by says which to try (a hitting set). A branch
//! ends as soon as a trace gets stuck, is over too early, or needs more [stays](crate::cuts) than there are states on any path, or
//! if other atoms have led to the same places in all traces and failed. Skeletons that begin alike share their first states. A
//! complete machine is replayed on all traces; those that refute it are followed from then on, too (CEGIS).

use std::collections::HashSet;
use std::ops::Range;

use form_core::Kind;

use crate::budget::Budget;
use crate::followed::Followed;
use crate::outcome::Learnt;
use crate::problem::Problem;
use crate::shape::Shape;
use crate::skeletons::Skeleton;
use crate::traces::TracePrefix;
use crate::vocabulary::LearnableAtom;

/// A machine: source, target and atom of each edge, in order.
pub(crate) type Edges = Vec<(usize, usize, usize)>;

/// The machines that were found.
pub(crate) struct Found {
    pub(crate) machines: Vec<Edges>,
    /// Whether these are all.
    pub(crate) complete: bool,
    /// The nodes of the search tree that were not visited.
    pub(crate) nodes_left: usize,
}

/// What is searched, and how far.
pub(crate) struct Task<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) shape: Shape,
    /// The atoms that edges are made of.
    pub(crate) atoms: &'a [LearnableAtom],
    /// How many traces of each end are followed from the start.
    pub(crate) seeds: usize,
    /// The most nodes of the search tree that are visited.
    pub(crate) nodes: usize,
    /// The most machines that are found.
    pub(crate) machines: usize,
}

/// The consistent machines with one of these skeletons, which give the number of atoms of each connection. `make` is the machine
/// with the given edges.
pub(crate) fn machines(
    task: Task<'_>,
    skeletons: &[Skeleton],
    make: impl Fn(&Edges) -> Learnt,
    budget: &Budget,
) -> Found {
    let states = task.shape.states;
    let mut plans: Vec<Plan> = (skeletons.iter())
        .map(|skeleton| Plan::new(skeleton, states))
        .collect();
    plans.sort_by(|a, b| a.rows.cmp(&b.rows));
    let seeds = task.problem.strongest(states, task.seeds, budget);
    let mut search = Search {
        budget,
        make,
        nodes: task.nodes,
        task,
        plans,
        edges: vec![Vec::new(); states],
        followed: Vec::new(),
        failed: HashSet::new(),
        remembered: REMEMBERED,
        unchecked: UNCHECKED,
        found: Vec::new(),
    };
    let all = 0..search.plans.len();
    let followed = (seeds.iter()).try_for_each(|prefix| search.follow(prefix));
    let complete = followed
        .and_then(|()| search.enter(0, all, Vec::new()))
        .is_ok();
    Found {
        machines: search.found,
        complete,
        nodes_left: search.nodes,
    }
}

/// A skeleton, state by state.
struct Plan {
    /// For each state the targets of its edges, and how many there are.
    rows: Vec<Vec<(usize, usize)>>,
    /// For each state the states on the longest path from it to a terminal one; 0 if there is none.
    longest: Vec<usize>,
    /// For each state its last predecessor.
    last: Vec<Option<usize>>,
}

impl Plan {
    fn new(skeleton: &Skeleton, states: usize) -> Self {
        let mut rows = vec![Vec::new(); states];
        let mut last = vec![None; states];
        for &(from, to, number) in skeleton {
            rows[from].push((to, number.unwrap_or(1)));
            if to < states {
                last[to] = last[to].max(Some(from));
            }
        }
        let mut longest = vec![0; states];
        for from in (0..states).rev() {
            rows[from].sort_unstable();
            let paths = rows[from].iter().map(|(to, _)| match *to < states {
                true if longest[*to] == 0 => 0,
                true => longest[*to] + 1,
                false => 1,
            });
            longest[from] = paths.max().unwrap_or(0);
        }
        Self {
            rows,
            longest,
            last,
        }
    }

    /// The number of edges of a state.
    fn edges(&self, state: usize) -> usize {
        self.rows[state].iter().map(|(_, number)| number).sum()
    }
}

/// The state that a trace is in, and after how many observations it entered it.
type Place = (u32, u32);

/// A limit was reached.
struct Limit;

struct Search<'a, F> {
    task: Task<'a>,
    budget: &'a Budget,
    make: F,
    plans: Vec<Plan>,
    /// For each state the targets and atoms of its edges.
    edges: Vec<Vec<(usize, usize)>>,
    followed: Vec<Followed>,
    /// States, plans and places from which no machine is consistent.
    failed: HashSet<(usize, Range<usize>, Vec<Place>)>,
    /// How many more places may be remembered so.
    remembered: usize,
    /// The nodes that may still be visited.
    nodes: usize,
    /// The entries of tables that may still be made without a look at the budget.
    unchecked: usize,
    found: Vec<Edges>,
}

impl<F: Fn(&Edges) -> Learnt> Search<'_, F> {
    /// Follows a trace. A machine for small traces is found even without any time.
    fn follow(&mut self, prefix: &TracePrefix) -> Result<(), Limit> {
        let problem = self.task.problem;
        let steps = problem.traces.steps(prefix);
        let entries = steps.len() * self.task.atoms.len();
        self.unchecked = self.unchecked.saturating_sub(entries);
        if self.unchecked == 0 {
            self.budget.check().ok_or(Limit)?;
        }
        self.followed
            .push(Followed::new(problem, self.task.atoms, prefix));
        Ok(())
    }

    /// Where the traces are that have been followed since, when the edges of all states before this one are chosen; `false` if one of
    /// them refutes these edges already.
    fn catch_up(&self, state: usize, places: &mut Vec<Place>) -> bool {
        for trace in &self.followed[places.len()..] {
            let mut place = (0, 0);
            while (place.0 as usize) < state {
                match self.leave(trace, place) {
                    Some(next) => place = next,
                    None => break,
                }
            }
            let (at, entered) = (place.0 as usize, place.1 as usize);
            let is_inner = at < self.task.shape.states;
            let is_possible = match self.end(trace) {
                None => is_inner,
                Some(_) if is_inner => at >= state && entered < trace.length,
                Some(end) => at == end && entered == trace.length,
            };
            if !is_possible {
                return false;
            }
            places.push(place);
        }
        true
    }

    /// The terminal state in which a trace must end.
    fn end(&self, trace: &Followed) -> Option<usize> {
        match trace.kind {
            Kind::Goal => Some(self.task.shape.accept()),
            Kind::DeadEnd => Some(self.task.shape.reject()),
            Kind::Incomplete => None,
        }
    }

    /// The place of a trace after it has left a state; `None` if it stays there for good.
    fn leave(&self, trace: &Followed, (state, entered): Place) -> Option<Place> {
        let after = trace.left(entered);
        let ways = self.edges[state as usize].iter();
        let (left, to) = ways
            .filter_map(|(to, atom)| Some((after[*atom]?, to)))
            .min()?;
        Some((*to as u32, left.get()))
    }

    /// Chooses the edges of a state and of all later ones, by any of these plans; whether there may be a consistent machine.
    fn enter(
        &mut self,
        state: usize,
        plans: Range<usize>,
        mut places: Vec<Place>,
    ) -> Result<bool, Limit> {
        if state == self.task.shape.states {
            return self.replay(plans);
        }
        if !self.catch_up(state, &mut places) || !self.can_go_on(state, &plans, &places) {
            return Ok(false);
        }
        let key = (state, plans.clone(), places);
        if self.failed.contains(&key) {
            return Ok(false);
        }
        let mut found = false;
        let mut first = plans.start;
        while first < plans.end {
            let row = self.plans[first].rows[state].clone();
            let alike = self.plans[first..plans.end].iter();
            let alike = alike.take_while(|plan| plan.rows[state] == row).count();
            let group = first..first + alike;
            let mut branch = Branch {
                state,
                longest: self.longest(&group),
                plans: group,
                row,
                banned: vec![false; self.task.atoms.len()],
                places: key.2.clone(),
            };
            found |= self.choose(&mut branch)?;
            first += alike;
        }
        if !found {
            let more = self.remembered.checked_sub(key.2.len());
            if let Some(more) = more {
                self.remembered = more;
                self.failed.insert(key);
            }
        }
        Ok(found)
    }

    /// Whether each state from this one on that has one edge by all these plans has an atom by which all traces that are there now
    /// can leave it.
    fn can_go_on(&self, state: usize, plans: &Range<usize>, places: &[Place]) -> bool {
        let plans = &self.plans[plans.clone()];
        (state..self.task.shape.states).all(|later| {
            if plans.iter().any(|plan| plan.edges(later) != 1) {
                return true;
            }
            let longest = plans.iter().map(|plan| plan.longest[later]).max();
            let ends = (self.followed.iter().zip(places)).filter(|(trace, place)| {
                place.0 as usize == later && trace.kind != Kind::Incomplete
            });
            let leaves = |atom: usize, trace: &Followed, entered: u32| {
                let left = trace.left(entered)[atom];
                left.is_some_and(|left| Some(trace.stays[left.get() as usize]) < longest)
            };
            let is_common = |atom: usize| {
                (ends.clone()).all(|(trace, (_, entered))| leaves(atom, trace, *entered))
            };
            (0..self.task.atoms.len()).any(is_common)
        })
    }

    /// For each state the longest path in any of these plans.
    fn longest(&self, plans: &Range<usize>) -> Vec<usize> {
        let plans = &self.plans[plans.clone()];
        (0..self.task.shape.states)
            .map(|state| plans.iter().map(|plan| plan.longest[state]).max())
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// Chooses the next edge of a state, or goes on to the next state if it has them all.
    fn choose(&mut self, branch: &mut Branch) -> Result<bool, Limit> {
        self.nodes = self.nodes.checked_sub(1).ok_or(Limit)?;
        if self.nodes.is_multiple_of(256) {
            self.budget.check().ok_or(Limit)?;
        }
        if !self.catch_up(branch.state, &mut branch.places) {
            return Ok(false);
        }
        let Some(candidates) = self.candidates(branch) else {
            return Ok(false);
        };
        if branch.row.iter().all(|(_, left)| *left == 0) {
            return match self.after(branch) {
                Some(places) => self.enter(branch.state + 1, branch.plans.clone(), places),
                None => Ok(false),
            };
        }
        let mut found = false;
        for &atom in &candidates {
            for i in 0..branch.row.len() {
                if branch.row[i].1 == 0 {
                    continue;
                }
                branch.row[i].1 -= 1;
                self.edges[branch.state].push((branch.row[i].0, atom));
                branch.banned[atom] = true;
                let below = self.choose(branch);
                self.edges[branch.state].pop();
                branch.row[i].1 += 1;
                found |= below?;
            }
        }
        // Each was banned while the later ones were tried, so that every set of edges is met once.
        for atom in candidates {
            branch.banned[atom] = false;
        }
        Ok(found)
    }

    /// The atoms to try next on an edge of a state; `None` if a trace refutes the edges chosen so far.
    fn candidates(&self, branch: &Branch) -> Option<Vec<usize>> {
        let states = self.task.shape.states;
        let longest = (branch.row.iter())
            .map(|(to, _)| match *to < states {
                true => branch.longest[*to],
                false => 0,
            })
            .max()
            .unwrap_or(0);
        let open = branch.row.iter().any(|(_, left)| *left > 0);
        let mut fewest: Option<Vec<usize>> = None;
        for (trace, place) in self.followed.iter().zip(&branch.places) {
            if place.0 as usize != branch.state || trace.kind == Kind::Incomplete {
                continue;
            }
            // Further edges only let it leave earlier, and then it needs no fewer stays.
            let is_possible = |left: u32| trace.stays[left as usize] <= longest;
            match self.leave(trace, *place) {
                Some((_, left)) if is_possible(left) => {}
                None if open => {
                    let after = trace.left(place.1);
                    let ways = (0..self.task.atoms.len()).filter(|atom| {
                        let left = after[*atom];
                        !branch.banned[*atom] && left.is_some_and(|left| is_possible(left.get()))
                    });
                    let ways: Vec<usize> = ways.collect();
                    if ways.is_empty() {
                        return None;
                    }
                    if fewest.as_ref().is_none_or(|few| ways.len() < few.len()) {
                        fewest = Some(ways);
                    }
                }
                _ => return None,
            }
        }
        let all = || (0..self.task.atoms.len()).filter(|atom| !branch.banned[*atom]);
        Some(fewest.unwrap_or_else(|| all().collect()))
    }

    /// The places after a state whose edges are chosen; `None` if a followed trace refutes them.
    fn after(&self, branch: &Branch) -> Option<Vec<Place>> {
        let shape = &self.task.shape;
        if self.is_renumbered(branch.state, &branch.plans) {
            return None;
        }
        (self.followed.iter().zip(&branch.places))
            .map(|(trace, place)| {
                if place.0 as usize != branch.state {
                    return Some(*place);
                }
                let next = self.leave(trace, *place);
                let end = self.end(trace);
                match next {
                    None => end.is_none().then_some(*place),
                    Some((to, left)) => {
                        let (to, left) = (to as usize, left as usize);
                        let is_possible = match to < shape.states {
                            true if end.is_none() => true,
                            true => left < trace.length && trace.stays[left] <= branch.longest[to],
                            false => end == Some(to) && left == trace.length,
                        };
                        is_possible.then_some((to as u32, left as u32))
                    }
                }
            })
            .collect()
    }

    /// Whether the states that a state is the last predecessor of, by all these plans, are not numbered by their first atoms: then
    /// the same machine is met with other numbers.
    fn is_renumbered(&self, state: usize, plans: &Range<usize>) -> bool {
        let first = |target: usize| {
            let edges = self.edges[state].iter();
            edges
                .filter(|(to, _)| *to == target)
                .map(|(_, atom)| *atom)
                .min()
        };
        (2..self.task.shape.states).any(|to| {
            let is_last = |plan: &Plan| [plan.last[to - 1], plan.last[to]] == [Some(state); 2];
            first(to - 1) > first(to) && self.plans[plans.clone()].iter().all(is_last)
        })
    }

    /// Replays the machine on all traces; whether it may be consistent.
    fn replay(&mut self, plans: Range<usize>) -> Result<bool, Limit> {
        if (0..self.task.shape.states).any(|state| self.is_renumbered(state, &plans)) {
            // Not the fault of the places: with other atoms the same ones may lead to a machine.
            return Ok(true);
        }
        let rows = self.edges.iter().enumerate();
        let mut edges: Edges = rows
            .flat_map(|(from, row)| row.iter().map(move |(to, atom)| (from, *to, *atom)))
            .collect();
        edges.sort_unstable();
        let counterexamples = self.task.problem.counterexamples(&(self.make)(&edges), 0);
        if counterexamples.is_empty() {
            if self.found.len() == self.task.machines {
                return Err(Limit);
            }
            self.found.push(edges);
            return Ok(true);
        }
        for counterexample in &counterexamples {
            self.follow(counterexample)?;
        }
        Ok(false)
    }
}

/// The edges of one state while they are chosen.
struct Branch {
    state: usize,
    /// The plans that agree on the edges of this state.
    plans: Range<usize>,
    /// The longest path from each state in any of them.
    longest: Vec<usize>,
    /// The targets, and how many edges to each are left to choose.
    row: Vec<(usize, usize)>,
    /// The atoms that are chosen, or were tried before.
    banned: Vec<bool>,
    places: Vec<Place>,
}

/// How many entries of tables are made before the budget is checked.
const UNCHECKED: usize = 1_000_000;
/// How many places are remembered.
const REMEMBERED: usize = 1_000_000;
