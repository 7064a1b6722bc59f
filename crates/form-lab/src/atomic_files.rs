//! Atomic replacement of files, and file-system errors that say what to do.
//!
//! A file is written under a temporary name in the same folder, flushed to the disk, and renamed: a reader, even after a power
//! failure, sees the old contents or the new ones.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

/// The prefix and suffix of temporary names, so that the files of a killed process can be found and removed.
const UNFINISHED: (&str, &str) = (".form-", ".partial");

/// Replaces a file atomically. Its bytes are on the disk when this returns.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically_with(path, |file| file.write_all(bytes))
}

/// As [`write_atomically`], with a function that writes the contents.
fn write_atomically_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    // A link stays a link: its target is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if target.is_dir() {
        bail!("cannot write {}: it is a folder", path.display());
    }
    // A regular file would take its place: root could replace /dev/null.
    refuse_pipes(&target)?;
    let replaced = || -> io::Result<()> {
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut file = unfinished(folder)?;
        if let Ok(old) = target.metadata() {
            file.as_file().set_permissions(old.permissions())?;
        }
        // On an error the unfinished file is removed when it is dropped.
        write(file.as_file_mut())?;
        file.as_file().sync_all()?;
        file.persist(&target)?;
        sync_folder(folder)
    };
    replaced().map_err(|error| cannot("write", path, error))
}

/// Appends bytes to an open file in one write. If the write fails, a partial write is undone.
pub fn append(file: &mut File, path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error| cannot("write", path, error);
    let length = file.metadata().map_err(failed)?.len();
    file.write_all(bytes).map_err(|error| {
        // If this fails too, the last line or record is torn, which readers tolerate.
        let _ = file.set_len(length);
        failed(error)
    })
}

/// Removes the temporary files that killed processes left in a folder, and counts them. No process may be writing there.
pub(crate) fn remove_unfinished(folder: &Path) -> Result<usize> {
    let mut removed = 0;
    let failed = |error| cannot("clean up", folder, error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (begin, end) = UNFINISHED;
        let ours = name.starts_with(begin) && name.ends_with(end);
        // The temporary names of checkpoints.
        let checkpoint = name.starts_with(".partial-");
        if (ours || checkpoint) && path.is_file() {
            fs::remove_file(&path).map_err(|error| cannot("remove", &path, error))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// A temporary file with the default permissions of new files, not the narrow ones of `tempfile`.
fn unfinished(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let (begin, end) = UNFINISHED;
    let mut builder = tempfile::Builder::new();
    builder.prefix(begin).suffix(end);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Flushes the names in a folder to the disk: without this, a rename may be lost in a power failure.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Other systems cannot open a folder as a file.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// A file-system error with the file, the cause, and what to do.
pub fn cannot(verb: &str, path: &Path, error: io::Error) -> anyhow::Error {
    let failed = format!("cannot {verb} {}", path.display());
    let reading = ["read", "open", "open the run", "list"].contains(&verb);
    // These replace the message of the system.
    let advice = match error.kind() {
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only: choose another folder",
        ErrorKind::PermissionDenied if reading => "no permission: check the file's permissions",
        ErrorKind::PermissionDenied => {
            "no permission: choose another folder, or check who may write there"
        }
        ErrorKind::NotADirectory if reading => "a part of the path is a file: check the path",
        ErrorKind::NotADirectory => "a part of the path is a file: choose another folder",
        ErrorKind::NotFound => "there is no such file or folder: check the path",
        _ => return full(error).context(failed),
    };
    anyhow!("{failed}: {advice}")
}

/// The message of the system, with advice if the disk is full.
fn full(error: io::Error) -> anyhow::Error {
    // The temporary name of the file does not belong in the message.
    let inner =
        std::error::Error::source(&error).and_then(|inner| inner.downcast_ref::<io::Error>());
    let system = match inner.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    };
    let advice = match system.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "the disk is full: make room and resume, earlier files are intact"
        }
        ErrorKind::FileTooLarge => {
            "the file exceeds the size limit: raise the limit and resume, earlier files are intact"
        }
        _ => return anyhow!(system),
    };
    anyhow!(system).context(advice)
}

/// Refuses pipes and devices: opening a pipe may block for ever, and a device may have no end. A missing file is fine.
pub(crate) fn refuse_pipes(path: &Path) -> Result<()> {
    let kind = path.metadata().map(|found| found.file_type());
    if kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir()) {
        bail!(
            "{} is a pipe or a device: name a regular file",
            path.display()
        );
    }
    Ok(())
}

/// Opens a file for reading.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    refuse_pipes(path)?;
    File::open(path).map_err(|error| cannot("read", path, error))
}

/// Reads a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = open_file(path)?.read_to_end(&mut bytes);
    read.map_err(|error| cannot("read", path, error))?;
    Ok(bytes)
}

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read_bytes(path)?;
    String::from_utf8(bytes)
        .with_context(|| format!("cannot read {}: it is not UTF-8 text", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| {
            let name = entry.unwrap().file_name();
            name.into_string().unwrap()
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_made_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"2").unwrap();
        assert_eq!(read_text(&path).unwrap(), "2");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_survive() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.txt"), folder.path().join("b.txt"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert_eq!(read_text(&path).unwrap(), "new");
        assert!(link.is_symlink());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o751);
        // A new file has the default permissions.
        let (fresh, plain) = (folder.path().join("c"), folder.path().join("d"));
        write_atomically(&fresh, b"").unwrap();
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&fresh), mode(&plain));
    }

    /// The disk fills up in the middle of the write: the error of the system is a real one.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, b"old").unwrap();
        let error = write_atomically_with(&path, |file| {
            file.write_all(b"new, the first half")?;
            File::options()
                .write(true)
                .open("/dev/full")?
                .write_all(b"x")
        })
        .unwrap_err();
        let message = format!("{error:#}");
        assert!(
            message.contains("a.txt: the disk is full: make room"),
            "{message}"
        );
        assert_eq!(read_text(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn unfinished_files_are_removed_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        // As a killed process leaves it: it never gets to drop the file.
        let (_, left) = unfinished(folder.path()).unwrap().keep().unwrap();
        fs::write(folder.path().join(".partial-a1b2c3"), "").unwrap();
        fs::write(folder.path().join("partial.txt"), "").unwrap();
        assert!(left.exists());
        assert_eq!(remove_unfinished(folder.path()).unwrap(), 2);
        assert_eq!(names(folder.path()), ["partial.txt"]);
    }

    #[test]
    fn errors_name_the_file_and_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| format!("{:#}", write_atomically(path, b"").unwrap_err());
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let below = said(&file.join("x"));
        assert!(
            below.contains("file/x: a part of the path is a file"),
            "{below}"
        );
        let missing = said(&folder.path().join("no/x"));
        // Once, and without the name that the file has while it is written.
        assert!(
            missing.ends_with("no/x: there is no such file or folder: check the path"),
            "{missing}"
        );
        assert!(!missing.contains("partial"), "{missing}");
        assert!(said(folder.path()).contains("it is a folder"));
        let denied = |verb| {
            let error = io::Error::from(ErrorKind::PermissionDenied);
            format!("{:#}", cannot(verb, Path::new("x"), error))
        };
        assert!(denied("write").contains("who may write there"));
        assert!(!denied("read").contains("write"));
        // The temporary name is not in the message.
        let other = tempfile::NamedTempFile::new_in("/proc/self").unwrap_err();
        let other = format!("{:#}", cannot("write", Path::new("x"), other));
        assert!(
            other.starts_with("cannot write x: ") && !other.contains("/proc"),
            "{other}"
        );
        fs::write(&file, b"\xff").unwrap();
        assert!(format!("{:#}", read_text(&file).unwrap_err()).contains("not UTF-8 text"));
    }

    /// Reading a pipe without a writer, or a device without end, would never finish.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_read_to_its_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let device = folder.path().join("device");
        std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
        for path in [pipe, device] {
            let message = format!("{:#}", read_text(&path).unwrap_err());
            assert!(message.contains("a pipe or a device"), "{message}");
        }
    }

    /// Not with a device: without the refusal, a test that is run by the administrator would take it away from everybody.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_not_replaced_by_a_file() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link] {
            let message = format!("{:#}", write_atomically(path, b"1").unwrap_err());
            assert!(message.contains("a pipe or a device"), "{message}");
            assert!(pipe.metadata().unwrap().file_type().is_fifo());
        }
    }
}
