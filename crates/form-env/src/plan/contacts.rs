//! Which labelled cells can be walked to from where, without touching another: both border on the same region of cells without a
//! label, or on each other.

use super::label_map::LabelMap;

/// A region of cells without a label, or a cell with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
    /// The region of this number.
    Region(u16),
    /// The labelled cell of this number.
    Object(u16),
}

/// The regions and the labelled cells of a map, and how they touch.
#[derive(Clone, Debug)]
pub(super) struct Contacts {
    /// By cell; `None` for walls.
    places: Vec<Option<Place>>,
    /// By labelled cell: the number of the cell.
    pub(super) cells: Vec<usize>,
    /// By labelled cell: its label.
    pub(super) labels: Vec<usize>,
    /// By labelled cell: the regions around it, in order.
    pub(super) regions: Vec<Vec<u16>>,
    /// By labelled cell: those beside it that share no region with it, in order. Where two share one, that says it already.
    pub(super) beside: Vec<Vec<u16>>,
    /// By region: the labelled cells around it, in order.
    around: Vec<Vec<u16>>,
}

impl Contacts {
    pub(super) fn new(map: &LabelMap) -> Self {
        let (walls, column) = (map.room.walls(), map.room.height());
        // Walls go all around, so a cell that is not one has four neighbours.
        let neighbours = |cell: usize| [cell - column, cell - 1, cell + 1, cell + column];
        let mut places: Vec<Option<Place>> = vec![None; walls.len()];
        let cells: Vec<usize> = (0..walls.len())
            .filter(|cell| !walls[*cell] && map.label[*cell] != 0)
            .collect();
        for (object, cell) in cells.iter().enumerate() {
            places[*cell] = Some(Place::Object(object as u16));
        }
        let mut regions = 0;
        let mut open = Vec::new();
        for start in 0..walls.len() {
            if walls[start] || places[start].is_some() {
                continue;
            }
            places[start] = Some(Place::Region(regions));
            open.push(start);
            while let Some(cell) = open.pop() {
                for next in neighbours(cell) {
                    if !walls[next] && places[next].is_none() {
                        places[next] = Some(Place::Region(regions));
                        open.push(next);
                    }
                }
            }
            regions += 1;
        }
        let mut contacts = Self {
            labels: (cells.iter().map(|cell| usize::from(map.label[*cell]))).collect(),
            regions: vec![Vec::new(); cells.len()],
            beside: vec![Vec::new(); cells.len()],
            around: vec![Vec::new(); usize::from(regions)],
            cells,
            places,
        };
        contacts.connect(neighbours);
        contacts
    }

    fn connect(&mut self, neighbours: impl Fn(usize) -> [usize; 4]) {
        for (object, cell) in self.cells.iter().enumerate() {
            for place in neighbours(*cell).map(|cell| self.places[cell]) {
                match place {
                    Some(Place::Region(region)) => self.regions[object].push(region),
                    Some(Place::Object(other)) => self.beside[object].push(other),
                    None => {}
                }
            }
            self.regions[object].sort_unstable();
            self.regions[object].dedup();
            for region in &self.regions[object] {
                self.around[usize::from(*region)].push(object as u16);
            }
        }
        let regions = &self.regions;
        for (object, beside) in self.beside.iter_mut().enumerate() {
            let shares = |other: u16| {
                (regions[object].iter()).any(|region| regions[usize::from(other)].contains(region))
            };
            beside.retain(|other| !shares(*other));
            beside.sort_unstable();
        }
    }

    /// The place of a cell; `None` for walls.
    pub(super) fn place(&self, cell: usize) -> Option<Place> {
        self.places[cell]
    }

    /// What can be walked to from a place where labelled cells that are `free` can be walked through: the least place among those that
    /// can be reached so, a region if there is one, and the other labelled cells that are touched first, in order.
    pub(super) fn walk(
        &self,
        from: Place,
        mut free: impl FnMut(usize) -> bool,
    ) -> (Place, Vec<usize>) {
        let mut known_regions = vec![false; self.around.len()];
        let mut known = vec![false; self.cells.len()];
        let mut open = vec![from];
        let mut least = from;
        let mut touched = Vec::new();
        match from {
            Place::Region(region) => known_regions[usize::from(region)] = true,
            Place::Object(object) => known[usize::from(object)] = true,
        }
        while let Some(place) = open.pop() {
            least = least.min(place);
            let (regions, objects): (&[u16], &[u16]) = match place {
                Place::Region(region) => (&[], &self.around[usize::from(region)]),
                Place::Object(object) => {
                    let object = usize::from(object);
                    (&self.regions[object], &self.beside[object])
                }
            };
            for region in regions {
                if !std::mem::replace(&mut known_regions[usize::from(*region)], true) {
                    open.push(Place::Region(*region));
                }
            }
            for object in objects {
                if std::mem::replace(&mut known[usize::from(*object)], true) {
                    continue;
                }
                match free(usize::from(*object)) {
                    true => open.push(Place::Object(*object)),
                    false => touched.push(usize::from(*object)),
                }
            }
        }
        touched.sort_unstable();
        (least, touched)
    }
}
