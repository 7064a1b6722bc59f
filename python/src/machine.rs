//! `form_core`'s machines: read, written, built, checked, drawn, ground and compared.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use form_core::{
    CompareOptions, Comparison, Formula, GroundObservations, GroundOptions, NeverFires,
    Observations, StateId, StepMode, Undecided,
};
use form_formats::{MachineFormat, ToroIcarteOptions, read_machine};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};

use crate::errors::{self, record};
use crate::files;
use crate::logic::{Signature, SignatureLike};

/// A first-order reward machine.
///
/// >>> from formrl import Machine
/// >>> machine = Machine(
/// ...     name="all_yellow",
/// ...     initial="u0",
/// ...     accepting="done",
/// ...     edges=[("u0", "forall X. yellow(X)", "u1"), ("u1", "goal", "done")],
/// ... )
/// >>> machine.states
/// ['u0', 'u1', 'done']
/// >>> machine == Machine.parse(str(machine))
/// True
#[pyclass(module = "formrl", frozen)]
pub struct Machine {
    pub machine: Arc<form_core::Machine>,
}

impl Machine {
    pub fn of(machine: form_core::Machine) -> Self {
        Self {
            machine: Arc::new(machine),
        }
    }

    fn bound(&self, signature: Option<&Signature>) -> PyResult<form_core::BoundMachine> {
        let signature = signature.map_or_else(
            || Arc::new(self.machine.generic_signature()),
            |signature| signature.signature.clone(),
        );
        form_core::BoundMachine::new(self.machine.clone(), signature)
            .map_err(|error| errors::core(&error))
    }
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (*, initial, edges, accepting, rejecting=None, name="machine", states=None, steps="changes"))]
    fn new(
        initial: &str,
        edges: &Bound<'_, PyAny>,
        accepting: &str,
        rejecting: Option<&str>,
        name: &str,
        states: Option<Vec<String>>,
        steps: &str,
    ) -> PyResult<Self> {
        let mut builder = form_core::Machine::builder(name)
            .initial(initial)
            .accept(accepting)
            .step_mode(step_mode(steps)?);
        if let Some(rejecting) = rejecting {
            builder = builder.reject(rejecting);
        }
        if let Some(states) = states {
            builder = builder.states(states);
        }
        for (i, edge) in edges.try_iter()?.enumerate() {
            let (source, formula, target, reward) = parts(i, &edge?)?;
            let parsed: Formula = formula.parse().map_err(|error| {
                let place = format!("edge {} ({source} -> {target})", i + 1);
                errors::core(&form_core::Error::Within {
                    place,
                    source: Box::new(error),
                })
            })?;
            builder = builder.edge_with(&source, &target, parsed, reward);
        }
        let machine = builder.build().map_err(|error| errors::core(&error))?;
        Ok(Self::of(machine))
    }

    /// Which environment steps it observes: `"changes"` or `"all"`.
    #[getter]
    fn steps(&self) -> &'static str {
        self.machine.step_mode().as_str()
    }

    /// The same machine, observing every change (`"changes"`) or every step (`"all"`).
    fn with_steps(&self, steps: &str) -> PyResult<Self> {
        let machine = (*self.machine).clone();
        Ok(Self::of(machine.with_step_mode(step_mode(steps)?)))
    }

    /// Reads the `.form` text of a machine.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        text.parse()
            .map(Self::of)
            .map_err(|error| errors::core(&error))
    }

    /// Reads a machine that is written in one line: formulae separated by `;`, the next step of a chain each, which ends in acceptance;
    /// `never FORMULA` rejects from every state, `u1 -> u0 : FORMULA` is a further edge.
    ///
    /// >>> from formrl import Machine
    /// >>> Machine.from_line("never lava; exists X. green(X); goal")
    /// <Machine "typed": 2 states + accept + reject, 4 edges>
    #[staticmethod]
    fn from_line(text: &str) -> PyResult<Self> {
        form_core::Machine::from_line(text)
            .map(Self::of)
            .map_err(|error| errors::core(&error))
    }

    /// Reads the JSON form of a machine.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        form_core::Machine::from_json(text)
            .map(Self::of)
            .map_err(|error| errors::core(&error))
    }

    /// Reads a machine file: `.form`, JSON, the paper's reference code or Toro Icarte's format.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(&path).map_err(|error| errors::file(&path, &error))?;
        let text = text.trim_start_matches('\u{feff}');
        let format = match has_extension(&path, "json") {
            true => MachineFormat::Json,
            false => MachineFormat::detect(text),
        };
        read_machine(text, format, &ToroIcarteOptions::default())
            .map(|read| Self::of(read.machine))
            .map_err(|error| errors::core(&error.in_file(&path.display().to_string())))
    }

    /// Writes a machine file: JSON if its name ends in `.json`, and `.form` if it ends in that or has no extension.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        let text = if has_extension(&path, "json") {
            self.machine.to_json() + "\n"
        } else if has_extension(&path, "form") || path.extension().is_none() {
            self.machine.to_string()
        } else {
            let name = path.display().to_string();
            let problem = format!("{name}: machines are written as .form or .json");
            let class = errors::Class::File;
            return Err(errors::raise(class, &problem, Some(&name), None, None));
        };
        files::replace(&path, |file| {
            let written = file.write_all(text.as_bytes());
            written.map_err(|error| errors::file(&path, &error))
        })
    }

    /// The JSON form, on one line.
    fn to_json(&self) -> String {
        self.machine.to_json()
    }

    /// A drawing as SVG.
    fn to_svg(&self) -> String {
        form_core::to_svg(&self.machine)
    }

    /// A drawing for Graphviz.
    fn to_dot(&self) -> String {
        form_core::to_dot(&self.machine)
    }

    /// A drawing for Mermaid.
    fn to_mermaid(&self) -> String {
        form_core::to_mermaid(&self.machine)
    }

    /// A drawing in text.
    fn to_text(&self) -> String {
        form_core::to_text(&self.machine)
    }

    /// The paper's answer set program for it.
    #[pyo3(signature = (signature=None))]
    fn to_asp(&self, signature: Option<SignatureLike>) -> String {
        let signature = signature.as_ref().map(|given| &*given.get().signature);
        form_formats::to_asp(&self.machine, signature)
    }

    fn _repr_svg_(&self) -> String {
        self.to_svg()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.machine.name()
    }

    /// The names of its states, the terminal ones last unless it was written otherwise.
    #[getter]
    fn states(&self) -> Vec<String> {
        (self.machine.states().iter())
            .map(|name| name.as_str().to_owned())
            .collect()
    }

    /// The state in which runs start.
    #[getter]
    fn initial(&self) -> &str {
        self.machine.state_name(self.machine.initial())
    }

    /// The state that means the task is done.
    #[getter]
    fn accepting(&self) -> &str {
        self.machine.state_name(self.machine.accept())
    }

    /// The state that means the task has become impossible, if there is one.
    #[getter]
    fn rejecting(&self) -> Option<&str> {
        (self.machine.reject()).map(|state| self.machine.state_name(state))
    }

    /// The edges in the order in which they are tried, as `Edge(source, formula, target, reward)`.
    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        static EDGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = record(py, &EDGE, "Edge")?;
        let edges = self.machine.edges().iter().map(|edge| {
            class.call1((
                self.machine.state_name(edge.from),
                edge.formula.to_string(),
                self.machine.state_name(edge.to),
                edge.reward,
            ))
        });
        PyList::new(py, edges.collect::<PyResult<Vec<_>>>()?)
    }

    /// The same machine under another name.
    fn renamed(&self, name: &str) -> PyResult<Self> {
        let renamed = (*self.machine).clone().renamed(name);
        renamed.map(Self::of).map_err(|error| errors::core(&error))
    }

    /// What is wrong with the machine, as a `Report`; without a signature, over any objects.
    #[pyo3(signature = (signature=None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        signature: Option<SignatureLike>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bound = self.bound(signature.as_ref().map(SignatureLike::get))?;
        let findings = py.detach(|| form_core::check(&bound));
        report(py, &bound, &findings)
    }

    /// The equivalent machine without quantifiers, for observations of `"all"` sets of atoms or of a `"single"` atom at a time.
    #[pyo3(signature = (signature, *, observations="all"))]
    fn ground(
        &self,
        py: Python<'_>,
        signature: SignatureLike,
        observations: &str,
    ) -> PyResult<Self> {
        let options = GroundOptions {
            observations: match observations {
                "all" => GroundObservations::All,
                "single" => GroundObservations::Single,
                other => return Err(unknown_observations(other)),
            },
            ..GroundOptions::default()
        };
        let bound = self.bound(Some(signature.get()))?;
        py.detach(|| form_core::ground(&bound, &options))
            .map(Self::of)
            .map_err(|error| errors::core(&error))
    }

    /// A shortest trace on which two machines differ, as a `Difference`, or `None` if they are equivalent.
    ///
    /// >>> from formrl import Machine, Signature
    /// >>> both = Machine.parse("initial u0\naccept u1\nu0 -> u1 : forall X. yellow(X)")
    /// >>> either = Machine.parse("initial u0\naccept u1\nu0 -> u1 : exists X. yellow(X)")
    /// >>> both.diff(either, Signature(["yellow(o0)", "yellow(o1)"])).trace
    /// [['yellow(o0)']]
    #[pyo3(signature = (other, signature=None, *, observations="all", rewards=true))]
    fn diff<'py>(
        &self,
        py: Python<'py>,
        other: &Self,
        signature: Option<SignatureLike>,
        observations: &str,
        rewards: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let options = CompareOptions {
            observations: match observations {
                "all" => Observations::All,
                "single" => Observations::Single,
                unknown => return Err(unknown_observations(unknown)),
            },
            rewards,
            ..CompareOptions::default()
        };
        let signature = signature.map_or_else(
            || {
                let own = self.machine.generic_signature();
                Signature::of(Arc::new(own.union(&other.machine.generic_signature())))
            },
            |signature| Signature::of(signature.get().signature.clone()),
        );
        let machines = (
            self.bound(Some(&signature))?,
            other.bound(Some(&signature))?,
        );
        let compared = py.detach(|| form_core::compare(&machines.0, &machines.1, &options));
        match compared.map_err(|error| errors::core(&error))? {
            Comparison::Equivalent { .. } => Ok(None),
            Comparison::Different(difference) => {
                static DIFFERENCE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
                static REACTION: PyOnceLock<Py<PyType>> = PyOnceLock::new();
                let reaction = |machine: &Self, reaction: form_core::Reaction| {
                    record(py, &REACTION, "Reaction")?.call1((
                        machine.machine.state_name(reaction.state),
                        reaction.status.as_str(),
                        reaction.reward,
                    ))
                };
                let trace: Vec<Vec<String>> = (difference.trace.iter())
                    .map(|step| signature.signature.texts(step))
                    .collect();
                let (first, second) = (
                    reaction(self, difference.first)?,
                    reaction(other, difference.second)?,
                );
                let class = record(py, &DIFFERENCE, "Difference")?;
                class.call1((trace, first, second)).map(Some)
            }
        }
    }

    fn __str__(&self) -> String {
        self.machine.to_string()
    }

    fn __repr__(&self) -> String {
        let machine = &self.machine;
        format!(
            "<Machine {:?}: {}>",
            machine.name(),
            machine.describe_size()
        )
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Self>()
            .is_ok_and(|other| other.get().machine == self.machine)
    }

    pub fn __hash__(&self) -> u64 {
        // Not the rewards: two of them can be equal and yet written differently.
        let mut hasher = DefaultHasher::new();
        self.machine.name().hash(&mut hasher);
        self.states().hash(&mut hasher);
        for edge in self.machine.edges() {
            (edge.from, edge.to, edge.formula.to_string()).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((
            py.get_type::<Self>().getattr("from_json")?,
            (self.to_json(),),
        ))
    }
}

fn step_mode(steps: &str) -> PyResult<StepMode> {
    steps.parse().map_err(PyValueError::new_err::<String>)
}

/// Source, formula, target and reward of what stands for an edge.
fn parts(i: usize, edge: &Bound<'_, PyAny>) -> PyResult<(String, String, String, Option<f64>)> {
    let wrong = || {
        errors::wrong_type(format!(
            "edge {}: expected (source, formula, target) or (source, formula, target, reward), got {}",
            i + 1,
            edge.repr()
                .map_or_else(|_| "something else".to_owned(), |text| text.to_string())
        ))
    };
    let tuple = edge.cast::<PyTuple>().map_err(|_| wrong())?;
    match tuple.len() {
        3 => {
            let (source, formula, target) = tuple.extract().map_err(|_| wrong())?;
            Ok((source, formula, target, None))
        }
        4 => tuple.extract().map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

fn unknown_observations(given: &str) -> PyErr {
    PyValueError::new_err(format!(
        "observations are \"all\" or \"single\", not {given:?}"
    ))
}

/// The findings as a `Report`.
fn report<'py>(
    py: Python<'py>,
    bound: &form_core::BoundMachine,
    findings: &form_core::Findings,
) -> PyResult<Bound<'py, PyAny>> {
    static REPORT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static OVERLAP: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (machine, signature) = (bound.machine(), bound.signature());
    let name = |state: &StateId| machine.state_name(*state).to_owned();
    let overlaps = (findings.overlaps.iter())
        .map(|overlap| {
            record(py, &OVERLAP, "Overlap")?.call1((
                name(&overlap.state),
                overlap.first.index(),
                overlap.second.index(),
                overlap.witness.describe(signature),
                overlap.in_a_run,
            ))
        })
        .collect::<PyResult<Vec<_>>>()?;
    let never_fire: Vec<(usize, &str)> = (findings.never_fire.iter())
        .map(|(edge, why)| {
            let why = match why {
                NeverFires::Contradiction => "contradiction",
                NeverFires::Shadowed => "shadowed",
                NeverFires::LeftBefore => "left-before",
            };
            (edge.index(), why)
        })
        .collect();
    let undecided: Vec<Vec<usize>> = (findings.undecided.iter())
        .map(|question| match question {
            Undecided::Overlap(first, second) => vec![first.index(), second.index()],
            Undecided::Fires(edge) => vec![edge.index()],
        })
        .collect();
    let without_positive: Vec<usize> = (machine.edges_without_positive_atom().iter())
        .map(|edge| edge.index())
        .collect();
    record(py, &REPORT, "Report")?.call1((
        findings.is_deterministic(),
        overlaps,
        never_fire,
        findings.unreachable.iter().map(name).collect::<Vec<_>>(),
        findings.cannot_accept.iter().map(name).collect::<Vec<_>>(),
        without_positive,
        undecided,
    ))
}
