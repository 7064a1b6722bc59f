//! `form man`: the manual pages, generated from the help texts.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;
use serde_json::json;

use crate::output::count;
use crate::{Answer, output};

/// Print the manual page of `form`, or write one page per command into a folder
///
/// With a folder named man1 on the MANPATH, `man form-train` works.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form man | man -l -\n  form man --out ~/.local/share/man/man1"
)]
pub struct Args {
    /// The folder of the pages, which is created if needed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object with the pages written
    #[arg(long, requires = "out")]
    json: bool,
}

pub fn run(args: &Args) -> Result<Answer> {
    let pages = pages()?;
    let Some(folder) = &args.out else {
        output::write_bytes(None, &pages[0].1)?;
        return Ok(Answer::Yes);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    for (name, page) in &pages {
        output::write_bytes(Some(&folder.join(name)), page)?;
    }
    if args.json {
        let names: Vec<&String> = pages.iter().map(|(name, _)| name).collect();
        output::print_json(&json!({ "folder": folder.display().to_string(), "pages": names }))?;
    } else {
        let pages = count(pages.len(), "page");
        output::print(&format!("{pages} written to {}", folder.display()))?;
    }
    Ok(Answer::Yes)
}

/// All pages by name, that of the program first.
fn pages() -> Result<Vec<(String, Vec<u8>)>> {
    let mut program = crate::command().disable_help_subcommand(true);
    program.build();
    let page = |command: &Command| -> Result<(String, Vec<u8>)> {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let name = format!("{name}.1");
        Ok((name, page(command)?))
    };
    let mut pages = vec![page(&program)?];
    for command in program.get_subcommands() {
        pages.push(page(command)?);
    }
    Ok(pages)
}

/// One page. Examples are a section of their own, printed verbatim.
fn page(command: &Command) -> Result<Vec<u8>> {
    let after = command.get_after_help().map(ToString::to_string);
    let man = Man::new(command.clone())
        .manual("FORM")
        .source(concat!("form ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = after {
        let lines = after.lines().filter(|line| line.starts_with("  "));
        let mut text = ".SH EXAMPLES\n.nf\n".to_owned();
        for line in lines {
            text += &format!("{}\n", verbatim(line.trim()));
        }
        text += ".fi\n";
        page.extend(text.into_bytes());
    }
    let exit = ".SH \"EXIT STATUS\"\n0 done, 1 the answer is \"no\", 2 bad input or usage.\n";
    page.extend(exit.bytes());
    Ok(page)
}

/// Escapes a line for roff.
fn verbatim(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters and digits of a text: roff writes all else in its own way.
    fn letters(text: &str) -> String {
        let text = text.replace("\\*(Aq", "").replace("\\[aq]", "");
        let text = text
            .replace("\\fB", "")
            .replace("\\fR", "")
            .replace("\\fI", "");
        text.chars().filter(|c| c.is_alphanumeric()).collect()
    }

    #[test]
    fn every_command_has_a_page_that_says_what_its_help_says() {
        let pages = pages().unwrap();
        let mut program = crate::command();
        program.build();
        let commands: Vec<&Command> = (program.get_subcommands())
            .filter(|command| command.get_name() != "help")
            .collect();
        assert_eq!(pages.len(), commands.len() + 1);
        for command in commands {
            let name = format!("form-{}.1", command.get_name());
            let (_, page) = pages.iter().find(|(page, _)| *page == name).unwrap();
            let page = letters(std::str::from_utf8(page).unwrap());
            let has = |text: String| assert!(page.contains(&letters(&text)), "{name}: {text}");
            has(command.get_about().unwrap().to_string());
            has(command
                .get_after_help()
                .unwrap()
                .to_string()
                .replace("Examples:", ""));
            for arg in command.get_arguments() {
                has(arg.get_long().unwrap_or_default().to_owned());
                let help = arg.get_long_help().or(arg.get_help());
                has(help.unwrap().to_string());
            }
        }
    }

    #[test]
    fn lines_are_shown_letter_by_letter() {
        assert_eq!(verbatim("a -o \\x"), "a \\-o \\ex");
        assert_eq!(verbatim(".SH x"), r"\&.SH x");
    }
}
