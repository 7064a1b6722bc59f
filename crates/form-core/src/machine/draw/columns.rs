//! The plain layout of large machines: states in columns by distance from the initial one, labels in columns between.
//!
//! Nothing overlaps but lines, and it takes little more than linear time.

use std::collections::VecDeque;

use super::geometry::{COLUMN_GAP, EDGE_GAP, Layout, Link, Point, Route, STATE_GAP, Size};

/// States in columns by distance from the initial state, the unreachable ones in the last; labels in columns between.
pub(super) fn columns(states: &[Size], links: &[Link], initial: usize) -> Layout {
    let column = distances(states.len(), links, initial);
    let count = column.iter().max().map_or(0, |last| last + 1);
    let mut loops = vec![Size::default(); states.len()];
    for link in links.iter().filter(|link| link.from == link.to) {
        loops[link.from] = link.label;
    }

    // Each column is a pile, each gap between columns a pile of labels; all piles are centred on one line.
    let mut cells: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (state, column) in column.iter().enumerate() {
        cells[*column].push(state);
    }
    let cell = |state: usize| Size {
        width: states[state].width.max(loops[state].width),
        height: states[state].height
            + match loops[state].height {
                0.0 => 0.0,
                below => 2.0 * below + STATE_GAP,
            },
    };
    let mut places = vec![Point { x: 0.0, y: 0.0 }; states.len()];
    for pile in &cells {
        stack(
            pile,
            |state| cell(state).height,
            STATE_GAP,
            |state, y| {
                places[state].y = y;
            },
        );
    }
    let mut gaps: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (i, link) in links.iter().enumerate() {
        if link.from != link.to {
            gaps[column[link.from].min(column[link.to])].push(i);
        }
    }
    let mut labels = vec![Point { x: 0.0, y: 0.0 }; links.len()];
    let tallest = (cells.iter())
        .map(|pile| pile.iter().map(|state| cell(*state).height).sum())
        .fold(0.0, f64::max);
    let mut left = 0.0;
    for (pile, gap) in cells.iter().zip(&mut gaps) {
        let width = widest(pile, |state| cell(state).width);
        for state in pile {
            places[*state].x = left + width / 2.0;
        }
        left += width + COLUMN_GAP;

        let level = |i: &usize| places[links[*i].from].y + places[links[*i].to].y;
        gap.sort_by(|a, b| level(a).total_cmp(&level(b)).then(a.cmp(b)));
        // As many piles as keep the labels from being taller than the states.
        let height: f64 = gap.iter().map(|i| links[*i].label.height + EDGE_GAP).sum();
        let piles = (height / tallest.max(1.0)).ceil().max(1.0) as usize;
        for first in 0..piles.min(gap.len()) {
            let pile: Vec<usize> = gap.iter().skip(first).step_by(piles).copied().collect();
            let width = widest(&pile, |i| links[i].label.width);
            stack(
                &pile,
                |i| links[i].label.height,
                EDGE_GAP,
                |i, y| {
                    labels[i] = Point {
                        x: left + width / 2.0,
                        y,
                    };
                },
            );
            left += width + COLUMN_GAP / 2.0;
        }
        left += COLUMN_GAP / 2.0;
    }
    for (link, label) in links.iter().zip(&mut labels) {
        if link.from == link.to {
            let state = places[link.from];
            let below = (states[link.from].height + link.label.height) / 2.0 + STATE_GAP / 2.0;
            *label = Point {
                x: state.x,
                y: state.y + below,
            };
        }
    }
    Layout {
        states: places,
        routes: labels.into_iter().map(Route::alone).collect(),
    }
}

fn widest(pile: &[usize], width: impl Fn(usize) -> f64) -> f64 {
    pile.iter().map(|i| width(*i)).fold(0.0, f64::max)
}

/// Piles boxes up around level zero.
fn stack(
    pile: &[usize],
    height: impl Fn(usize) -> f64,
    gap: f64,
    mut place: impl FnMut(usize, f64),
) {
    let total: f64 = pile.iter().map(|i| height(*i) + gap).sum();
    let mut top = -total / 2.0;
    for i in pile {
        place(*i, top + (height(*i) + gap) / 2.0);
        top += height(*i) + gap;
    }
}

/// The distance of each state from the initial one in links; unreachable states are one further than all others.
fn distances(states: usize, links: &[Link], initial: usize) -> Vec<usize> {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); states];
    for link in links {
        successors[link.from].push(link.to);
    }
    let mut distance: Vec<Option<usize>> = vec![None; states];
    distance[initial] = Some(0);
    let mut queue = VecDeque::from([(initial, 0)]);
    let mut last = 0;
    while let Some((state, so_far)) = queue.pop_front() {
        last = so_far;
        for next in &successors[state] {
            if distance[*next].is_none() {
                distance[*next] = Some(so_far + 1);
                queue.push_back((*next, so_far + 1));
            }
        }
    }
    let beyond = last + 1;
    distance.into_iter().map(|d| d.unwrap_or(beyond)).collect()
}
