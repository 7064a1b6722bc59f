//! The benchmarks of the field: each keeps the contract of environments, and a world of letters is the table that it gives out.

use form_env::{
    BenchmarkWorld, CheckOptions, Environment, LetterWorld, Naming, Stream, WaterWorld,
    check_environment, generator,
};
use proptest::prelude::*;

const LETTERS: &str = "aabbccddee";

fn letters() -> LetterWorld {
    LetterWorld::letters(5, LETTERS, 75, &mut generator(0, Stream::Map(0))).unwrap()
}

#[test]
fn every_world_keeps_the_contract() {
    let worlds: [BenchmarkWorld; 6] = [
        LetterWorld::office(Naming::Words).into(),
        LetterWorld::office(Naming::Letters).into(),
        LetterWorld::craft(1, Naming::Words).into(),
        letters().into(),
        WaterWorld::new(1, Naming::Words).into(),
        WaterWorld::new(1, Naming::Letters).into(),
    ];
    let options = CheckOptions {
        episodes: 3,
        ..CheckOptions::default()
    };
    for mut world in worlds {
        assert_eq!(check_environment(&mut world, &options), []);
    }
}

#[test]
fn words_and_letters_say_the_same() {
    let (mut words, mut letters) = (
        LetterWorld::craft(4, Naming::Words),
        LetterWorld::craft(4, Naming::Letters),
    );
    let meaning = |letter: &str| match letter {
        "a" => "wood",
        "b" => "toolshed",
        "c" => "workbench",
        "d" => "grass",
        "e" => "factory",
        "f" => "iron",
        "g" => "gold",
        "h" => "gem",
        other => panic!("{other}"),
    };
    let random = &mut generator(0, Stream::Other(0));
    words.reset(random).unwrap();
    letters.reset(random).unwrap();
    let mut seen = 0;
    // Along every row: up to the first, then to and fro.
    let walk = std::iter::repeat_n(0, 20)
        .chain(std::iter::repeat_n(3, 20))
        .chain((0..39).flat_map(|row| {
            let side = if row % 2 == 0 { 1 } else { 3 };
            std::iter::repeat_n(side, 38).chain([2])
        }));
    for action in walk.take(990) {
        words.step(action).unwrap();
        letters.step(action).unwrap();
        let said = letters.signature().texts(letters.labels());
        let said: Vec<&str> = said.iter().map(|letter| meaning(letter)).collect();
        assert_eq!(words.signature().texts(words.labels()), said);
        seen += said.len();
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn a_published_map_is_read_as_it_is() {
    let map = "XXXXX\nXa bX\nX A X\nXfchX\nXXXXX";
    let mut world = LetterWorld::craft_map(map, Naming::Words).unwrap();
    world.reset(&mut generator(0, Stream::Other(0))).unwrap();
    world.step(0).unwrap();
    world.step(1).unwrap();
    assert_eq!(world.signature().texts(world.labels()), ["toolshed"]);
    let error = LetterWorld::craft_map("Az", Naming::Words).unwrap_err();
    assert!(error.to_string().contains("`z` means nothing"), "{error}");
}

#[test]
fn letter_world_has_a_new_map_in_every_episode() {
    let mut world = letters();
    let mut maps = std::collections::BTreeSet::new();
    for episode in 0..20 {
        let random = &mut generator(3, Stream::Episode { world: 0, episode });
        world.reset(random).unwrap();
        maps.insert(world.grid().to_string());
    }
    assert!(maps.len() > 15);
}

proptest! {
    /// The environment and its table go the same way.
    #[test]
    fn a_world_is_its_table(which in 0..3, seed in 0_u64..50, actions in prop::collection::vec(0_usize..4, 1..200)) {
        let mut world = match which {
            0 => LetterWorld::office(Naming::Words),
            1 => LetterWorld::craft(seed, Naming::Words),
            _ => letters(),
        };
        world.reset(&mut generator(seed, Stream::Other(0))).unwrap();
        let table = world.model().unwrap();
        let mut state = table.starts()[0].1;
        for action in actions {
            if world.step(action).unwrap().is_over() {
                break;
            }
            let outcomes = table.outcomes(state, action);
            prop_assert_eq!(outcomes.len(), 1);
            state = outcomes[0].next;
            prop_assert_eq!(state, world.cell());
            prop_assert_eq!(&table.labels()[table.label_of(state)], world.labels());
        }
    }
}
