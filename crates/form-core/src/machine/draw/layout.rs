//! The layout of a picture: layered by `dagre` or, for large machines and those that `dagre` cannot arrange, in plain columns.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::columns::columns;
use super::geometry::{Layout, Link, Point, Size};
use super::layered::layered;

/// Beyond this number of states or links the layout has plain columns: `dagre` recurses along paths and slows down.
const MANY_STATES: usize = 500;
const MANY_LINKS: usize = 200;

/// Arranges boxes and links. Equal arguments give equal results.
pub(super) fn arrange(states: &[Size], links: &[Link], initial: usize) -> Layout {
    let small = states.len() <= MANY_STATES && links.len() <= MANY_LINKS;
    let layered = || catch_unwind(AssertUnwindSafe(|| layered(states, links, initial)));
    let arranged = small.then(layered).and_then(|layout| layout.ok().flatten());
    let mut layout = arranged.unwrap_or_else(|| columns(states, links, initial));
    measure_columns(&mut layout, states, links);
    layout
}

/// Sets the half width of the column at every point of every route.
fn measure_columns(layout: &mut Layout, states: &[Size], links: &[Link]) {
    // All boxes of a column have the same middle; rounding makes it a key.
    let key = |point: &Point| (point.x * 4.0).round() as i64;
    let mut halves: BTreeMap<i64, f64> = BTreeMap::new();
    let mut widen = |at: &Point, size: Size| {
        let half = halves.entry(key(at)).or_insert(0.0);
        *half = half.max(size.width / 2.0);
    };
    for (middle, size) in layout.states.iter().zip(states) {
        widen(middle, *size);
    }
    for (route, link) in layout.routes.iter().zip(links) {
        widen(&route.points[route.label], link.label);
    }
    for route in &mut layout.routes {
        for (point, reach) in route.points.iter().zip(&mut route.reach) {
            *reach = halves.get(&key(point)).copied().unwrap_or(0.0);
        }
    }
}
