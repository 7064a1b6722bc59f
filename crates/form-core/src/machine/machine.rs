//! First-order reward machines (Definition 3.2) and their validation.

use std::collections::HashMap;
use std::fmt;

use crate::error::{Error, Result};
use crate::logic::atom::{Atom, Name};
use crate::logic::formula::Formula;

/// The number of a state within its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub(crate) u32);

/// The number of an edge within its machine, in declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeId(pub(crate) u32);

impl StateId {
    /// Position among the machine's states.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EdgeId {
    /// Position among the machine's edges.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge: the formula that has to hold, and the reward for taking it.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The state it leaves.
    pub from: StateId,
    /// The state it enters.
    pub to: StateId,
    /// What has to hold.
    pub formula: Formula,
    /// The reward stated for it; without one it is 1 into the accepting state and 0 elsewhere.
    pub reward: Option<f64>,
}

/// A validated machine.
///
/// It is lifted: it names predicates and becomes executable by [binding](Machine::bind) it to a signature.
///
/// ```
/// use form_core::Machine;
/// let machine: Machine = "
///     machine all_yellow
///     initial u0
///     accept  u_acc
///     u0 -> u1    : forall X. yellow(X)
///     u1 -> u_acc : goal
/// ".parse()?;
/// assert_eq!(machine.states().len(), 3);
/// # Ok::<(), form_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    name: String,
    states: Vec<Name>,
    initial: StateId,
    accept: StateId,
    reject: Option<StateId>,
    edges: Vec<Edge>,
}

impl Machine {
    /// Starts a machine to be built piece by piece.
    pub fn builder(name: &str) -> MachineBuilder {
        MachineBuilder(Draft {
            name: name.to_owned(),
            ..Draft::default()
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The states' names in order.
    pub fn states(&self) -> &[Name] {
        &self.states
    }

    /// The numbers of the states.
    pub fn state_ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states.len() as u32).map(StateId)
    }

    /// The name of a state.
    pub fn state_name(&self, state: StateId) -> &str {
        self.states[state.index()].as_str()
    }

    /// The state of that name.
    pub fn state(&self, name: &str) -> Option<StateId> {
        self.state_ids().find(|id| self.state_name(*id) == name)
    }

    /// Where runs start.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// The state that means the task is done.
    pub fn accept(&self) -> StateId {
        self.accept
    }

    /// The state that means the task has become impossible, if it has one.
    pub fn reject(&self) -> Option<StateId> {
        self.reject
    }

    /// Whether the state ends a run.
    pub fn is_terminal(&self, state: StateId) -> bool {
        state == self.accept || Some(state) == self.reject
    }

    /// The edges in declaration order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// One edge.
    pub fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge.index()]
    }

    /// The edges out of a state, in declaration order. Goes through all edges: for whole-machine work, group them once.
    pub fn edges_from(&self, state: StateId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        (self.edges.iter().enumerate())
            .filter(move |(_, edge)| edge.from == state)
            .map(|(i, edge)| (EdgeId(i as u32), edge))
    }

    /// The reward of taking an edge: its own, else 1 into the accepting state and 0 elsewhere.
    pub fn reward(&self, edge: EdgeId) -> f64 {
        let edge = self.edge(edge);
        edge.reward
            .unwrap_or(if edge.to == self.accept { 1.0 } else { 0.0 })
    }

    /// An edge as messages name it: `edge 2 (u0 -> u1)`.
    pub fn describe_edge(&self, edge: EdgeId) -> String {
        let Edge { from, to, .. } = self.edge(edge);
        place_of_edge(edge.index(), self.state_name(*from), self.state_name(*to))
    }

    /// All atomic formulae on the edges, without repetitions, in order of first occurrence.
    pub fn atoms(&self) -> Vec<&Atom> {
        let mut seen = std::collections::HashSet::new();
        let all = self.edges.iter().flat_map(|edge| edge.formula.atoms());
        all.filter(|atom| seen.insert(*atom)).collect()
    }

    /// What is allowed but probably not meant: edges without a positive atom.
    pub fn edges_without_positive_atom(&self) -> Vec<EdgeId> {
        let ids = (0..self.edges.len() as u32).map(EdgeId);
        ids.filter(|id| !self.edge(*id).formula.has_positive_atom())
            .collect()
    }

    /// The same machine under another name.
    pub fn renamed(mut self, name: &str) -> Result<Self> {
        check_machine_name(name)?;
        name.clone_into(&mut self.name);
        Ok(self)
    }
}

pub(crate) fn place_of_edge(index: usize, from: &str, to: &str) -> String {
    format!("edge {} ({from} -> {to})", index + 1)
}

/// Builds a [`Machine`] in Rust; the states are those that are mentioned, in order of first mention, the terminal ones last.
///
/// ```
/// use form_core::Machine;
/// let machine = Machine::builder("goal_twice")
///     .initial("u0")
///     .accept("u_acc")
///     .edge("u0", "u1", "goal")?
///     .edge("u1", "u_acc", "goal")?
///     .build()?;
/// # assert_eq!(machine.edges().len(), 2);
/// # Ok::<(), form_core::Error>(())
/// ```
#[must_use]
#[derive(Debug)]
pub struct MachineBuilder(Draft<String>);

impl MachineBuilder {
    /// Names the initial state.
    pub fn initial(mut self, state: &str) -> Self {
        self.0.initial = Some((state.to_owned(), "the initial state".to_owned()));
        self
    }

    /// Names the accepting state.
    pub fn accept(mut self, state: &str) -> Self {
        self.0.accept = Some((state.to_owned(), "the accepting state".to_owned()));
        self
    }

    /// Names the rejecting state.
    pub fn reject(mut self, state: &str) -> Self {
        self.0.reject = Some((state.to_owned(), "the rejecting state".to_owned()));
        self
    }

    /// Declares all states, in this order; edges may then name no others.
    pub fn states<T: AsRef<str>>(mut self, states: impl IntoIterator<Item = T>) -> Self {
        let place = |(i, name): (usize, T)| {
            let name = name.as_ref().to_owned();
            let place = format!("state {} ({name})", i + 1);
            (name, place)
        };
        self.0.states = Some(states.into_iter().enumerate().map(place).collect());
        self
    }

    /// Adds an edge with the formula that `formula` writes.
    pub fn edge(self, from: &str, to: &str, formula: &str) -> Result<Self> {
        let place = place_of_edge(self.0.edges.len(), from, to);
        let formula = formula
            .parse()
            .map_err(|error: Error| error.within(place))?;
        Ok(self.edge_with(from, to, formula, None))
    }

    /// Adds an edge, with its own reward if one is given.
    pub fn edge_with(
        mut self,
        from: &str,
        to: &str,
        formula: Formula,
        reward: Option<f64>,
    ) -> Self {
        let place = place_of_edge(self.0.edges.len(), from, to);
        self.0.edges.push(DraftEdge {
            from: (from.to_owned(), place.clone()),
            to: (to.to_owned(), place.clone()),
            formula,
            reward: reward.map(|reward| (reward, place)),
        });
        self
    }

    /// Validates what was built.
    pub fn build(self) -> Result<Machine> {
        let whole = || "the machine".to_owned();
        self.0
            .validate(whole())
            .map_err(|(place, problem)| Error::Machine { place, problem })
    }
}

/// A machine being read: names with the places they stand at, nothing checked yet.
#[derive(Debug)]
pub(crate) struct Draft<P> {
    pub(crate) name: String,
    pub(crate) states: Option<Vec<(String, P)>>,
    pub(crate) initial: Option<(String, P)>,
    pub(crate) accept: Option<(String, P)>,
    pub(crate) reject: Option<(String, P)>,
    pub(crate) edges: Vec<DraftEdge<P>>,
}

#[derive(Debug)]
pub(crate) struct DraftEdge<P> {
    pub(crate) from: (String, P),
    pub(crate) to: (String, P),
    pub(crate) formula: Formula,
    pub(crate) reward: Option<(f64, P)>,
}

impl<P> Default for Draft<P> {
    fn default() -> Self {
        Self {
            name: "machine".to_owned(),
            states: None,
            initial: None,
            accept: None,
            reject: None,
            edges: Vec::new(),
        }
    }
}

impl<P: Clone> Draft<P> {
    /// Checks everything a machine must satisfy; the first problem comes with its place, `whole` if it has none.
    pub(crate) fn validate(self, whole: P) -> std::result::Result<Machine, (P, String)> {
        check_machine_name(&self.name).map_err(|error| (whole.clone(), error.to_string()))?;
        let missing = |what: &str| (whole.clone(), format!("no {what} state is named"));
        let initial = self.initial.clone().ok_or_else(|| missing("initial"))?;
        let accept = self.accept.clone().ok_or_else(|| missing("accepting"))?;

        let mut states = States {
            numbers: HashMap::new(),
            names: Vec::new(),
            declared: self.states.is_some(),
        };
        for (name, place) in self.states.iter().flatten() {
            if states.numbers.contains_key(name) {
                return Err((
                    place.clone(),
                    format!("the state `{name}` is declared twice"),
                ));
            }
            states.add(name, place)?;
        }
        let initial_id = states.number(&initial)?;
        if !states.declared {
            // The terminal states come last, wherever they are mentioned.
            let terminal =
                [Some(&accept), self.reject.as_ref()].map(|t| t.map(|(name, _)| name.clone()));
            for edge in &self.edges {
                for mention in [&edge.from, &edge.to] {
                    if !terminal.contains(&Some(mention.0.clone())) {
                        states.number(mention)?;
                    }
                }
            }
        }
        let accept_id = states.number(&accept)?;
        let reject_id = self
            .reject
            .as_ref()
            .map(|reject| states.number(reject))
            .transpose()?;
        if accept_id == initial_id {
            return Err((
                accept.1,
                format!(
                    "`{}` is the initial state, it cannot be accepting too",
                    accept.0
                ),
            ));
        }
        if let Some((name, place)) = self.reject {
            if reject_id == Some(initial_id) {
                return Err((
                    place,
                    format!("`{name}` is the initial state, it cannot be rejecting too"),
                ));
            }
            if reject_id == Some(accept_id) {
                return Err((
                    place,
                    format!("`{name}` is the accepting state, it cannot be rejecting too"),
                ));
            }
        }
        let mut edges = Vec::with_capacity(self.edges.len());
        for edge in self.edges {
            let from = states.number(&edge.from)?;
            let to = states.number(&edge.to)?;
            if from == accept_id || Some(from) == reject_id {
                let kind = if from == accept_id {
                    "accepting"
                } else {
                    "rejecting"
                };
                let problem = format!(
                    "`{}` is the {kind} state: it cannot have outgoing edges",
                    edge.from.0
                );
                return Err((edge.from.1, problem));
            }
            if let Some((reward, place)) = edge
                .reward
                .clone()
                .filter(|(reward, _)| !reward.is_finite())
            {
                return Err((place, format!("the reward {reward} is not a finite number")));
            }
            edges.push(Edge {
                from,
                to,
                formula: edge.formula,
                reward: edge.reward.map(|(reward, _)| reward),
            });
        }
        Ok(Machine {
            name: self.name,
            states: states.names,
            initial: initial_id,
            accept: accept_id,
            reject: reject_id,
            edges,
        })
    }
}

/// The states known so far.
struct States {
    numbers: HashMap<String, StateId>,
    names: Vec<Name>,
    declared: bool,
}

impl States {
    fn number<P: Clone>(
        &mut self,
        (name, place): &(String, P),
    ) -> std::result::Result<StateId, (P, String)> {
        match self.numbers.get(name) {
            Some(id) => Ok(*id),
            None if self.declared => {
                Err((place.clone(), format!("the state `{name}` is not declared")))
            }
            None => self.add(name, place),
        }
    }

    fn add<P: Clone>(
        &mut self,
        name: &str,
        place: &P,
    ) -> std::result::Result<StateId, (P, String)> {
        let id = StateId(self.names.len() as u32);
        let checked = Name::new(name).map_err(|error| (place.clone(), error.to_string()))?;
        self.names.push(checked);
        self.numbers.insert(name.to_owned(), id);
        Ok(id)
    }
}

/// Machine names appear in files and file names: letters, digits, `_`, `-` and `.`.
pub(crate) fn check_machine_name(name: &str) -> Result<()> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(allowed) {
        return Err(Error::BadName {
            name: name.to_owned(),
            problem: "a machine's name consists of letters, digits, `_`, `-` and `.`".to_owned(),
        });
    }
    Ok(())
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state {}", self.0)
    }
}
