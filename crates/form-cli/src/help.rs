//! The text of `form --help`: the commands in groups.

use clap::Command;

/// The commands by topic, in the order of the help.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Machines", &["show", "check", "diff", "ground", "convert"]),
    ("Traces", &["learn", "traces", "record"]),
    ("Worlds", &["tasks", "run", "draw", "play"]),
    (
        "Training",
        &["train", "eval", "transfer", "report", "pretrain"],
    ),
    (
        "The program",
        &["reproduce", "bench", "doctor", "completions", "man"],
    ),
];

/// Groups the commands, and accepts values that look like negative numbers, so that options refuse them with their own messages.
pub fn grouped(program: Command) -> Command {
    let program = program.mut_subcommands(|command| {
        command.mut_args(
            |arg| match arg.get_action().takes_values() && arg.get_long().is_some() {
                true => arg.allow_negative_numbers(true),
                false => arg,
            },
        )
    });
    let mut list = String::new();
    for (title, names) in GROUPS {
        list += &format!("{title}:\n");
        for name in names {
            // Some commands are features of the build.
            let Some(command) = program.find_subcommand(name) else {
                continue;
            };
            let about = command.get_about();
            let about = about.map(ToString::to_string).unwrap_or_default();
            list += &format!("  {name:<11}  {about}\n");
        }
        list.push('\n');
    }
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}\n\n`form COMMAND --help` describes a command, with examples. Exit codes: 0 done, 1 the answer is \"no\", 2 bad input."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = (GROUPS.iter().flat_map(|(_, names)| *names))
            .copied()
            .collect();
        let program = crate::command();
        let mut names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
        let help = crate::command().render_help().to_string();
        for name in names {
            assert!(help.contains(&format!("\n  {name} ")), "{name}: {help}");
        }
    }

    /// The words of an example, without redirections; what is in quotes is one word.
    fn words(example: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (i, part) in example.split('\'').enumerate() {
            if i % 2 == 1 {
                words.push(part.to_owned());
                continue;
            }
            let mut typed = part.split(['|', '>']);
            words.extend(
                typed
                    .next()
                    .unwrap_or_default()
                    .split_whitespace()
                    .map(str::to_owned),
            );
            if typed.next().is_some() {
                break;
            }
        }
        words
    }

    #[test]
    fn every_command_has_a_summary_and_examples_that_parse() {
        for command in crate::command().get_subcommands() {
            let name = command.get_name();
            let about = command.get_about().unwrap().to_string();
            assert!(
                !about.ends_with('.') && about.len() <= 100,
                "{name}: {about}"
            );
            let examples = command.get_after_help().unwrap().to_string();
            let mut lines = examples.lines();
            assert_eq!(lines.next(), Some("Examples:"), "{name}");
            let mut of_this = 0;
            for line in lines {
                let words = words(line);
                assert_eq!(words[..2], ["form", name], "{line}");
                let parsed = crate::command().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                of_this += 1;
            }
            assert!(of_this >= 1, "{name}");
        }
    }

    #[test]
    fn every_option_has_help_and_the_same_name_takes_the_same() {
        // These take different values in different commands.
        let differ = ["out", "observations", "machine", "episodes", "maps"];
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for command in crate::command().get_subcommands() {
            for arg in command.get_arguments() {
                let (name, id) = (command.get_name(), arg.get_id().as_str());
                let help = arg.get_help().map(ToString::to_string);
                let help = help.unwrap_or_default();
                assert!(
                    !help.is_empty() && !help.ends_with('.'),
                    "{name} {id}: {help}"
                );
                let Some(long) = arg.get_long() else { continue };
                if arg.get_action().takes_values() {
                    let value = arg.get_value_names().map(|names| names.join(" "));
                    let value = value.unwrap_or_default();
                    assert!(
                        !value.is_empty(),
                        "{name} --{long} does not say what it takes"
                    );
                    names.entry(long.to_owned()).or_default().insert(value);
                }
            }
        }
        names.retain(|name, values| values.len() > 1 && !differ.contains(&name.as_str()));
        assert!(names.is_empty(), "{names:?}");
    }

    /// Names of tasks and shells need no help lines: `form tasks` describes the former.
    #[test]
    fn every_value_of_an_enumeration_has_a_help_line() {
        let mut without = BTreeSet::new();
        for command in crate::command().get_subcommands() {
            for arg in command.get_arguments() {
                let id = arg.get_id().as_str();
                let is_enumeration =
                    arg.get_action().takes_values() && !["task", "room", "shell"].contains(&id);
                let values = arg.get_possible_values();
                if is_enumeration && values.iter().any(|value| value.get_help().is_none()) {
                    without.insert(format!("{} --{id}", command.get_name()));
                }
            }
        }
        assert!(without.is_empty(), "{without:?}");
    }

    #[test]
    fn what_answers_a_question_does_so_for_scripts_too() {
        // These only write their product to standard output or to the screen.
        let without = ["draw", "play", "record", "completions"];
        for command in crate::command().get_subcommands() {
            let has = (command.get_arguments()).any(|arg| arg.get_long() == Some("json"));
            let name = command.get_name();
            assert_eq!(has, !without.contains(&name), "{name}");
        }
    }
}
