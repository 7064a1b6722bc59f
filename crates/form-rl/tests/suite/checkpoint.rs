//! Checkpoints: what stands in them, and that a file which is damaged, or belongs elsewhere, is refused by name.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use form_env::{Copies, Random, Stream, View, Worlds, generator};
use form_rl::{Agent, Architecture, AssignmentMode, Checkpoint, Credit, Game, ProgressEncoding};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, View as _};
use tempfile::TempDir;

use crate::corridor::{Corridor, Method, agents, key_then_door, training};
use crate::grid::{Players, worlds};

fn method() -> Method {
    Method {
        roles: AssignmentMode::PerState,
        credit: Credit::Shared,
        shaping: true,
        memory: 0,
    }
}

struct Saved {
    _folder: TempDir,
    path: PathBuf,
    game: Game<Copies<Corridor>>,
    agents: Vec<Agent>,
    random: Random,
}

/// A game in the middle of its episodes.
fn saved() -> Saved {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let mut game = method().game(&Corridor::locked(), 8);
    let architecture = Architecture {
        normalise: true,
        ..method().architecture()
    };
    let mut agents = agents(&game, &architecture, 1);
    let mut random = generator(3, Stream::Other(1));
    let collected = game.collect(&mut agents, 16, &training(), &mut random);
    for (agent, experience) in agents.iter_mut().zip(collected.unwrap().experience) {
        agent
            .learn(experience, &training(), 20, &mut random)
            .unwrap();
    }
    Checkpoint::save(&path, &game, &agents, &random, "").unwrap();
    Saved {
        _folder: folder,
        path,
        game,
        agents,
        random,
    }
}

/// The error of reading a file, after seeing that it names it.
fn refusal(path: &Path) -> String {
    let error = Checkpoint::load(path).unwrap_err().to_string();
    assert!(error.contains("run.safetensors: "), "{error}");
    error
}

#[test]
fn a_policy_is_read_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let slots = Players {
        roles: AssignmentMode::PerState,
        credit: Credit::Shared,
        progress: ProgressEncoding::Bits,
        memory: 0,
    };
    let game = slots.game(worlds(View::Symbols, 2));
    let agents = agents(&game, &slots.architecture(), 1);
    let random = generator(3, Stream::Other(1));
    Checkpoint::save(&path, &game, &agents, &random, "").unwrap();
    let file = fs::read(&path).unwrap();
    let tensors = SafeTensors::deserialize(&file).unwrap();
    for agent in &agents {
        let own = |name: &&str| name.starts_with(&format!("{}.", agent.name()));
        let mut weights = 0;
        for name in tensors.names().iter().filter(|name| own(name)) {
            let tensor = tensors.tensor(name).unwrap();
            if !name.contains(".normalisation.") {
                assert_eq!(tensor.dtype(), Dtype::F32, "{name}");
                weights += tensor.data_len() / 4;
            }
        }
        assert_eq!(weights, agent.network().weights().len());
    }
    let first = tensors.tensor("u0.image.0.weight").unwrap();
    assert_eq!(first.shape(), [3, 2, 2, 3]);
    assert_eq!(tensors.tensor("u0.actor.weight").unwrap().shape(), [3, 8]);
    let bits: Vec<u8> = (agents[0].network().weights().iter())
        .flat_map(|weight| weight.to_le_bytes())
        .collect();
    assert!(bits.starts_with(first.data()));
    let loaded = Checkpoint::load(&path).unwrap();
    assert_eq!(loaded.policies[0].name, "u0");
    assert_eq!(loaded.policies[0].indicators, ["yellow(o0)", "yellow(o1)"]);
    assert_eq!(&loaded.signature, game.worlds().signature());
    let machine = game.assignment().machine().to_string();
    assert_eq!(loaded.machine.to_string(), machine);
}

#[test]
fn a_damaged_byte_is_noticed_wherever_it_is() {
    let saved = saved();
    let file = fs::read(&saved.path).unwrap();
    let header = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    // Of what describes the contents, and of the contents.
    let places = (0..8 + header)
        .step_by(11)
        .chain((8 + header..file.len()).step_by(211));
    for place in places {
        let mut damaged = file.clone();
        damaged[place] ^= 1;
        fs::write(&saved.path, &damaged).unwrap();
        refusal(&saved.path);
    }
    for length in [0, 4, 8, 100, file.len() / 2, file.len() - 1] {
        fs::write(&saved.path, &file[..length]).unwrap();
        refusal(&saved.path);
    }
    fs::write(&saved.path, "Not a file of this sort at all.").unwrap();
    refusal(&saved.path);
    fs::remove_file(&saved.path).unwrap();
    refusal(&saved.path);
}

/// Writes the file again without some of its tensors and with other metadata, and with the right checksum if at all.
fn rewrite(path: &Path, without: &str, change: impl Fn(&str) -> String) {
    let file = fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&file).unwrap();
    let (_, header) = SafeTensors::read_metadata(&file).unwrap();
    let text = change(&header.metadata().clone().unwrap()["form"]);
    let kept: Vec<(String, TensorView<'_>)> = (tensors.tensors().into_iter())
        .filter(|(name, _)| name != without && name != "crc32")
        .collect();
    write(path, text, kept, without != "crc32");
}

/// Writes the file again with other bytes in one of its tensors, and the right checksum.
fn tamper(path: &Path, tensor: &str, change: impl Fn(&mut Vec<u8>)) {
    let file = fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&file).unwrap();
    let (_, header) = SafeTensors::read_metadata(&file).unwrap();
    let text = header.metadata().clone().unwrap()["form"].clone();
    let old = tensors.tensor(tensor).unwrap();
    let mut bytes = old.data().to_vec();
    change(&mut bytes);
    let shape = match bytes.len() == old.data_len() {
        true => old.shape().to_vec(),
        false => vec![bytes.len() * 8 / old.dtype().bitsize()],
    };
    let new = TensorView::new(old.dtype(), shape, &bytes).unwrap();
    let mut kept: Vec<(String, TensorView<'_>)> = (tensors.tensors().into_iter())
        .filter(|(name, _)| name != tensor && name != "crc32")
        .collect();
    kept.push((tensor.to_owned(), new));
    write(path, text, kept, true);
}

/// Writes tensors and metadata, with their checksum if they are to have one.
fn write(path: &Path, text: String, mut kept: Vec<(String, TensorView<'_>)>, with_checksum: bool) {
    kept.sort_by(|one, other| one.0.cmp(&other.0));
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(b"form");
    hasher.update(text.as_bytes());
    for (name, view) in &kept {
        hasher.update(format!("{name} {:?} {:?}", view.dtype(), view.shape()).as_bytes());
        hasher.update(view.data());
    }
    let checksum = hasher.finalize().to_le_bytes();
    // Of no longer life than the checksum.
    let mut kept = kept;
    if with_checksum {
        let view = TensorView::new(Dtype::U32, vec![1], &checksum).unwrap();
        kept.push(("crc32".to_owned(), view));
    }
    let metadata = HashMap::from([("form".to_owned(), text)]);
    fs::write(path, safetensors::serialize(kept, Some(metadata)).unwrap()).unwrap();
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let saved = saved();
    let file = fs::read(&saved.path).unwrap();
    rewrite(&saved.path, "nothing", str::to_owned);
    Checkpoint::load(&saved.path).unwrap();
    rewrite(&saved.path, "nothing", |text| {
        text.replace(r#""version":1"#, r#""version":2,"news":0"#)
    });
    assert!(refusal(&saved.path).contains("version 2 of the format"));
    fs::write(&saved.path, &file).unwrap();
    rewrite(&saved.path, "crc32", str::to_owned);
    assert!(refusal(&saved.path).ends_with("it has no checksum"));
    saved.agents[0].network().save(&saved.path).unwrap();
    assert!(refusal(&saved.path).contains("`form`"));
}

/// The checksum tells of accidents. Whoever made the file can make that, too: what is in it is not trusted further.
#[test]
fn contents_that_no_run_writes_are_refused() {
    let mut saved = saved();
    let Saved {
        game,
        agents,
        random,
        ..
    } = &mut saved;
    // Agents that hold something back, and wait for more.
    let collected = game.collect(agents, 7, &training(), random).unwrap();
    for (agent, experience) in agents.iter_mut().zip(collected.experience) {
        let learnt = agent.learn(experience, &training(), usize::MAX, random);
        learnt.unwrap();
    }
    Checkpoint::save(&saved.path, &saved.game, &saved.agents, &saved.random, "").unwrap();
    let file = fs::read(&saved.path).unwrap();
    let refused = |tensor: &str, change: &dyn Fn(&mut Vec<u8>), reason: &str| {
        fs::write(&saved.path, &file).unwrap();
        tamper(&saved.path, tensor, change);
        let read = || {
            let checkpoint = Checkpoint::load(&saved.path)?;
            checkpoint.agents(&training())?;
            checkpoint.restore(&mut method().game(&Corridor::locked(), 8))
        };
        let error = read().unwrap_err().to_string();
        assert!(error.contains("run.safetensors: "), "{tensor}: {error}");
        assert!(error.contains(reason), "{tensor}: {error}");
    };
    let last_is_255 = |bytes: &mut Vec<u8>| *bytes.last_mut().unwrap() = 255;
    // Not every agent does.
    let tensors = SafeTensors::deserialize(&file).unwrap();
    let is_filled = |name: &str| !tensors.tensor(name).unwrap().data().is_empty();
    let of_agent = |what: &str| {
        let names = ["u0", "u1"].map(|agent| format!("{agent}/{what}"));
        let filled = names.into_iter().find(|name| is_filled(name));
        filled.unwrap_or_else(|| panic!("nobody has {what}"))
    };
    let (held, waits) = (of_agent("held.actions"), of_agent("waiting.actions"));
    for actions in ["game/actions", &held, &waits] {
        refused(actions, &last_is_255, "action 255, of 2");
    }
    let shorter = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 8);
    for waiting in [
        "vectors",
        "logits",
        "values",
        "advantages",
        "returns",
        "starts",
    ] {
        let tensor = of_agent(&format!("waiting.{waiting}"));
        refused(&tensor, &shorter, "needed");
    }
    for number in [f32::NAN, f32::INFINITY] {
        let first_is = |bytes: &mut Vec<u8>| bytes[..4].copy_from_slice(&number.to_le_bytes());
        refused("u0.actor.weight", &first_is, "`u0.actor.weight` holds");
    }
}

/// One is not read, which might take for ever, and not replaced by a file.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_no_checkpoint() {
    let saved = saved();
    fs::remove_file(&saved.path).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(&saved.path)
        .status();
    assert!(made.unwrap().success());
    let error = Checkpoint::load(&saved.path).unwrap_err().to_string();
    assert!(error.contains("a pipe or a device"), "{error}");
    let written = Checkpoint::save(&saved.path, &saved.game, &saved.agents, &saved.random, "");
    let error = written.unwrap_err().to_string();
    assert!(error.contains("a pipe or a device"), "{error}");
    assert!(!fs::metadata(&saved.path).unwrap().is_file());
}

#[test]
fn a_missing_tensor_is_named() {
    let saved = saved();
    let file = fs::read(&saved.path).unwrap();
    let names: Vec<String> = (SafeTensors::deserialize(&file).unwrap().names().into_iter())
        .map(ToString::to_string)
        .collect();
    assert!(names.len() > 30);
    for name in names.iter().filter(|name| *name != "crc32") {
        fs::write(&saved.path, &file).unwrap();
        rewrite(&saved.path, name, str::to_owned);
        let read = || {
            let checkpoint = Checkpoint::load(&saved.path)?;
            checkpoint.agents(&training())?;
            checkpoint.generator()?;
            checkpoint.restore(&mut method().game(&Corridor::locked(), 8))
        };
        let error = read().unwrap_err().to_string();
        assert!(error.contains("run.safetensors: "), "{error}");
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_failed_save_leaves_what_was_there() {
    let saved = saved();
    let before = fs::read(&saved.path).unwrap();
    let save = |path: &Path, agents: &[Agent]| {
        Checkpoint::save(path, &saved.game, agents, &saved.random, "other")
    };
    save(&saved.path, &saved.agents[..1]).unwrap_err();
    assert_eq!(fs::read(&saved.path).unwrap(), before);
    // What is in the way cannot be replaced, so this fails after everything was written.
    let folder = saved.path.parent().unwrap();
    let in_the_way = folder.join("folder");
    fs::create_dir(&in_the_way).unwrap();
    fs::write(in_the_way.join("old"), "old").unwrap();
    let error = save(&in_the_way, &saved.agents).unwrap_err().to_string();
    assert!(error.contains("folder: "), "{error}");
    assert_eq!(fs::read(in_the_way.join("old")).unwrap(), b"old");
    assert_eq!(
        fs::read_dir(folder).unwrap().count(),
        2,
        "something is left over"
    );
    let nowhere = folder.join("nowhere").join("run.safetensors");
    let error = save(&nowhere, &saved.agents).unwrap_err().to_string();
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn a_checkpoint_is_restored_into_the_same_game_only() {
    let saved = saved();
    let checkpoint = Checkpoint::load(&saved.path).unwrap();
    let refusal = |method: Method, corridor: Corridor, worlds: usize| {
        let mut game = method.game(&corridor, worlds);
        let error = checkpoint.restore(&mut game).unwrap_err().to_string();
        assert!(error.contains("run.safetensors: "), "{error}");
        error
    };
    let (locked, open) = (Corridor::locked(), Corridor::open());
    assert!(refusal(method(), locked.clone(), 4).contains("8 worlds, the run has 4"));
    assert!(refusal(method(), open, 8).contains("agent `u0`"));
    let elsewhere = Corridor::new(5, 1, true, 10);
    assert!(refusal(method(), elsewhere, 8).contains("is another one"));
    let single = Method {
        roles: AssignmentMode::Single,
        ..method()
    };
    assert!(refusal(single, locked.clone(), 8).contains("other roles"));
    let mut same = method().game(&locked, 8);
    checkpoint.restore(&mut same).unwrap();
    assert_eq!(checkpoint.machine.to_string(), key_then_door().to_string());
}

/// What an agent is besides its weights, read from the file, where no detail is left out.
fn state_of(saved: &Saved, agent: &str) -> Vec<(String, Vec<u8>)> {
    Checkpoint::save(&saved.path, &saved.game, &saved.agents, &saved.random, "").unwrap();
    let file = fs::read(&saved.path).unwrap();
    let tensors = SafeTensors::deserialize(&file).unwrap();
    let own = |name: &String| name.starts_with(agent) && !name.contains("/held.");
    let mut state: Vec<(String, Vec<u8>)> = (tensors.tensors().into_iter())
        .filter(|(name, _)| own(name))
        .map(|(name, view)| (name, view.data().to_vec()))
        .collect();
    state.sort();
    state
}

/// A frozen agent goes on acting, and does not change by one bit: not its weights, its optimiser, nor its normalisation.
#[test]
fn a_frozen_agent_does_not_change() {
    let mut saved = saved();
    saved.agents[0].freeze(true);
    let (before, other) = (state_of(&saved, "u0"), state_of(&saved, "u1"));
    for name in ["u0/adam.means", "u0.normalisation.world.mean"] {
        assert!(before.iter().any(|(own, _)| own == name), "{name}");
    }
    for _ in 0..3 {
        let Saved {
            game,
            agents,
            random,
            ..
        } = &mut saved;
        let collected = game.collect(agents, 16, &training(), random).unwrap();
        for (agent, experience) in agents.iter_mut().zip(collected.experience) {
            assert!(!experience.is_empty());
            agent.learn(experience, &training(), 1, random).unwrap();
        }
    }
    assert_eq!(state_of(&saved, "u0"), before);
    assert_ne!(state_of(&saved, "u1"), other);
    let agents = Checkpoint::load(&saved.path).unwrap().agents(&training());
    assert!(agents.unwrap()[0].is_frozen());
}
