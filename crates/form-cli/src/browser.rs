//! Opens a page in the browser that the system uses.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::output;

/// The program of the system that opens files with what people use for them.
const OPENER: &str = match () {
    () if cfg!(target_os = "macos") => "open",
    () if cfg!(windows) => "explorer",
    () => "xdg-open",
};

/// Opens a page and does not wait for the browser; says so if the system has no program that opens files. Without a screen, a browser in
/// the terminal would take it over: none is opened then.
pub fn open(page: &Path) {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen = OPENER != "xdg-open" || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    let opens = |page: &Path| {
        let mut command = Command::new(OPENER);
        let quiet = (command.arg(page))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        quiet.spawn().is_ok()
    };
    if !has_screen || !std::path::absolute(page).is_ok_and(|page| opens(&page)) {
        output::remark(&format!(
            "no browser could be opened here: open {} yourself",
            output::quoted(page)
        ));
    }
}
