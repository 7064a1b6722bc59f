//! Configurations: what presets say, how single settings are changed, and what is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use form_lab::{Method, Preset, RunConfig};
use form_rl::{Activation, Credit, EndPotential, ProgressEncoding, ValueClip};

fn paper(method: Method) -> RunConfig {
    RunConfig::new("all-yellow", method, Preset::Paper)
}

fn fast() -> RunConfig {
    RunConfig::new("all-yellow", Method::Form, Preset::Fast)
}

fn said<T: std::fmt::Debug>(result: anyhow::Result<T>) -> String {
    format!("{:#}", result.unwrap_err())
}

/// Tables 1 and 2 of the paper: what the methods with one policy a state have, and what the others have instead.
#[test]
fn the_preset_paper_is_tables_1_and_2() {
    // The paper has no reach-avoid policy.
    for method in (Method::ALL.into_iter()).filter(|method| *method != Method::ReachAvoid) {
        let config = paper(method);
        let ppo = &config.ppo;
        assert_eq!(
            (ppo.gamma, ppo.lambda, ppo.learning_rate),
            (0.999, 0.95, 7e-4)
        );
        assert_eq!((ppo.epochs, ppo.clip, ppo.value_clip), (20, 0.15, 0.1));
        assert_eq!(
            (ppo.value_coefficient, ppo.entropy_coefficient),
            (0.5, 0.01)
        );
        assert_eq!((ppo.gradient_clip, ppo.kl_target), (0.7, 0.15));
        assert_eq!(ppo.value_clip_of, ValueClip::Error);
        let per_state = matches!(
            method,
            Method::Form | Method::Handcrafted | Method::Propositional
        );
        let batches = if per_state {
            (16_384, 4096)
        } else {
            (49_152, 256)
        };
        assert_eq!((ppo.train_batch, ppo.minibatch), batches, "{method}");
        let network = &config.network;
        assert_eq!(network.filters, [16, 32, 32]);
        assert_eq!((network.pools, &network.hidden[..]), (1, &[64, 64][..]));
        assert_eq!(network.activation, Activation::Tanh);
        let memory = if method == Method::RecurrentPpo {
            256
        } else {
            0
        };
        assert_eq!(network.memory, memory);
        assert!(network.normalise);
        assert_eq!(config.layouts, 10);
        assert_eq!(
            (config.credit, config.progress),
            (Credit::Shared, ProgressEncoding::Bits)
        );
        assert_eq!(
            config.shaping,
            !matches!(method, Method::Ppo | Method::RecurrentPpo)
        );
        // Φ(u′) − Φ(u) at changes of the state alone.
        assert_eq!(
            config.shaping_discount,
            config.shaping.then_some(1.0),
            "{method}"
        );
        // Dead ends cost nothing.
        assert_eq!(
            config.shaping_end == EndPotential::Distance,
            config.shaping,
            "{method}"
        );
        // Appendix C stops when the return falls by a tenth after it was above 70 %: off, as it takes dips for the end.
        assert_eq!((config.stop.crossing, config.stop.fall), (0.7, 0.0));
        config.check().unwrap();
        RunConfig::new("all-yellow", method, Preset::Fast)
            .check()
            .unwrap();
    }
}

#[test]
fn settings_are_changed_by_name() {
    let mut config = fast();
    for (key, value) in [
        ("ppo.gamma", "0.5"),
        ("ppo.clip", "1"),
        ("seed", "7"),
        ("progress", "bits"),
        ("view", "\"identities\""),
        ("network.filters", "[4, 8]"),
        ("shaping", "false"),
        ("shaping_end", "distance"),
        ("learning.cyclic", "true"),
        ("machine", "initial u0"),
    ] {
        config.set(key, value).unwrap();
    }
    assert_eq!((config.ppo.gamma, config.ppo.clip), (0.5, 1.0));
    assert_eq!((config.seed, config.progress), (7, ProgressEncoding::Bits));
    assert_eq!(config.network.filters, [4, 8]);
    assert!(!config.shaping && config.learning.cyclic);
    assert_eq!(config.machine.as_deref(), Some("initial u0"));
    // Nothing else changed.
    let changed = config.differences(&fast()).unwrap();
    assert_eq!(changed.len(), 10, "{changed:?}");
}

#[test]
fn what_is_no_setting_is_refused_and_changes_nothing() {
    for (key, value, expected) in [
        ("gamma", "0.9", "unknown setting `gamma`"),
        (
            "ppo.gama",
            "0.9",
            "unknown setting `ppo.gama`; known settings:",
        ),
        // Settings that have no value yet are named, too.
        ("learning.tolerat", "auto", "time_limit, tolerate"),
        ("pop.gamma", "0.9", "unknown section `pop`"),
        ("shaping_end", "one", "`zero` or `distance`"),
        ("seed.x", "1", "unknown section `seed`"),
        ("ppo.gamma", "much", "ppo.gamma: invalid type: string"),
        ("ppo.epochs", "1.5", "ppo.epochs: invalid type"),
        ("worlds", "-1", "worlds: invalid value: integer `-1`"),
        ("progress", "planes", "progress: unknown variant `planes`"),
        ("", "1", "unknown setting ``"),
        ("ppo", "1", "ppo: invalid type"),
    ] {
        let mut config = fast();
        let message = said(config.set(key, value));
        assert!(message.contains(expected), "{key}={value}: {message}");
        assert_eq!(config, fast());
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (key, value, expected) in [
        (
            "worlds",
            "9223372036854775807",
            "ppo.train_batch = 4096: fewer",
        ),
        (
            "layouts",
            "9223372036854775807",
            "layouts = 9223372036854775807: it must be at most 4194304",
        ),
        (
            "ppo.train_batch",
            "9223372036854775807",
            "it must be at most 67108864",
        ),
        (
            "learning.explore",
            "4294967295",
            "it must be at most 67108864",
        ),
        (
            "learning.max_disjuncts",
            "65",
            "learning.max_disjuncts = 65: it must be at most 64",
        ),
        ("learning.counts", "0", "learning.counts = 0: 1 is no count"),
        (
            "learning.counts",
            "65",
            "learning.counts = 65: it must be at most 64",
        ),
        (
            "stop.success",
            "nan",
            "stop.success = NaN: it must be a number",
        ),
        ("stop.fall", "nan", "stop.fall = NaN"),
        ("worlds", "0", "worlds = 0"),
        ("ppo.train_batch", "50", "fewer than the 64 worlds"),
        ("ppo.gamma", "1.5", "gamma = 1.5: must be between 0 and 1"),
        (
            "shaping_discount",
            "1.5",
            "shaping_discount = 1.5: it must be between 0 and 1",
        ),
        ("stop.episodes", "0", "stop.episodes = 0"),
        ("learning.explore", "0", "learning.explore = 0"),
    ] {
        let mut config = fast();
        config.set(key, value).unwrap();
        let message = said(config.check());
        assert!(message.contains(expected), "{key}={value}: {message}");
    }
    let config = RunConfig {
        seed: u64::MAX,
        ..fast()
    };
    assert!(said(config.check()).contains("seed = 18446744073709551615: it must be at most"));
}

#[test]
fn files_are_complete_and_read_back() {
    for (method, preset) in Method::ALL
        .into_iter()
        .flat_map(|method| [(method, Preset::Fast), (method, Preset::Paper)])
    {
        let mut config = RunConfig::new("all-yellow", method, preset);
        config.machine = Some("initial u0\naccept u1\nu0 -> u1 : goal\n".to_owned());
        let text = config.to_toml().unwrap();
        assert_eq!(
            RunConfig::from_toml(&text, Path::new("config.toml")).unwrap(),
            config
        );
    }
    let text = fast().to_toml().unwrap();
    let message = said(RunConfig::from_toml(
        &text.replace("worlds =", "wolrds ="),
        Path::new("config.toml"),
    ));
    assert!(
        message.contains("config.toml") && message.contains("wolrds"),
        "{message}"
    );
    let message = said(RunConfig::from_toml(
        &text.replace("worlds = 64", "worlds = 0"),
        Path::new("config.toml"),
    ));
    assert!(message.starts_with("config.toml: worlds = 0"), "{message}");
}

#[test]
fn a_task_file_is_found_beside_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let config = RunConfig::new("mine.toml", Method::Form, Preset::Fast);
    fs::write(&path, config.to_toml().unwrap()).unwrap();
    let found = RunConfig::open(&path).unwrap();
    assert_eq!(Path::new(&found.task), folder.path().join("mine.toml"));
    fs::write(&path, fast().to_toml().unwrap()).unwrap();
    assert_eq!(RunConfig::open(&path).unwrap(), fast());
}

/// The table of settings in the documentation is the truth, whole and nothing else.
#[test]
fn the_documentation_has_every_setting_with_its_values() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/training.md");
    let text = fs::read_to_string(path).unwrap();
    let documented: Vec<Vec<&str>> = (text.lines())
        .skip_while(|line| !line.starts_with("| setting |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let presets =
        [fast(), paper(Method::Form)].map(|config| BTreeMap::from_iter(config.settings().unwrap()));
    let names: BTreeSet<&String> = presets.iter().flat_map(BTreeMap::keys).collect();
    let mut expected: Vec<Vec<String>> = (names.into_iter())
        .filter(|name| !["task", "method", "preset"].contains(&name.as_str()))
        .map(|name| {
            let value = |preset: &BTreeMap<String, String>| match preset.get(name) {
                Some(value) => format!("`{value}`"),
                None => "–".to_owned(),
            };
            let [fast, paper] = presets.each_ref().map(value);
            vec![format!("`{name}`"), fast, paper]
        })
        .collect();
    expected.sort();
    let mut found: Vec<Vec<&str>> = (documented.iter())
        .map(|row| row.iter().take(3).copied().collect())
        .collect();
    found.sort();
    assert_eq!(found, expected);
    assert!(
        documented
            .iter()
            .all(|row| row.len() == 4 && !row[3].is_empty())
    );
}

/// A tolerance is a number, a percentage or `auto`; a file without one is that of a run without one.
#[test]
fn tolerances_and_noise_are_read_and_refused() {
    let mut config = fast();
    assert!(!config.to_toml().unwrap().contains("tolerate"));
    for (value, written) in [("auto", "auto"), ("2%", "2%"), ("3", "3")] {
        config.set("learning.tolerate", value).unwrap();
        let text = config.to_toml().unwrap();
        assert!(
            text.contains(&format!("tolerate = \"{written}\"")),
            "{text}"
        );
        let read = RunConfig::from_toml(&text, Path::new("c.toml")).unwrap();
        assert_eq!(read, config);
    }
    for wrong in ["-1", "100%", "some"] {
        let refused = said(config.set("learning.tolerate", wrong));
        assert!(refused.contains("learning.tolerate"), "{refused}");
    }
    config.set("label_noise", "0.01").unwrap();
    config.check().unwrap();
    config.label_noise = 0.6;
    assert!(said(config.check()).contains("label_noise = 0.6"));
    let mut explorer = RunConfig::new("all-yellow", Method::ReachAvoid, Preset::Fast);
    explorer.set("learning.tolerate", "auto").unwrap();
    explorer.label_noise = 0.02;
    explorer.check().unwrap();
}
