//! Building a machine, and the validation that every machine passes, whether it is built in Rust or read from a file.

use std::collections::HashMap;

use super::machine::{Edge, Machine, StateId, place_of_edge};
use super::step_mode::StepMode;
use crate::error::{Error, Result};
use crate::logic::formula::Formula;
use crate::logic::identifier::Name;

impl Machine {
    /// Starts building a machine.
    pub fn builder(name: &str) -> MachineBuilder {
        MachineBuilder(Draft {
            name: name.to_owned(),
            ..Draft::default()
        })
    }

    /// The same machine, observing these environment steps.
    #[must_use]
    pub fn with_step_mode(mut self, mode: StepMode) -> Self {
        self.step_mode = mode;
        self
    }

    /// The same machine with another name.
    pub fn renamed(mut self, name: &str) -> Result<Self> {
        check_machine_name(name)?;
        name.clone_into(&mut self.name);
        Ok(self)
    }
}

/// Builds a [`Machine`]. Its states are those that are mentioned, in order of first mention, the terminal ones last.
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

    /// Says which environment steps the machine observes; without it, every change.
    pub fn step_mode(mut self, mode: StepMode) -> Self {
        self.0.step_mode = Some(mode);
        self
    }

    /// Adds an edge with a formula in text form.
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
        self.0
            .validate("the machine".to_owned())
            .map_err(|(place, problem)| Error::Machine { place, problem })
    }
}

/// A machine before validation: every name with its place `P`, such as a range of bytes in a file.
#[derive(Debug)]
#[allow(missing_docs, reason = "the fields are those of a machine")]
pub struct Draft<P> {
    pub name: String,
    /// `None`: the states are those that are mentioned.
    pub states: Option<Vec<(String, P)>>,
    pub initial: Option<(String, P)>,
    pub accept: Option<(String, P)>,
    pub reject: Option<(String, P)>,
    pub edges: Vec<DraftEdge<P>>,
    /// `None`: every change.
    pub step_mode: Option<StepMode>,
}

/// An edge before validation.
#[derive(Debug)]
#[allow(missing_docs, reason = "the fields are those of an edge")]
pub struct DraftEdge<P> {
    pub from: (String, P),
    pub to: (String, P),
    pub formula: Formula,
    pub reward: Option<(f64, P)>,
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
            step_mode: None,
        }
    }
}

impl<P: Clone> Draft<P> {
    /// Checks all that a machine must satisfy. The first problem comes with its place, or `whole` if it has none.
    pub fn validate(self, whole: P) -> std::result::Result<Machine, (P, String)> {
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
            step_mode: self.step_mode.unwrap_or_default(),
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
