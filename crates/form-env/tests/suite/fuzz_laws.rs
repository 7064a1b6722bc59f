//! What must hold of every task file, however broken: the law that the fuzz target `tasks` and the replay of kept inputs share.
//!
//! It panics when it is broken. A text that is refused is refused with a message and a place that lies in it; one that is accepted
//! survives being written and read again.

use form_env::Task;

/// A text read as a task file with its machine in it.
pub fn tasks(bytes: &[u8]) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    match Task::from_toml(text) {
        Ok(task) => {
            let written = task.to_toml();
            let again = Task::from_toml(&written)
                .unwrap_or_else(|error| panic!("it does not read back: {error}\n{written}"));
            assert_eq!(again.description(), task.description(), "{written}");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.trim().is_empty(), "an error without a message");
            let Some((line, column)) = error.position() else {
                panic!("an error without a place: {message}");
            };
            let lines: Vec<&str> = text.split('\n').collect();
            assert!((1..=lines.len()).contains(&line), "line {line}: {message}");
            // In a machine that is written with escapes, the line is that of the text it stands for.
            assert!(column >= 1, "column {column}: {message}");
        }
    }
}
