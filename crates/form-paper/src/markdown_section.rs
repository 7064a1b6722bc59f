//! A generated section of a Markdown file, between `<!-- NAME:begin -->` and `<!-- NAME:end -->`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use form_lab::{read_text, write_atomically};

/// Replaces a section of a Markdown file atomically; the rest of the file keeps its bytes.
pub fn update_section(path: &Path, name: &str, content: &str) -> Result<()> {
    let text = read_text(path)?;
    let updated =
        replace_section(&text, name, content).with_context(|| path.display().to_string())?;
    if updated == text {
        return Ok(());
    }
    write_atomically(path, updated.as_bytes())
}

/// Whether a section of a Markdown file has that content.
pub fn has_section(path: &Path, name: &str, content: &str) -> Result<bool> {
    let text = read_text(path)?;
    let updated = replace_section(&text, name, content);
    Ok(updated.with_context(|| path.display().to_string())? == text)
}

/// Replaces a section of a text.
pub(crate) fn replace_section(text: &str, name: &str, content: &str) -> Result<String> {
    let find = |part: &str| {
        let marker = format!("<!-- {name}:{part} -->");
        let mut places = text.match_indices(&marker).map(|(at, _)| at);
        match (places.next(), places.next()) {
            (Some(at), None) => Ok((at, at + marker.len())),
            (None, _) => bail!("there is no `{marker}`: add it where the table belongs"),
            (Some(_), Some(second)) => bail!(
                "line {}: a second `{marker}`: remove one",
                text[..second].lines().count() + usize::from(text[..second].ends_with('\n'))
            ),
        }
    };
    let ((_, begin), (end, _)) = (find("begin")?, find("end")?);
    if end < begin {
        bail!("`<!-- {name}:end -->` comes before `<!-- {name}:begin -->`: swap them");
    }
    // A table needs an empty line above it.
    Ok(format!(
        "{}\n\n{}\n\n{}",
        &text[..begin],
        content.trim(),
        &text[end..]
    ))
}

#[cfg(test)]
mod tests;
