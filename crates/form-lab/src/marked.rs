//! A part of a Markdown file that a command makes: between `<!-- NAME:begin -->` and `<!-- NAME:end -->` nothing is written by
//! hand.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::atomic::{read_text, write_atomically};

/// Replaces the part of a Markdown file between the markers of that name, at once; all else stays byte by byte.
pub fn update_marked(path: &Path, name: &str, content: &str) -> Result<()> {
    let text = read_text(path)?;
    let updated =
        replace_marked(&text, name, content).with_context(|| path.display().to_string())?;
    if updated == text {
        return Ok(());
    }
    write_atomically(path, updated.as_bytes())
}

/// The same for a text.
pub fn replace_marked(text: &str, name: &str, content: &str) -> Result<String> {
    let find = |part: &str| {
        let marker = format!("<!-- {name}:{part} -->");
        let mut places = text.match_indices(&marker).map(|(at, _)| at);
        match (places.next(), places.next()) {
            (Some(at), None) => Ok((at, at + marker.len())),
            (None, _) => bail!("there is no `{marker}`: write it where the table belongs"),
            (Some(_), Some(second)) => bail!(
                "line {}: `{marker}` for the second time: remove one",
                text[..second].lines().count() + usize::from(text[..second].ends_with('\n'))
            ),
        }
    };
    let ((_, begin), (end, _)) = (find("begin")?, find("end")?);
    if end < begin {
        bail!("`<!-- {name}:end -->` stands before `<!-- {name}:begin -->`: exchange them");
    }
    // A table needs an empty line above it.
    Ok(format!(
        "{}\n\n{}\n\n{}",
        &text[..begin],
        content.trim(),
        &text[end..]
    ))
}
