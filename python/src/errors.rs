//! From the errors of the crates to the exceptions of `formrl.errors`, with the places they name.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The classes of `formrl.errors`.
#[derive(Clone, Copy)]
pub enum Class {
    Parse,
    Label,
    Machine,
    Trace,
    Learn,
    World,
    Limit,
    File,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Parse => "ParseError",
            Self::Label => "LabelError",
            Self::Machine => "MachineError",
            Self::Trace => "TraceError",
            Self::Learn => "LearnError",
            Self::World => "WorldError",
            Self::Limit => "LimitError",
            Self::File => "FileError",
        }
    }
}

/// An exception of ours: what is wrong and where. What goes wrong while it is made is raised in its place.
pub fn raise(
    class: Class,
    message: &str,
    file: Option<&str>,
    position: Option<(usize, usize)>,
    errno: Option<i32>,
) -> PyErr {
    Python::attach(|py| {
        let made = || -> PyResult<PyErr> {
            let (line, column) = position.unzip();
            let exception = imported(py, class.name())?.call1((message, file, line, column))?;
            if let Some(errno) = errno {
                exception.setattr("errno", errno)?;
            }
            Ok(PyErr::from_value(exception))
        };
        made().unwrap_or_else(|error| error)
    })
}

fn imported<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("formrl.errors")?.getattr(name)
}

/// A class of `formrl.records`, looked up once.
pub fn record<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, "formrl.records", name)
}

/// A plain mistake in what was passed.
pub fn wrong_type(message: String) -> PyErr {
    PyTypeError::new_err(message)
}

/// Of the language, the machines or the traces.
pub fn core(error: &form_core::Error) -> PyErr {
    let class = core_class(error);
    let errno = match error {
        form_core::Error::Io { source, .. } => source.raw_os_error(),
        _ => None,
    };
    raise(
        class,
        &error.to_string(),
        error.file(),
        error.position(),
        errno,
    )
}

fn core_class(error: &form_core::Error) -> Class {
    use form_core::Error;
    match error {
        Error::Within { source, .. } => core_class(source),
        Error::UnknownAtom { .. } | Error::NotInSignature { .. } => Class::Label,
        Error::Json { .. } | Error::MixedSteps { .. } => Class::Trace,
        Error::Io { .. } => Class::File,
        Error::Limit { .. } => Class::Limit,
        Error::Machine { .. } | Error::Inexpressible { .. } => Class::Machine,
        _ => Class::Parse,
    }
}

/// Of learning.
pub fn learning(error: &form_learn::Error) -> PyErr {
    match error {
        form_learn::Error::Core(error) => core(error),
        other => raise(Class::Learn, &other.to_string(), None, None, None),
    }
}

/// Of the worlds.
pub fn world(error: &form_env::Error) -> PyErr {
    let (class, errno) = match error {
        form_env::Error::Io { source, .. } => (Class::File, source.raw_os_error()),
        _ => (Class::World, None),
    };
    let (file, position) = (error.file(), error.position());
    raise(class, &error.to_string(), file, position, errno)
}

/// Of a file that could not be opened or written.
pub fn file(path: &std::path::Path, error: &std::io::Error) -> PyErr {
    let name = path.display().to_string();
    let message = format!("{name}: {error}");
    raise(
        Class::File,
        &message,
        Some(&name),
        None,
        error.raw_os_error(),
    )
}
