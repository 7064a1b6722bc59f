//! Relative links from the page to the files of a run, so that a folder can be moved with its page.

use std::path::{Component, Path, PathBuf};

use super::data::FileData;

/// The place of the page.
#[derive(Clone, Copy, Debug)]
pub(super) enum From<'a> {
    /// In a folder.
    Folder(&'a Path),
    /// On a server, which has the run's files under `files/`.
    Server,
}

/// The files of a run that the page links to.
pub(super) fn files(run: &Path, page: From<'_>) -> Vec<FileData> {
    let mut found = Vec::new();
    for folder in ["", "machines", "checkpoints"] {
        let Ok(entries) = run.join(folder).read_dir() else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            // No hidden files, and not the page itself.
            if !is_file || name.starts_with('.') || (folder.is_empty() && name == "report.html") {
                continue;
            }
            let inside = Path::new(folder).join(entry.file_name());
            found.push(FileData {
                name: match folder {
                    "" => name,
                    folder => format!("{folder}/{name}"),
                },
                href: match page {
                    From::Folder(page) => href(page, &run.join(inside)),
                    From::Server => address(&Path::new("files").join(inside)),
                },
                bytes: entry.metadata().map_or(0, |data| data.len()),
            });
        }
    }
    found.sort_by(|a, b| {
        let depth = |file: &FileData| file.name.contains('/');
        (depth(a), &a.name).cmp(&(depth(b), &b.name))
    });
    found
}

/// The relative link from a folder to a file.
fn href(folder: &Path, file: &Path) -> Option<String> {
    let (folder, file) = (folder.canonicalize().ok()?, file.canonicalize().ok()?);
    // A colon in the first part would be read as a protocol; `encode` escapes it.
    address(&way(&folder, &file)?)
}

fn address(way: &Path) -> Option<String> {
    let mut address = String::new();
    for part in way.components() {
        if !address.is_empty() {
            address.push('/');
        }
        match part {
            Component::ParentDir => address.push_str(".."),
            Component::Normal(name) => encode(name.as_encoded_bytes(), &mut address),
            _ => return None,
        }
    }
    Some(address)
}

fn way(folder: &Path, file: &Path) -> Option<PathBuf> {
    let common = (folder.components().zip(file.components()))
        .take_while(|(a, b)| a == b)
        .count();
    if common == 0 {
        return None;
    }
    let up = folder
        .components()
        .skip(common)
        .map(|_| Component::ParentDir);
    Some(up.chain(file.components().skip(common)).collect())
}

/// Percent-encoding.
fn encode(bytes: &[u8], address: &mut String) {
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                address.push(char::from(*byte));
            }
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_from_the_page_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("runs/a run: 100%");
        std::fs::create_dir_all(run.join("machines")).unwrap();
        std::fs::write(run.join("metrics.csv"), "12345").unwrap();
        std::fs::write(run.join("report.html"), "").unwrap();
        std::fs::write(run.join(".lock"), "").unwrap();
        std::fs::write(run.join("machines/000.form"), "").unwrap();
        let from = |page: &Path| -> Vec<(String, Option<String>)> {
            files(&run, From::Folder(page))
                .into_iter()
                .map(|file| (file.name, file.href))
                .collect()
        };
        let links = |one: &str, two: &str| {
            vec![
                ("metrics.csv".to_owned(), Some(one.to_owned())),
                ("machines/000.form".to_owned(), Some(two.to_owned())),
            ]
        };
        assert_eq!(from(&run), links("metrics.csv", "machines/000.form"));
        assert_eq!(
            from(folder.path()),
            links(
                "runs/a%20run%3A%20100%25/metrics.csv",
                "runs/a%20run%3A%20100%25/machines/000.form"
            )
        );
        let beside = folder.path().join("pages");
        std::fs::create_dir(&beside).unwrap();
        assert!(
            from(&beside)[0]
                .1
                .as_deref()
                .unwrap()
                .starts_with("../runs/a%20run")
        );
        let served = files(&run, From::Server);
        assert_eq!(served[1].href.as_deref(), Some("files/machines/000.form"));
        assert_eq!(served[0].bytes, 5);
    }
}
