//! Reading the input of commands: machines in any format, signatures, trace files, durations and numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{IsTerminal, Read, Stdin};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use form_core::{BoundMachine, Edge, Machine, Signature, Snippet, TraceFile, read_signature};
use form_env::{Task, nearest_task};
use form_formats::{Converted, MachineFormat, ToroIcarteOptions, read_machine};
use form_lab::cannot;
use tempfile::NamedTempFile;

use crate::output;

/// The machine of a file in any format (`.form`, JSON, LTLf or a foreign one), of a task, or typed in one line.
pub fn machine(path: &Path) -> Result<Machine> {
    let (machine, notes) = machine_with_notes(path, &ToroIcarteOptions::default())?;
    for note in notes {
        output::remark(&format!("note: {note}"));
    }
    Ok(machine)
}

/// The machine, with the notes of a foreign format.
pub fn machine_with_notes(
    path: &Path,
    options: &ToroIcarteOptions,
) -> Result<(Machine, Vec<String>)> {
    if let Some(task) = task(path)? {
        return Ok((task.description().machine.clone(), Vec::new()));
    }
    if let Some(line) = typed(path) {
        return Ok((typed_machine(line)?, Vec::new()));
    }
    if !is_machine_file(path)
        && let Some(name) = path.to_str().and_then(nearest_task)
    {
        bail!(
            "there is no file and no task `{}`: is `{name}` meant?",
            path.display()
        );
    }
    let text = text(path)?;
    let format = match path.extension() {
        Some(extension) if extension == "json" => MachineFormat::Json,
        Some(extension) if extension == "ltlf" => MachineFormat::Ltlf,
        _ => MachineFormat::detect(&text),
    };
    let Converted { mut machine, notes } =
        read_machine(&text, format, options).map_err(|error| error.in_file(&name(path)))?;
    // Foreign formats have no place for a name: the machine gets that of the file, as far as it can be one.
    if let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
        && format.is_foreign()
        && !is_standard_input(path)
    {
        let name: String = stem
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        machine = machine.clone().renamed(&name).unwrap_or(machine);
    }
    Ok((machine, notes))
}

/// A machine that is typed in one line in place of a file: what is no name of a file, and has a blank, `;` or `(` in it.
fn typed(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let is_line = text.contains([' ', ';', '(']) && !is_machine_file(path);
    is_line.then_some(text)
}

/// Whether an argument names a file: it is there, or has the extension of one.
pub fn is_machine_file(path: &Path) -> bool {
    let known = ["form", "json", "txt", "ltlf", "toml"];
    let extension = path.extension().and_then(|end| end.to_str());
    is_standard_input(path) || path.exists() || extension.is_some_and(|end| known.contains(&end))
}

/// The machine of one line.
pub fn typed_machine(line: &str) -> Result<Machine> {
    let unknown = || format!("`{line}` is neither a file nor a task (`form tasks` lists them)");
    match (Machine::from_line(line), nearest_task(line)) {
        (Err(_), Some(name)) => bail!("{}: is `{name}` meant?", unknown()),
        (machine, _) => {
            machine.with_context(|| format!("{}, and not a machine in one line", unknown()))
        }
    }
}

/// The fields `id` of the traces in these lines of files, by name of the file; none of input that cannot be read again.
pub fn trace_ids<'a>(
    paths: &[PathBuf],
    places: impl IntoIterator<Item = (&'a str, usize)>,
) -> BTreeMap<(String, usize), String> {
    let mut lines: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (file, line) in places {
        lines.entry(file).or_default().insert(line);
    }
    let mut ids = BTreeMap::new();
    for path in paths {
        let name = name(path);
        let Some(lines) = lines.get(name.as_str()) else {
            continue;
        };
        let found = trace_file(path).and_then(|file| Ok(file.ids(lines)?));
        let found = found.unwrap_or_default().into_iter();
        ids.extend(found.map(|(line, id)| ((name.clone(), line), id)));
    }
    ids
}

/// A task in place of a machine or a signature: a task file, or a built-in task unless a file has its name.
pub fn task(path: &Path) -> Result<Option<Task>> {
    let Some(name) = path.to_str() else {
        return Ok(None);
    };
    let is_file = path.extension().is_some_and(|end| end == "toml");
    let is_builtin = || !path.exists() && Task::builtin(name).is_ok();
    Ok(match is_file || is_builtin() {
        true => Some(Task::find(name)?),
        false => None,
    })
}

/// The signature of the first of these machines that is that of a task.
pub fn signature_of_tasks(machines: &[&Path]) -> Result<Option<Signature>> {
    for machine in machines {
        if let Some(task) = task(machine)? {
            return Ok(Some(task.signature().clone()));
        }
    }
    Ok(None)
}

/// The machine bound to a signature; an error says what the signature lacks and where to add it. `listed`: the signature has its
/// own file, else it is that of the traces.
pub fn bind(
    machine: &Machine,
    path: &Path,
    signature: &Signature,
    listed: bool,
) -> Result<BoundMachine> {
    machine.bind(signature).map_err(|error| {
        let hint = if listed {
            "extend the signature file"
        } else {
            "declare the observable atoms with --signature, or in the first line of the trace file"
        };
        let error = match marked(machine, path, signature, &error) {
            Some(marked) => anyhow::Error::from(form_core::Error::Syntax(Box::new(marked))),
            None => error.in_file(&name(path)).into(),
        };
        error.context(format!("the machine does not fit the signature ({hint})"))
    })
}

/// What a signature lacks, with the place of the first formula in a `.form` file that does not fit it.
fn marked(
    machine: &Machine,
    path: &Path,
    signature: &Signature,
    error: &form_core::Error,
) -> Option<Snippet> {
    if is_standard_input(path) || task(path).ok()?.is_some() {
        return None;
    }
    let text = text(path).ok()?;
    let alone = |edge: &Edge| {
        let builder = Machine::builder("alone").initial("a").accept("b");
        let builder = builder.edge_with("a", "b", edge.formula.clone(), None);
        (builder.build().ok()).is_some_and(|machine| machine.bind(signature).is_err())
    };
    let number = machine.edges().iter().position(alone)?;
    (MachineFormat::detect(&text) == MachineFormat::Form).then_some(())?;
    let mut start = 0;
    let mut edges = Vec::new();
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        if code.contains("->") || code.contains('→') {
            let formula = code.find(':').map_or(0, |colon| colon + 1);
            let end = code.rfind("=>").unwrap_or(code.len());
            let written = code.get(formula..end)?;
            let first = start + formula + written.len() - written.trim_start().len();
            edges.push(first..first + written.trim().len());
        }
        start += line.len();
    }
    let at = edges.get(number)?.clone();
    Some(Snippet::new(&text, at, error.to_string()).in_file(&name(path)))
}

/// The maximum size of a machine file in bytes: a device or a pipe may have no end.
const LARGEST_TEXT: u64 = 1 << 28;

/// The text of a file, or of standard input for `-`, without a byte order mark.
pub fn text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let read = (reader(path)?.take(LARGEST_TEXT + 1)).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {}", name(path)))?;
    if bytes.len() as u64 > LARGEST_TEXT {
        bail!(
            "{}: more than {LARGEST_TEXT} bytes, too large for a machine file",
            name(path)
        );
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        bail!("{}: gzipped; only trace files may be", name(path));
    }
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            if text.starts_with('\u{feff}') {
                text.remove(0);
            }
            Ok(text)
        }
        Err(error) => {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let good = String::from_utf8_lossy(good);
            let line = good.matches('\n').count() + 1;
            let column = good.chars().rev().take_while(|c| *c != '\n').count() + 1;
            bail!("{}:{line}:{column}: not UTF-8 text", name(path))
        }
    }
}

/// The signature for a command: the one given, else that of the trace files together.
pub fn signature(given: Option<&Path>, traces: &[PathBuf]) -> Result<Option<Signature>> {
    if let Some(path) = given {
        if let Some(task) = task(path)? {
            return Ok(Some(task.signature().clone()));
        }
        return Ok(Some(read_signature(&name(path), reader(path)?)?));
    }
    let mut all: Option<Signature> = None;
    for path in traces {
        // The traces will be read a second time.
        spool(path)?;
        let signature = trace_file(path)?.signature()?;
        all = Some(all.map_or_else(|| signature.clone(), |all| all.union(&signature)));
    }
    Ok(all)
}

/// Whether every trace file declares its signature.
pub fn declared(traces: &[PathBuf]) -> Result<bool> {
    for path in traces {
        if !trace_file(path)?.declares_signature()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A trace file to be read, or standard input for `-`.
pub fn trace_file(path: &Path) -> Result<TraceFile> {
    Ok(TraceFile::new(&name(path), reader(path)?)?)
}

/// The bytes of a file, of standard input for `-`, or of a spooled copy of either.
fn reader(path: &Path) -> Result<Box<dyn Read + Send>> {
    let spooled = SPOOLED.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(match spooled.get(path) {
        Some(copy) => Box::new(File::open(copy.path()).context("cannot reopen a temporary file")?),
        None if is_standard_input(path) => Box::new(standard_input()?),
        None => Box::new(open(path)?),
    })
}

/// Copies of input that can be read only once but is needed twice, for the signature and for the traces.
static SPOOLED: Mutex<BTreeMap<PathBuf, NamedTempFile>> = Mutex::new(BTreeMap::new());

/// Copies standard input or a pipe to a temporary file; a regular file can be read again.
fn spool(path: &Path) -> Result<()> {
    let plain = !is_standard_input(path) && path.metadata().is_ok_and(|found| found.is_file());
    if plain || is_device(path) || path.is_dir() || !is_standard_input(path) && !path.exists() {
        return Ok(());
    }
    if is_standard_input(path)
        && SPOOLED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains_key(path)
    {
        bail!(ONLY_ONCE);
    }
    let mut copy = NamedTempFile::new().context("cannot make a temporary file")?;
    std::io::copy(&mut reader(path)?, &mut copy)
        .with_context(|| format!("cannot read {}", name(path)))?;
    let mut spooled = SPOOLED.lock().unwrap_or_else(PoisonError::into_inner);
    spooled.insert(path.to_owned(), copy);
    Ok(())
}

/// Whether a path is a device other than a terminal. It can be opened again, and may have no end: a copy would fill the disk.
#[cfg(unix)]
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = path.metadata().map(|found| found.file_type());
    kind.is_ok_and(|kind| kind.is_char_device())
        && !File::open(path).is_ok_and(|device| device.is_terminal())
}

#[cfg(not(unix))]
fn is_device(_path: &Path) -> bool {
    false
}

/// The file as messages name it.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

const ONLY_ONCE: &str = "standard input can be read only once: replace all `-` but one by files";

/// Standard input, for the first caller: a second one would find it empty.
fn standard_input() -> Result<Stdin> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        bail!(ONLY_ONCE);
    }
    Ok(std::io::stdin())
}

fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| cannot("open", path, error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{} is a folder, expected a file", path.display());
    }
    Ok(file)
}

/// Set by Ctrl-C or a termination signal.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag that Ctrl-C sets once [`interrupt`] was called.
pub fn interrupted() -> Arc<AtomicBool> {
    INTERRUPTED.clone()
}

/// A flag that Ctrl-C or a termination signal sets. A second signal, a second later, ends the process at once.
pub fn interrupt() -> Result<Arc<AtomicBool>> {
    let mut first = None;
    ctrlc::set_handler(move || {
        INTERRUPTED.store(true, Ordering::Relaxed);
        // Programs such as `timeout` signal a process and then its group: that is one request, not two.
        let since = first.get_or_insert_with(Instant::now);
        if since.elapsed() > Duration::from_secs(1) {
            std::process::exit(1);
        }
    })
    .context("cannot handle Ctrl-C")?;
    Ok(interrupted())
}

/// Lets Ctrl-C or a termination signal end the process at once, after `last` has run. For work that leaves nothing half-done.
pub fn end_on_interrupt(last: impl FnMut() + Send + 'static) -> Result<()> {
    let mut last = last;
    ctrlc::set_handler(move || {
        last();
        std::process::exit(1);
    })
    .context("cannot handle Ctrl-C")
}

/// Sets the number of threads; the default is one per core.
pub fn use_threads(threads: Option<usize>) -> Result<()> {
    let Some(threads) = threads else {
        return Ok(());
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .context("cannot start the threads")
}

/// `500ms`, `60s`, `5m`, `1h`; seconds without a unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..end]
        .parse()
        .map_err(|_| "expected a number and a unit, as in 60s".to_owned())?;
    let unit = match &text[end..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("unknown unit `{other}`: use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(number * unit).map_err(|_| "too long".to_owned())
}

/// A whole number, such as a seed.
pub fn whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    (text.parse()).map_err(|_| "expected a whole number, 0 or more".to_owned())
}

/// A whole number that is not 0.
pub fn at_least_one(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number, 1 or more".to_owned())
}

/// A number from 1 to `MOST`.
pub fn at_most<const MOST: usize>(text: &str) -> Result<usize, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (1..=MOST).contains(number))
        .ok_or_else(|| format!("expected a number from 1 to {MOST}"))
}
