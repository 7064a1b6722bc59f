//! Compares what a page shows of a command's output with what was printed.

/// Compares what a page shows with what was printed. `…` alone on a line stands for any lines, within one for any text.
pub fn compare(shown: &str, printed: &str, small: bool) -> Result<(), String> {
    let even = |text: &str| {
        let lines = text.trim_end().lines();
        lines
            .map(|line| {
                if small {
                    without_numbers(line)
                } else {
                    line.trim_end().to_owned()
                }
            })
            .collect::<Vec<_>>()
    };
    let (shown, printed) = (even(shown), even(printed));
    let parts: Vec<&[String]> = shown.split(|line| line.trim() == "…").collect();
    let mut at = 0;
    for (number, part) in parts.iter().enumerate() {
        let fits = |start: usize| {
            let there = printed.get(start..start + part.len());
            there.is_some_and(|there| {
                part.iter()
                    .zip(there)
                    .all(|(shown, found)| fits_line(shown, found))
            })
        };
        let first = number == 0;
        let last = number + 1 == parts.len();
        let start = match (first, last) {
            (true, _) => Some(0),
            (false, true) => printed
                .len()
                .checked_sub(part.len())
                .filter(|start| *start >= at),
            (false, false) => (at..=printed.len()).find(|start| fits(*start)),
        };
        let whole = |start: usize| !last || start + part.len() == printed.len();
        match start.filter(|start| fits(*start) && whole(*start)) {
            Some(start) => at = start + part.len(),
            None => {
                let from = if last && !first {
                    printed.len().saturating_sub(part.len())
                } else {
                    at
                };
                let found = printed[from..].join("\n");
                return Err(format!("shown:\n{}\nprinted:\n{found}", part.join("\n")));
            }
        }
    }
    Ok(())
}

/// Whether a line is what a shown one says, `…` standing for any text.
fn fits_line(shown: &str, found: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = found.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A line with one sign for every number and one blank for many.
fn without_numbers(line: &str) -> String {
    let mut said = String::new();
    let mut letters = line.trim_end().chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_digit() {
            while letters
                .next_if(|next| next.is_ascii_digit() || ".,".contains(*next))
                .is_some()
            {}
            // The sign belongs to the number.
            if said.ends_with('-') {
                said.pop();
            }
            said.push('0');
        } else if !(letter == ' ' && said.ends_with(' ')) {
            said.push(letter);
        }
    }
    said
}
