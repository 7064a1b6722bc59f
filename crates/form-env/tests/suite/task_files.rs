//! Task files: what they say is what is read, and what is wrong with them is said with its place.

use std::path::{Path, PathBuf};

use form_env::{Task, builtin_tasks};
use proptest::prelude::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Every broken file, read as a user would: the message names the file, the line and the column.
#[test]
fn broken_task_files() {
    let mut names: Vec<String> = (fixtures().join("broken").read_dir().unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() > 20);
    let folder = format!("{}/", fixtures().join("broken").display());
    let mut all = String::new();
    for name in names {
        let error = Task::open(&fixtures().join("broken").join(&name)).unwrap_err();
        let said = error.to_string().replace(&folder, "");
        assert!(error.position().is_some(), "no place: {said}");
        all += &format!("{name}\n{said}\n\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn what_is_written_reads_back_as_the_same_task() {
    let mine = Task::open(&fixtures().join("good/two_rooms.toml")).unwrap();
    for task in builtin_tasks().into_iter().chain([mine]) {
        let again = Task::from_toml(&task.to_toml()).unwrap();
        assert_eq!(again.description(), task.description());
        assert_eq!(again.signature(), task.signature());
    }
}

#[test]
fn a_file_with_everything() {
    let task = Task::open(&fixtures().join("good/two_rooms.toml")).unwrap();
    insta::assert_snapshot!(task.to_toml());
}

#[test]
fn tasks_are_found_by_name_or_file() {
    assert_eq!(Task::find("green-but-one").unwrap().name(), "green-but-one");
    let file = fixtures().join("good/two_rooms.toml").display().to_string();
    assert_eq!(Task::find(&file).unwrap().name(), "two-rooms");
    let unknown = Task::find("all-green").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "no task `all-green`: there are all-yellow, all-yellow-4, all-yellow-6, green-but-one, blue-all-yellow-7, any-two-yellow, yellow-and-blue, key-and-door; a file of your own ends in .toml"
    );
    for (typed, meant) in [
        ("all-yelow", "all-yellow"),
        ("Green-but-on", "green-but-one"),
    ] {
        let mistyped = Task::find(typed).unwrap_err().to_string();
        let question = format!("no task `{typed}`: is `{meant}` meant? there are all-yellow, ");
        assert!(mistyped.starts_with(&question), "{mistyped}");
    }
    let missing = Task::find("nowhere/mine.toml").unwrap_err().to_string();
    assert!(missing.starts_with("nowhere/mine.toml: "), "{missing}");
}

proptest! {
    /// Whatever is done to a task file, it is read or refused with its place, and what is read can be written.
    #[test]
    fn no_text_is_too_strange(
        number in 0..5_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, "[ -~\\n]{0,3}"), 1..4),
    ) {
        let mut text = builtin_tasks()[number].to_toml();
        for (place, removed, added) in edits {
            // The files are ASCII: every byte is a place to edit.
            let start = place.index(text.len());
            text.replace_range(start..(start + removed).min(text.len()), &added);
        }
        match Task::from_toml(&text) {
            Ok(task) => {
                let again = Task::from_toml(&task.to_toml()).unwrap();
                prop_assert_eq!(again.description(), task.description());
            }
            Err(error) => prop_assert!(error.position().is_some(), "{}", error),
        }
    }
}

/// Whatever letters stand behind the quotes of a text, and whatever ends its lines, mistakes in it are found where they are.
#[test]
fn mistakes_in_machines_of_several_lines_are_found_where_they_are() {
    let at = |machine: &str| {
        let text = format!("name = \"x\"\nmachine = {machine}\nroom = \"paper\"\n");
        Task::from_toml(&text).unwrap_err().to_string()
    };
    for (machine, place) in [
        // Line ends that are escapes are none of the file's: it is somewhere in the string.
        ("\"a日\\n\"", "2:11: "),
        ("\"日\\n\"", "2:11: "),
        ("'''日\n'''", "2:1: "),
        ("'''\na日\n'''", "3:1: "),
    ] {
        assert!(at(machine).starts_with(place), "{}", at(machine));
    }
    assert!(at("'''\r\nmachine m\r\ninitial u0\r\nnonsense\r\n'''").starts_with("5:1: "));
    assert!(at("\"\"\"\nmachine m\ninitial u0\nnonsense\n\"\"\"").starts_with("5:1: "));
}

/// Reading them would never be over.
#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_no_task_files() {
    let folder = tempfile::tempdir().unwrap();
    let endless = folder.path().join("endless.toml");
    std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
    let message = Task::open(&endless).unwrap_err().to_string();
    assert!(
        message.ends_with("a pipe or a device, not a file"),
        "{message}"
    );
    let task = folder.path().join("task.toml");
    let text = "name = \"x\"\nmachine = \"endless.toml\"\nroom = \"paper\"\n";
    std::fs::write(&task, text).unwrap();
    let message = Task::open(&task).unwrap_err().to_string();
    assert!(
        message.contains("a pipe or a device, not a file"),
        "{message}"
    );
}
