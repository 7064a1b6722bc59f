//! The page: one HTML file with its style, scripts and data inside.
//!
//! It loads nothing else, and its content security policy allows only its own script: text from a run's files that looks like
//! markup stays text, and could not run anyway.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use super::data::PageData;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLES: [&str; 2] = [
    include_str!("page/vendor/uPlot.min.css"),
    include_str!("page/page.css"),
];
/// In the order of their dependencies.
const SCRIPTS: [&str; 18] = [
    include_str!("page/vendor/uPlot.iife.min.js"),
    include_str!("page/dom.js"),
    include_str!("page/numbers.js"),
    include_str!("page/series.js"),
    include_str!("page/quantities.js"),
    include_str!("page/chart.js"),
    include_str!("page/legend.js"),
    include_str!("page/curves.js"),
    include_str!("page/graph.js"),
    include_str!("page/changes.js"),
    include_str!("page/machines.js"),
    include_str!("page/episode.js"),
    include_str!("page/player.js"),
    include_str!("page/replays.js"),
    include_str!("page/table.js"),
    include_str!("page/overview.js"),
    include_str!("page/live.js"),
    include_str!("page/main.js"),
];

/// The page that shows the data.
pub(super) fn html(title: &str, data: &PageData) -> serde_json::Result<String> {
    let script = SCRIPTS.join("\n;\n");
    let hash = BASE64_STANDARD.encode(Sha256::digest(script.as_bytes()));
    let connect = if data.live.is_some() {
        "'self'"
    } else {
        "'none'"
    };
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    );
    Ok(fill(
        TEMPLATE,
        &[
            ("{{title}}", &escaped(title)),
            ("{{csp}}", &policy),
            ("{{style}}", &STYLES.join("\n")),
            ("{{data}}", &json(data)?),
            ("{{script}}", &script),
        ],
    ))
}

/// The data as JSON that cannot end its HTML element.
pub(super) fn json(data: &PageData) -> serde_json::Result<String> {
    let text = serde_json::to_string(data)?;
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => safe.push(c),
        }
    }
    Ok(safe)
}

/// Fills the placeholders of the template in one pass: inserted text is not scanned again.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    let next = |rest: &str| {
        (values.iter())
            .filter_map(|(place, value)| Some((rest.find(place)?, place.len(), *value)))
            .min_by_key(|(at, ..)| *at)
    };
    while let Some((at, length, value)) = next(rest) {
        page.push_str(&rest[..at]);
        page.push_str(value);
        rest = &rest[at + length..];
    }
    page + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::data::RunData;

    #[test]
    fn text_cannot_leave_its_place() {
        let hostile = "</script><script>alert(1)</script><!-- {{script}} \u{2028}&";
        let data = PageData {
            version: "0",
            live: None,
            runs: vec![RunData {
                name: hostile.to_owned(),
                ..RunData::default()
            }],
        };
        let text = json(&data).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["runs"][0]["name"], hostile);
        let page = html(hostile, &data).unwrap();
        // The data and the script; what was put in was not filled again.
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("{{script}}").count(), 2);
    }

    #[test]
    fn every_place_of_the_template_is_there_once() {
        for place in [
            "{{title}}",
            "{{csp}}",
            "{{style}}",
            "{{data}}",
            "{{script}}",
        ] {
            assert_eq!(TEMPLATE.matches(place).count(), 1, "{place}");
        }
        // A script that ends its own element would be cut in two.
        assert!(SCRIPTS.iter().all(|script| !script.contains("</script")));
        assert!(STYLES.iter().all(|style| !style.contains("</style")));
    }
}
