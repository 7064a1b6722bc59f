"""Trains PPO of Stable-Baselines3, or RecurrentPPO of sb3-contrib, in the worlds of this project:

    python stable_baselines3.py ALGORITHM TASK SEED STEPS CONFIG|defaults [--device cpu] [--seconds S]

ALGORITHM is `ppo` or `recurrent-ppo`. CONFIG is the `config.toml` of a run of `form train`: the algorithm gets its settings, so that
the two implementations are all that differs. With `defaults` it keeps the library's own settings, in the same number of worlds.
Observations, actions, maps and network are those that the preset `fast` has without a machine in both cases. Prints one JSON object: the share of all started
episodes that succeed, with sampled actions, and the entropy of the policy during training.
"""

import argparse
import json
import time
import tomllib

import gymnasium
import numpy as np
import torch
from formrl.worlds import GridWorldVectorEnv
from gymnasium.vector import AutoresetMode
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

WORLDS, MAPS, EPISODES = 128, 10, 500


def worlds_of(task, seed, count, episodes):
    """Worlds with the observations that the preset `fast` has without a machine, on the same maps as a run with this seed."""
    worlds = GridWorldVectorEnv(
        task,
        count,
        view="planes",
        actions="moves",
        maps=MAPS,
        map_seed=seed,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    worlds.reset(seed=episodes)
    return worlds


class Worlds(VecEnv):
    """Adapts a Gymnasium vector environment to the interface of Stable-Baselines3."""

    def __init__(self, worlds, seed):
        self.worlds, self.first = worlds, seed
        super().__init__(worlds.num_envs, worlds.single_observation_space, worlds.single_action_space)

    def reset(self):
        return self.worlds.reset(seed=self.first)[0]

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        seen, rewards, terminated, truncated, infos = self.worlds.step(self.actions)
        told = [{} for _ in range(self.num_envs)]
        for world in np.flatnonzero(terminated | truncated):
            told[world]["terminal_observation"] = infos["final_obs"][world]
            told[world]["TimeLimit.truncated"] = bool(truncated[world] and not terminated[world])
        return seen, rewards, terminated | truncated, told

    def close(self):
        self.worlds.close()

    def get_attr(self, attr_name, indices=None):
        return [getattr(self.worlds, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name, value, indices=None):
        raise NotImplementedError

    def env_method(self, method_name, *arguments, indices=None, **options):
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * self.num_envs


class Features(BaseFeaturesExtractor):
    """The network that the preset `fast` has without a machine, up to its heads or its LSTM."""

    def __init__(self, space: gymnasium.spaces.Box):
        super().__init__(space, features_dim=64)
        channels = space.shape[-1]
        self.image = nn.Sequential(
            nn.Conv2d(channels, 16, 2),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(16, 32, 2),
            nn.ReLU(),
            nn.Conv2d(32, 32, 2),
            nn.ReLU(),
            nn.Flatten(),
        )
        with torch.no_grad():
            size = self.image(torch.zeros(1, channels, *space.shape[:2])).shape[1]
        self.joined = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())

    def forward(self, seen):
        return self.joined(self.image(seen.permute(0, 3, 1, 2)))


class Entropy(BaseCallback):
    """Records the entropy of every update; ends training at the time limit."""

    def __init__(self, seconds):
        super().__init__()
        self.found, self.end = [], time.perf_counter() + seconds

    def _on_step(self):
        return time.perf_counter() < self.end

    def _on_rollout_start(self):
        loss = self.model.logger.name_to_value.get("train/entropy_loss")
        if loss is not None:
            self.found.append(-float(loss))


def settings_of(run):
    """Settings of a run, under the names of Stable-Baselines3."""
    with open(run, "rb") as file:
        config = tomllib.load(file)
    ppo, worlds = config["ppo"], config["worlds"]
    settings = {
        "n_steps": ppo["train_batch"] // worlds,
        "batch_size": ppo["minibatch"],
        "n_epochs": ppo["epochs"],
        "learning_rate": ppo["learning_rate"],
        "gamma": ppo["gamma"],
        "gae_lambda": ppo["lambda"],
        "clip_range": ppo["clip"],
        "ent_coef": ppo["entropy_coefficient"],
        "vf_coef": ppo["value_coefficient"],
        "max_grad_norm": ppo["gradient_clip"],
        "normalize_advantage": ppo["normalise_advantages"],
    }
    return worlds, settings, config["network"]["memory"]


def success(model, task, seed):
    """The share of all started episodes that succeed; one episode per world."""
    worlds = worlds_of(task, seed, EPISODES, episodes=0)
    seen, _ = worlds.reset(seed=0)
    state, starts = None, np.ones(EPISODES, bool)
    over, good, steps = np.zeros(EPISODES, bool), np.zeros(EPISODES, bool), np.zeros(EPISODES, int)
    while not over.all():
        actions, state = model.predict(seen, state=state, episode_start=starts, deterministic=False)
        seen, rewards, terminated, truncated, _ = worlds.step(actions)
        starts = terminated | truncated
        steps += ~over
        good |= ~over & terminated & (rewards > 0)
        over |= starts
    return {"episodes": EPISODES, "success": float(good.mean()), "length": float(steps.mean())}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("algorithm", choices=["ppo", "recurrent-ppo"])
    options.add_argument("task")
    options.add_argument("seed", type=int)
    options.add_argument("steps", type=int)
    options.add_argument("run", help="the config.toml of a run, or `defaults`")
    options.add_argument("--device", default="cpu")
    options.add_argument("--seconds", type=float, default=float("inf"), help="time limit of training")
    options = options.parse_args()
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    worlds, settings, memory = (WORLDS, {}, 256) if options.run == "defaults" else settings_of(options.run)
    algorithm, policy = {"ppo": (PPO, "CnnPolicy"), "recurrent-ppo": (RecurrentPPO, "CnnLstmPolicy")}[options.algorithm]
    network = {"features_extractor_class": Features, "net_arch": [], "normalize_images": False}
    if options.algorithm == "recurrent-ppo":
        network["lstm_hidden_size"] = memory
    start = time.perf_counter()
    model = algorithm(
        policy,
        Worlds(worlds_of(options.task, options.seed, worlds, options.seed), options.seed),
        policy_kwargs=network,
        device=options.device,
        seed=options.seed,
        **settings,
    )
    entropy = Entropy(options.seconds)
    model.learn(options.steps, callback=entropy)
    seconds = time.perf_counter() - start
    found = {
        "algorithm": options.algorithm,
        "task": options.task,
        "seed": options.seed,
        "steps": model.num_timesteps,
        "settings": "defaults" if options.run == "defaults" else "ours",
        "seconds": round(seconds, 1),
        "entropy": [round(value, 3) for value in entropy.found[:: max(1, len(entropy.found) // 10)]],
        "weights": sum(weight.numel() for weight in model.policy.parameters()),
        **success(model, options.task, options.seed),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
