//! The digits on checkpoints, as strokes: pictures need no font, and look the same everywhere.

use std::fmt::Write;

/// The strokes of a digit in a box of 0.6 × 1, in the notation of SVG paths.
const DIGITS: [&str; 10] = [
    "M.3 0C-.08 0 -.08 1 .3 1C.68 1 .68 0 .3 0Z",
    "M.12 .22L.36 0L.36 1",
    "M.03 .27C.05 -.08 .56 -.08 .56 .27C.56 .52 .2 .66 .02 1L.58 1",
    "M.04 .12C.2 -.08 .54 0 .54 .25C.54 .42 .4 .48 .24 .48C.42 .48 .58 .56 .58 .74C.58 1.04 .18 1.1 .02 .86",
    "M.44 1L.44 0L0 .7L.6 .7",
    "M.53 0L.1 0L.06 .45C.3 .3 .58 .42 .58 .68C.58 1.02 .18 1.1 .02 .88",
    "M.5 .06C.2 -.06 .03 .3 .03 .66C.03 1.1 .57 1.1 .57 .68C.57 .32 .1 .32 .03 .66",
    "M.02 0L.58 0L.2 1",
    "M.3 .46C.02 .46 .02 0 .3 0C.58 0 .58 .46 .3 .46C-.06 .46 -.06 1 .3 1C.66 1 .66 .46 .3 .46Z",
    "M.1 .94C.4 1.06 .57 .7 .57 .34C.57 -.1 .03 -.1 .03 .32C.03 .68 .5 .68 .57 .34",
];

/// The width of a digit and of the gap to the next, of its height.
const WIDTH: f32 = 0.6;
const GAP: f32 = 0.2;

/// The strokes of a number whose middle is at `(x, y)`, as an SVG path.
pub(crate) fn number(number: usize, x: f32, y: f32, height: f32) -> String {
    let digits = number.to_string();
    let count = digits.len() as f32;
    let width = count * WIDTH + (count - 1.0) * GAP;
    let mut path = String::new();
    for (i, digit) in digits.bytes().enumerate() {
        let left = x + (i as f32 * (WIDTH + GAP) - width / 2.0) * height;
        let top = y - height / 2.0;
        place(
            DIGITS[usize::from(digit - b'0')],
            left,
            top,
            height,
            &mut path,
        );
    }
    path
}

/// Appends a path, scaled and moved. Its letters are followed by pairs of numbers, `Z` by none.
fn place(strokes: &str, left: f32, top: f32, scale: f32, path: &mut String) {
    let mut rest = strokes;
    while let Some(letter) = rest.chars().next() {
        path.push(letter);
        let end = rest[1..]
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(rest.len(), |i| i + 1);
        for (i, number) in rest[1..end].split_whitespace().enumerate() {
            let value: f32 = number.parse().unwrap_or(0.0);
            let origin = if i % 2 == 0 { left } else { top };
            let _ = write!(
                path,
                "{}{:.3}",
                if i == 0 { "" } else { " " },
                origin + scale * value
            );
        }
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_digits_side_by_side() {
        assert_eq!(
            number(1, 0.5, 0.5, 1.0),
            "M0.320 0.220L0.560 0.000L0.560 1.000"
        );
        let (one, twelve) = (number(1, 5.0, 5.0, 0.4), number(12, 5.0, 5.0, 0.4));
        assert_eq!(twelve.matches('M').count(), 2);
        assert!(twelve.len() > one.len());
    }
}
