//! The part of a Markdown file that a command makes.

use std::fs;

use super::{replace_section, update_section};

fn said<T: std::fmt::Debug>(result: anyhow::Result<T>) -> String {
    format!("{:#}", result.unwrap_err())
}

#[test]
fn the_marked_part_of_a_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("README.md");
    let file = |middle: &str| {
        format!(
            "# Title\r\n<!-- results:begin -->{middle}<!-- results:end -->\nThe end, no line end"
        )
    };
    fs::write(&path, file("\nold\n")).unwrap();
    for _ in 0..2 {
        update_section(&path, "results", "| a |\n|---|\n").unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            file("\n\n| a |\n|---|\n\n")
        );
    }
}

#[test]
fn missing_markers_are_errors_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("README.md");
    let text = "<!-- other:begin --><!-- other:end -->\n<!-- results:end -->\n";
    fs::write(&path, text).unwrap();
    let message = said(update_section(&path, "results", "x"));
    assert!(
        message.contains("README.md: there is no `<!-- results:begin -->`"),
        "{message}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let reversed = said(replace_section("<!-- a:end --> <!-- a:begin -->", "a", ""));
    assert!(reversed.contains("swap them"), "{reversed}");
    let twice = said(replace_section(
        "<!-- a:begin -->\n<!-- a:end -->\n\n<!-- a:begin -->",
        "a",
        "",
    ));
    assert!(
        twice.contains("line 4: a second `<!-- a:begin -->`"),
        "{twice}"
    );
}
