//! `form_core`'s logic: signatures, and reading observations from what Python programs have at hand.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use form_core::{AtomId, AtomSet};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFrozenSet, PyInt, PyIterator, PyList, PySet, PyString,
};

use crate::errors::{self, Class};

/// The ground atoms that can be observed, in the order in which they are given: that of the columns of arrays and of the bits of
/// integers. A set, which has no order, is taken in natural order. Signatures are equal if their columns are.
///
/// >>> from formrl import Signature
/// >>> signature = Signature(["yellow(o10)", "yellow(o2)", "goal"])
/// >>> signature.atoms
/// ['yellow(o10)', 'yellow(o2)', 'goal']
/// >>> signature.index("yellow(o2)"), "lava" in signature, len(signature)
/// (1, False, 3)
/// >>> Signature({"yellow(o10)", "yellow(o2)", "goal"}).atoms
/// ['goal', 'yellow(o2)', 'yellow(o10)']
#[pyclass(module = "formrl", frozen, sequence)]
#[derive(Clone)]
pub struct Signature {
    pub signature: Arc<form_core::Signature>,
    /// The atom of each column.
    pub ids: Arc<[AtomId]>,
}

impl Signature {
    /// In natural order.
    pub fn of(signature: Arc<form_core::Signature>) -> Self {
        let ids = signature.ids().collect();
        Self { signature, ids }
    }

    /// In the order of these, each of which counts once.
    fn ordered(atoms: &[String]) -> form_core::Result<Self> {
        let signature = Arc::new(form_core::Signature::parse(atoms)?);
        let mut known = BTreeSet::new();
        let mut ids = Vec::with_capacity(signature.len());
        for atom in atoms {
            let id = signature.id_of_written(atom)?;
            if known.insert(id) {
                ids.push(id);
            }
        }
        let ids = ids.into();
        Ok(Self { signature, ids })
    }

    /// The observation that a Python value stands for.
    pub fn observation(&self, labels: &Bound<'_, PyAny>) -> PyResult<AtomSet> {
        observation(&self.signature, &self.ids, labels)
    }
}

#[pymethods]
impl Signature {
    #[new]
    fn new(atoms: &Bound<'_, PyAny>) -> PyResult<Self> {
        let unordered = atoms.is_instance_of::<PySet>() || atoms.is_instance_of::<PyFrozenSet>();
        let atoms = texts(atoms, "atoms")?;
        let made = match unordered {
            true => form_core::Signature::parse(atoms).map(|known| Self::of(Arc::new(known))),
            false => Self::ordered(&atoms),
        };
        made.map_err(|error| errors::core(&error))
    }

    /// The atoms in order.
    #[getter]
    pub fn atoms(&self) -> Vec<String> {
        (self.ids.iter())
            .map(|id| self.signature.atom(*id).to_string())
            .collect()
    }

    /// The position of an atom; a `LabelError` if it cannot be observed.
    fn index(&self, atom: &str) -> PyResult<usize> {
        let id = self.signature.id_of_written(atom);
        let id = id.map_err(|error| errors::core(&error))?;
        // Every atom of the signature has a column.
        Ok(self.ids.iter().position(|known| *known == id).unwrap_or(0))
    }

    /// An observation as a row of booleans, one per atom.
    ///
    /// >>> from formrl import Signature
    /// >>> Signature(["a", "b", "c"]).encode({"c", "a"}).tolist()
    /// [True, False, True]
    fn encode<'py>(&self, labels: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let row = self.row(&self.observation(labels)?);
        Ok(PyArray1::from_vec(labels.py(), row))
    }

    /// The atoms of an observation, in order.
    ///
    /// >>> from formrl import Signature
    /// >>> Signature(["a", "b", "c"]).decode(0b110)
    /// ['b', 'c']
    fn decode(&self, labels: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        Ok(self.texts(&self.observation(labels)?))
    }

    /// The atoms of both: first its own, then those that only the other one has.
    fn union(&self, other: SignatureLike) -> PyResult<Self> {
        let mut atoms = self.atoms();
        atoms.extend(other.get().atoms());
        Self::ordered(&atoms).map_err(|error| errors::core(&error))
    }

    fn __len__(&self) -> usize {
        self.ids.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<String> {
        let length = self.ids.len() as isize;
        let index = if index < 0 { index + length } else { index };
        let id = usize::try_from(index).ok().and_then(|i| self.ids.get(i));
        id.map(|id| self.signature.atom(*id).to_string())
            .ok_or_else(|| pyo3::exceptions::PyIndexError::new_err("no atom has this number"))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.atoms())?.try_iter()
    }

    fn __contains__(&self, atom: &Bound<'_, PyAny>) -> bool {
        atom.cast::<PyString>()
            .ok()
            .and_then(|text| text.to_str().ok())
            .is_some_and(|text| self.signature.id_of_written(text).is_ok())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Self>()
            .is_ok_and(|other| self.same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.atoms().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("Signature({:?})", self.atoms())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (Vec<String>,)) {
        (py.get_type::<Self>().into_any(), (self.atoms(),))
    }
}

impl Signature {
    /// One boolean per atom.
    pub fn row(&self, set: &AtomSet) -> Vec<bool> {
        self.ids.iter().map(|id| set.contains(*id)).collect()
    }

    /// The atoms of a set, in order.
    pub fn texts(&self, set: &AtomSet) -> Vec<String> {
        (self.ids.iter().filter(|id| set.contains(**id)))
            .map(|id| self.signature.atom(*id).to_string())
            .collect()
    }

    /// Whether the columns are the same.
    pub fn same(&self, other: &Self) -> bool {
        self.signature == other.signature && self.ids == other.ids
    }
}

/// A signature, or the collection of atoms that one is made of.
pub struct SignatureLike(pub Py<Signature>);

impl SignatureLike {
    pub fn get(&self) -> &Signature {
        self.0.get()
    }
}

impl<'py> FromPyObject<'_, 'py> for SignatureLike {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.cast::<Signature>() {
            Ok(signature) => Ok(Self(signature.to_owned().unbind())),
            Err(_) => Ok(Self(Py::new(value.py(), Signature::new(&value)?)?)),
        }
    }
}

/// The words of a collection; a lone text is taken for the mistake it is. Of a dictionary from words to truth values, those that
/// are true.
pub fn texts(collection: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<String>> {
    if collection.is_instance_of::<PyString>() {
        return Err(errors::wrong_type(format!(
            "expected a collection of {what}, not one text: write [{}]",
            collection.repr()?
        )));
    }
    let items = members(collection)?.map_or_else(|| collection.try_iter(), |them| them.try_iter());
    let items = items.map_err(|_| {
        errors::wrong_type(format!(
            "expected a collection of {what}, not {}",
            type_name(collection)
        ))
    })?;
    items
        .map(|item| {
            let item = item?;
            item.cast::<PyString>()
                .map_err(|_| {
                    errors::wrong_type(format!(
                        "expected {what} as texts, but one of them is {}",
                        type_name(&item)
                    ))
                })?
                .to_str()
                .map(str::to_owned)
        })
        .collect()
}

/// Of a dictionary from labels to truth values, the labels that are true; nothing of another value.
fn members<'py>(labels: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyList>>> {
    let Ok(dict) = labels.cast::<PyDict>() else {
        return Ok(None);
    };
    let there = PyList::empty(labels.py());
    for (label, value) in dict.iter() {
        // Also numpy's booleans, and 0 and 1.
        let truth = match value.extract::<bool>() {
            Ok(truth) => Some(truth),
            Err(_) => match value.extract::<i64>() {
                Ok(number @ (0 | 1)) => Some(number == 1),
                _ => None,
            },
        };
        match truth {
            Some(true) => there.append(label)?,
            Some(false) => {}
            None => {
                return Err(errors::wrong_type(format!(
                    "a dictionary of labels says of each whether it is observed, True or False: {} has {}",
                    label.repr()?,
                    value.repr()?
                )));
            }
        }
    }
    Ok(Some(there))
}

/// The observation that a Python value stands for: a collection of labels, a dictionary from labels to truth values, a row of
/// booleans, or an integer whose bit `i` says whether atom `i` is there.
pub fn observation(
    signature: &form_core::Signature,
    ids: &[AtomId],
    labels: &Bound<'_, PyAny>,
) -> PyResult<AtomSet> {
    if labels.is_instance_of::<PyInt>() {
        return from_bits(ids, labels);
    }
    if let Ok(row) = labels.cast::<PyArray1<bool>>() {
        return from_row(ids, &row.readonly());
    }
    if labels.is_instance_of::<PyString>() || labels.is_instance_of::<PyBytes>() {
        return Err(errors::wrong_type(format!(
            "expected a collection of labels, not one text: write [{}]",
            labels.repr()?
        )));
    }
    if let Ok(dict) = labels.cast::<PyDict>() {
        // What is False has to be a label of the signature, too.
        for label in dict.keys() {
            if let Ok(text) = label.cast::<PyString>() {
                let known = signature.id_of_written(text.to_str()?);
                known.map_err(|error| errors::core(&error))?;
            }
        }
    }
    let items = members(labels)?.map_or_else(|| labels.try_iter(), |them| them.try_iter());
    let items = items.map_err(|_| {
        errors::wrong_type(format!(
            "expected labels as a collection of texts, a row of booleans or an integer, not {}",
            type_name(labels)
        ))
    })?;
    let mut set = AtomSet::with_room_for(ids.len());
    for item in items {
        let item = item?;
        let text = item.cast::<PyString>().map_err(|_| {
            errors::wrong_type(format!(
                "a label is a text, not {}; a row of booleans, one per atom, is an array of numpy with dtype bool",
                type_name(&item)
            ))
        })?;
        let text = text.to_str()?;
        set.insert(match signature.id_of_text(text) {
            Some(id) => id,
            None => signature
                .id_of_written(text)
                .map_err(|error| errors::core(&error))?,
        });
    }
    Ok(set)
}

fn from_row(ids: &[AtomId], row: &PyReadonlyArray1<'_, bool>) -> PyResult<AtomSet> {
    if row.len() != ids.len() {
        return Err(errors::raise(
            Class::Label,
            &format!(
                "expected a row of {} booleans, one per atom of the signature, got {}",
                ids.len(),
                row.len()
            ),
            None,
            None,
            None,
        ));
    }
    let mut set = AtomSet::with_room_for(ids.len());
    for (id, there) in ids.iter().zip(row.as_array()) {
        if *there {
            set.insert(*id);
        }
    }
    Ok(set)
}

fn from_bits(ids: &[AtomId], bits: &Bound<'_, PyAny>) -> PyResult<AtomSet> {
    if bits.is_instance_of::<PyBool>() {
        return Err(errors::wrong_type(
            "expected labels, not a single truth value".to_owned(),
        ));
    }
    let unknown = || {
        let message = format!(
            "the integer {bits} has bits beyond the {} atoms of the signature",
            ids.len()
        );
        errors::raise(Class::Label, &message, None, None, None)
    };
    let mut set = AtomSet::with_room_for(ids.len());
    if let Ok(mut small) = bits.extract::<u64>() {
        while small != 0 {
            let i = small.trailing_zeros() as usize;
            set.insert(*ids.get(i).ok_or_else(unknown)?);
            small &= small - 1;
        }
        return Ok(set);
    }
    let bytes = bits
        .call_method1("to_bytes", (ids.len().div_ceil(8), "little"))
        .map_err(|_| unknown())?
        .extract::<Vec<u8>>()?;
    for (i, byte) in bytes.iter().enumerate() {
        for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
            set.insert(*ids.get(i * 8 + bit).ok_or_else(unknown)?);
        }
    }
    Ok(set)
}

/// A whole number, 0 or more.
pub fn whole<'a, 'py, T>(value: &'a Bound<'py, PyAny>) -> PyResult<T>
where
    T: FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract().map_err(|error: PyErr| {
        match error.is_instance_of::<PyOverflowError>(value.py()) {
            true if value.lt(0).unwrap_or(false) => {
                PyValueError::new_err(format!("expected a whole number, 0 or more, not {value}"))
            }
            true => PyValueError::new_err(format!("{value} is too large a number")),
            false => error,
        }
    })
}

/// What a value is, as messages say it.
pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    value
        .get_type()
        .name()
        .map_or_else(|_| "something else".to_owned(), |name| name.to_string())
}
