//! The folder of a run: the names of its files, and the lock of the process that trains.
//!
//! A folder holds a run once it has a `config.toml`. The process that trains holds a lock, which ends with the process; readers need
//! no lock. Scripts rely on the names: new ones may be added, none may change.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::atomic_files::{cannot, read_text, refuse_pipes, remove_unfinished, write_atomically};
use crate::config::is_task_file;

const CONFIG: &str = "config.toml";
/// The task file of a run whose task is not a built-in one.
pub(super) const TASK: &str = "task.toml";
const RESULT: &str = "result.json";
const MACHINES: &str = "machines";
const CHECKPOINTS: &str = "checkpoints";
const LOCK: &str = ".lock";

/// Files that show that a folder holds a run, or what is left of one.
const REMAINS: [&str; 8] = [
    CONFIG,
    "metrics.csv",
    "timings.csv",
    "policies.csv",
    "traces.jsonl",
    "run.log",
    "report.html",
    RESULT,
];

/// The name of the checkpoint that a run resumes from.
pub const LATEST: &str = "latest";
/// The name of the checkpoint of a run that is over.
pub const FINAL: &str = "final";

/// A run's folder, for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// The lock of the process that trains. It ends when it is dropped, and with the process.
#[derive(Debug)]
pub struct TrainingLock {
    _file: File,
}

impl RunFolder {
    /// Creates the folder of a new run with its configuration. Refuses a folder that holds a run, or what is left of one.
    #[cfg(test)]
    pub(super) fn create(path: &Path, config: &str) -> Result<(Self, TrainingLock)> {
        Self::create_with(path, config, |_| Ok(()))
    }

    /// Creates the folder of a new run. `prepare` writes files that the run needs; the configuration comes last. Refuses a folder
    /// that holds a run, or what is left of one.
    pub(crate) fn create_with(
        path: &Path,
        config: &str,
        prepare: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<(Self, TrainingLock)> {
        let run = Self::at(path);
        let made = |path: &Path| {
            fs::create_dir_all(path).map_err(|error| cannot("make the folder", path, error))
        };
        made(path)?;
        // Before looking, so that no other process creates the same run meanwhile.
        let lock = run.lock()?;
        if let Some(found) = REMAINS.iter().find(|name| path.join(name).exists()) {
            bail!(
                "{} already holds a run (it has {found}): name another folder with --out, resume the run with --resume, or remove it",
                path.display()
            );
        }
        for inner in [MACHINES, CHECKPOINTS] {
            made(&path.join(inner))?;
            run.refuse_foreign_files(inner)?;
        }
        run.clean_up()?;
        prepare(&run)?;
        // Last and atomically: a run that is killed before this point does not block a new one.
        write_atomically(&run.config(), config.as_bytes())?;
        Ok((run, lock))
    }

    /// Opens a run's folder for reading.
    pub fn open(path: &Path) -> Result<Self> {
        let run = Self::folder(path)?;
        if !run.config().is_file() {
            bail!(
                "{} is not a run folder, it has no {CONFIG}: name a folder that `form train` made",
                path.display()
            );
        }
        Ok(run)
    }

    /// A folder that may hold a run, or what is left of one.
    pub(crate) fn folder(path: &Path) -> Result<Self> {
        let found = path
            .metadata()
            .map_err(|error| cannot("open the run", path, error))?;
        if !found.is_dir() {
            bail!(
                "{} is a file, not a run folder: name a folder that `form train` made",
                path.display()
            );
        }
        Ok(Self::at(path))
    }

    /// A path that may be a run's folder.
    pub(crate) fn at(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path }
    }

    /// The folder of its machines.
    pub(crate) fn machines_folder(&self) -> PathBuf {
        self.path.join(MACHINES)
    }

    /// The folder of its checkpoints.
    pub(crate) fn checkpoints_folder(&self) -> PathBuf {
        self.path.join(CHECKPOINTS)
    }

    /// The files and folders of every run after its first iteration.
    pub(crate) fn contents(&self) -> [PathBuf; 7] {
        [
            self.config(),
            self.metrics(),
            self.timings(),
            self.policies(),
            self.traces(),
            self.machines_folder(),
            self.checkpoints_folder(),
        ]
    }

    /// Whether a folder holds a run, or enough of one to report. A page or a log alone is not enough.
    pub fn is_at(path: &Path) -> bool {
        let ambiguous = ["run.log", "report.html"];
        let mut signs = REMAINS.iter().filter(|name| !ambiguous.contains(name));
        signs.any(|name| path.join(name).is_file())
    }

    /// Whether a folder holds a training of the policy for sub-tasks, which `form pretrain` makes, and no run.
    pub fn is_pretraining(path: &Path) -> bool {
        let text = fs::read_to_string(path.join(CONFIG)).unwrap_or_default();
        text.lines().any(|line| line.trim() == "[imitation]")
    }

    /// Locks a run's folder to resume training, and removes the temporary files of killed processes.
    pub fn resume(path: &Path) -> Result<(Self, TrainingLock)> {
        let run = Self::open(path)?;
        let lock = run.lock()?;
        run.clean_up()?;
        Ok((run, lock))
    }

    /// Removes the temporary files of killed processes. The caller holds the lock.
    fn clean_up(&self) -> Result<()> {
        for folder in [
            self.path.clone(),
            self.machines_folder(),
            self.checkpoints_folder(),
        ] {
            fs::create_dir_all(&folder)
                .map_err(|error| cannot("make the folder", &folder, error))?;
            remove_unfinished(&folder)?;
        }
        Ok(())
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The configuration, which determines the run.
    pub fn config(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// The text of the configuration.
    pub fn read_config(&self) -> Result<String> {
        read_text(&self.config())
    }

    /// The name of the task: the one in the configuration, or the one in the task file that it names.
    pub fn task_name(&self, task: &str) -> String {
        let named = || -> Option<String> {
            let text = read_text(&self.path.join(task)).ok()?;
            let name = text.parse::<toml::Table>().ok()?.remove("name")?;
            Some(name.as_str()?.to_owned())
        };
        match is_task_file(task) {
            true => named().unwrap_or_else(|| task.to_owned()),
            false => task.to_owned(),
        }
    }

    /// One row per iteration, independent of the clock: see [`MetricsRow`](crate::MetricsRow).
    pub fn metrics(&self) -> PathBuf {
        self.path.join("metrics.csv")
    }

    /// The times of each iteration: see [`TimingsRow`](crate::TimingsRow).
    pub fn timings(&self) -> PathBuf {
        self.path.join("timings.csv")
    }

    /// One row per policy update: see [`PoliciesRow`](crate::PoliciesRow).
    pub fn policies(&self) -> PathBuf {
        self.path.join("policies.csv")
    }

    /// The traces that machines were learnt from.
    pub fn traces(&self) -> PathBuf {
        self.path.join("traces.jsonl")
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.path.join("run.log")
    }

    /// The report page.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// The task file, unless the task is a built-in one.
    pub fn task(&self) -> PathBuf {
        self.path.join(TASK)
    }

    /// The result, once the run is over: see [`RunResult`](crate::RunResult).
    pub fn result(&self) -> PathBuf {
        self.path.join(RESULT)
    }

    /// The `n`-th machine as text.
    pub fn machine(&self, n: usize) -> PathBuf {
        self.path.join(MACHINES).join(format!("{n:03}.form"))
    }

    /// The `n`-th machine as a picture.
    pub fn machine_picture(&self, n: usize) -> PathBuf {
        self.path.join(MACHINES).join(format!("{n:03}.svg"))
    }

    /// A checkpoint.
    pub fn checkpoint(&self, name: &str) -> PathBuf {
        self.path
            .join(CHECKPOINTS)
            .join(format!("{name}.safetensors"))
    }

    /// The files of the machines, in the order in which they were learnt.
    pub fn machines(&self) -> Result<Vec<PathBuf>> {
        self.listed(MACHINES, "form")
    }

    /// The files of the checkpoints, in the order of their names.
    pub fn checkpoints(&self) -> Result<Vec<PathBuf>> {
        self.listed(CHECKPOINTS, "safetensors")
    }

    /// Refuses files that a new run would overwrite, except those of a run that was killed before it began.
    fn refuse_foreign_files(&self, folder: &str) -> Result<()> {
        let folder = self.path.join(folder);
        let failed = |error| cannot("list", &folder, error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let begun = ["000.form", "000.svg", "latest.safetensors"].contains(&&*name);
            if !begun && !name.starts_with('.') {
                bail!(
                    "{} would be overwritten by the new run: name another folder with --out, or remove it",
                    path.display()
                );
            }
        }
        Ok(())
    }

    fn listed(&self, folder: &str, extension: &str) -> Result<Vec<PathBuf>> {
        let folder = self.path.join(folder);
        let failed = |error| cannot("list", &folder, error);
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
        // `1000.form` comes after `999.form`.
        found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
        Ok(found)
    }

    fn lock(&self) -> Result<TrainingLock> {
        let path = self.path.join(LOCK);
        refuse_pipes(&path)?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| cannot("write", &path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(TrainingLock { _file: file }),
            Err(TryLockError::WouldBlock) => bail!(
                "{}: another process is training in this folder: wait for it, or name another folder with --out",
                self.path.display()
            ),
            Err(TryLockError::Error(error)) => Err(cannot("lock", &path, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said<T: std::fmt::Debug>(result: Result<T>) -> String {
        format!("{:#}", result.unwrap_err())
    }

    #[test]
    fn a_run_is_made_found_again_and_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/run");
        let (run, lock) = RunFolder::create(&path, "seed = 1\n").unwrap();
        drop(lock);
        assert_eq!(RunFolder::open(&path).unwrap(), run);
        assert_eq!(run.read_config().unwrap(), "seed = 1\n");
        let again = said(RunFolder::create(&path, "seed = 2\n"));
        assert!(
            again.contains("already holds a run (it has config.toml)")
                && again.contains("--resume"),
            "{again}"
        );
        assert_eq!(run.read_config().unwrap(), "seed = 1\n");
        // What is left of a run is not overwritten either.
        fs::write(run.metrics(), "iteration\n").unwrap();
        fs::remove_file(run.config()).unwrap();
        assert!(said(RunFolder::create(&path, "")).contains("it has metrics.csv"));
    }

    #[test]
    fn a_run_killed_before_its_configuration_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(MACHINES)).unwrap();
        fs::create_dir(folder.path().join(CHECKPOINTS)).unwrap();
        fs::write(folder.path().join(LOCK), "").unwrap();
        let unfinished = folder.path().join(CHECKPOINTS).join(".partial-x");
        fs::write(&unfinished, "").unwrap();
        assert!(RunFolder::create(folder.path(), "").is_ok());
        assert!(!unfinished.exists());
    }

    #[test]
    fn what_lies_where_a_run_would_write_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(MACHINES)).unwrap();
        let mine = folder.path().join(MACHINES).join("mine.form");
        fs::write(&mine, "").unwrap();
        let message = said(RunFolder::create(folder.path(), ""));
        assert!(
            message.contains("machines/mine.form would be overwritten"),
            "{message}"
        );
        assert!(mine.exists() && !folder.path().join(CONFIG).exists());
    }

    #[test]
    fn one_trains_and_others_read() {
        let folder = tempfile::tempdir().unwrap();
        let (run, lock) = RunFolder::create(folder.path(), "").unwrap();
        // Temporary files of the process that trains stay.
        let unfinished = run.path().join(".form-1.partial");
        fs::write(&unfinished, "").unwrap();
        assert!(RunFolder::open(folder.path()).is_ok());
        assert!(said(RunFolder::resume(folder.path())).contains("another process is training"));
        assert!(unfinished.exists());
        drop(lock);
        let (_run, _lock) = RunFolder::resume(folder.path()).unwrap();
        assert!(!unfinished.exists());
    }

    /// Opening a pipe would block.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join(LOCK);
        let made = std::process::Command::new("mkfifo").arg(&lock).status();
        assert!(made.unwrap().success());
        let message = said(RunFolder::create(folder.path(), ""));
        assert!(message.contains(".lock is a pipe"), "{message}");
    }

    #[test]
    fn resuming_removes_what_was_half_written_everywhere() {
        let folder = tempfile::tempdir().unwrap();
        let (run, lock) = RunFolder::create(folder.path(), "").unwrap();
        drop(lock);
        let left = [run.config(), run.machine(3), run.checkpoint("last")]
            .map(|path| path.with_file_name(".form-x.partial"));
        for path in &left {
            fs::write(path, "").unwrap();
        }
        fs::write(run.checkpoint("last"), "").unwrap();
        RunFolder::resume(folder.path()).unwrap();
        assert!(left.iter().all(|path| !path.exists()));
        assert!(run.checkpoint("last").exists());
    }

    #[test]
    fn machines_and_checkpoints_are_listed_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let (run, _lock) = RunFolder::create(folder.path(), "").unwrap();
        for n in [1000, 2, 999, 10] {
            fs::write(run.machine(n), "").unwrap();
            fs::write(run.machine_picture(n), "").unwrap();
        }
        let expected = [2, 10, 999, 1000].map(|n| run.machine(n));
        assert_eq!(run.machines().unwrap(), expected);
        assert_eq!(
            run.machine_picture(2),
            folder.path().join("machines/002.svg")
        );
        fs::write(run.checkpoint("last"), "").unwrap();
        assert_eq!(run.checkpoints().unwrap(), [run.checkpoint("last")]);
    }

    #[test]
    fn what_is_no_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let empty = said(RunFolder::open(folder.path()));
        assert!(
            empty.contains("is not a run folder, it has no config.toml"),
            "{empty}"
        );
        let missing = said(RunFolder::open(&folder.path().join("no")));
        assert!(
            missing.contains("there is no such file or folder"),
            "{missing}"
        );
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(said(RunFolder::open(&file)).contains("is a file, not a run folder"));
        let inside = said(RunFolder::create(&file.join("run"), ""));
        assert!(inside.contains("a part of the path is a file"), "{inside}");
    }

    /// Not even root can create folders there.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_can_only_be_read_is_an_error_that_names_it() {
        let message = said(RunFolder::create(Path::new("/sys/form-run"), ""));
        assert!(
            message.contains("cannot make the folder /sys/form-run: "),
            "{message}"
        );
        assert!(message.contains("choose another folder"), "{message}");
    }
}
