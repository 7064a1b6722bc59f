"""One measurement in a process of its own: `python contenders.py WHAT ENGINE SECONDS [EPISODES]` prints a figure a second.

WHAT is `train` (samples trained at minibatch 4096), `infer` (samples judged at batch 256) or `end-to-end` (environment steps
of Stable-Baselines3 on MiniGrid, in the room of the recorded EPISODES). ENGINE is how PyTorch is used: `eager` as people
write it, `best` with the fastest settings known, `compiled` by torch.compile on top of those. The network is the paper's
in all of them: an image of 13 x 13 x 3, indicators and machine states of 4 numbers each, 7 actions, 52,760 weights.
"""

import json
import os
import pathlib
import statistics
import sys
import time

import torch
from torch import nn

MINIBATCH, INFERENCE, ACTIONS = 4096, 256, 7
# Tables 1 and 2 of the paper.
LEARNING_RATE, CLIP, VALUE_CLIP, GRADIENT_CLIP = 7e-4, 0.15, 0.1, 0.7
VALUE, ENTROPY, KL = 0.5, 0.01, 0.2
TRAIN_BATCH, EPOCHS, WORLDS = 16384, 20, 64


class Trunk(nn.Module):
    """All of the network up to the heads. `pool_first`: pooling before tanh gives the same for a quarter of the work."""

    def __init__(self, pool_first=False):
        super().__init__()
        pooled = [nn.MaxPool2d(2), nn.Tanh()] if pool_first else [nn.Tanh(), nn.MaxPool2d(2)]
        convolutions = [nn.Conv2d(16, 32, 2), nn.Tanh(), nn.Conv2d(32, 32, 2), nn.Tanh()]
        self.image = nn.Sequential(nn.Conv2d(3, 16, 2), *pooled, *convolutions, nn.Flatten())
        self.indicators = nn.Sequential(nn.Linear(4, 64), nn.Tanh())
        self.machine = nn.Sequential(nn.Linear(4, 64), nn.Tanh())
        self.joined = nn.Sequential(nn.Linear(512 + 128, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())

    def forward(self, image, indicators, machine):
        parts = [self.image(image), self.indicators(indicators), self.machine(machine)]
        return self.joined(torch.cat(parts, 1))


class Policy(nn.Module):
    """Logits and values."""

    def __init__(self, pool_first=False):
        super().__init__()
        self.trunk = Trunk(pool_first)
        self.actor, self.critic = nn.Linear(64, ACTIONS), nn.Linear(64, 1)

    def forward(self, image, indicators, machine):
        features = self.trunk(image, indicators, machine)
        return self.actor(features), self.critic(features).squeeze(1)


def loss_of(model, observations, actions, old_logits, old_values, advantages, returns):
    logits, values = model(*observations)
    now, old = (torch.distributions.Categorical(logits=x, validate_args=False) for x in (logits, old_logits))
    ratio = torch.exp(now.log_prob(actions) - old.log_prob(actions))
    bounded = ratio.clamp(1 - CLIP, 1 + CLIP)
    policy = -torch.minimum(ratio * advantages, bounded * advantages).mean()
    value = ((values - returns) ** 2).clamp(max=VALUE_CLIP).mean()
    kl = torch.distributions.kl_divergence(old, now).mean()
    return policy + VALUE * value - ENTROPY * now.entropy().mean() + KL * kl


def observations_of(count, engine):
    image = torch.rand(count, 3, 13, 13)
    if engine != "eager":
        image = image.to(memory_format=torch.channels_last)
    return image, torch.rand(count, 4), torch.rand(count, 4)


def model_for(engine):
    torch.manual_seed(0)
    model = Policy(pool_first=engine != "eager")
    weights = sum(weight.numel() for weight in model.parameters())
    assert weights == 52_760, f"another network: {weights} weights"
    if engine == "eager":
        return model
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return model.to(memory_format=torch.channels_last)


def rate(seconds, count, work):
    """The median of five runs, as in `form bench`. The first calls, which may compile, do not count."""
    for _ in range(3):
        work()
    rates = []
    for _ in range(5):
        rounds, start = 0, time.perf_counter()
        while rounds == 0 or time.perf_counter() - start < seconds / 5:
            work()
            rounds += 1
        rates.append(rounds * count / (time.perf_counter() - start))
    return statistics.median(rates)


def train(engine, seconds):
    model = model_for(engine)
    # One kernel for all weights: the default loops over them.
    adam = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True if engine != "eager" else None)
    observations = observations_of(MINIBATCH, engine)
    with torch.no_grad():
        old_logits, old_values = model(*observations)
    actions = torch.arange(MINIBATCH) % ACTIONS
    advantages, returns = torch.rand(MINIBATCH), torch.rand(MINIBATCH)
    loss = torch.compile(loss_of) if engine == "compiled" else loss_of

    def step():
        adam.zero_grad()
        loss(model, observations, actions, old_logits, old_values, advantages, returns).backward()
        nn.utils.clip_grad_norm_(model.parameters(), GRADIENT_CLIP)
        adam.step()

    return rate(seconds, MINIBATCH, step)


def infer(engine, seconds):
    model = model_for(engine)
    observations = observations_of(INFERENCE, engine)
    if engine == "compiled":
        model = torch.compile(model)
    quiet = torch.no_grad if engine == "eager" else torch.inference_mode

    def judge():
        with quiet():
            model(*observations)

    return rate(seconds, INFERENCE, judge)


def end_to_end(episodes, seconds):
    """Whole iterations of PPO with the paper's settings, from the first step to the last epoch, until the time is over."""
    import gymnasium
    import numpy as np
    from stable_baselines3 import PPO
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from stable_baselines3.common.vec_env import DummyVecEnv

    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "crates/form-env/tests/minigrid"))
    import parity

    class Observation(gymnasium.ObservationWrapper):
        """The full view. MiniGrid knows of no machine: the two vectors are there for the size of the network."""

        def __init__(self, env):
            super().__init__(env)
            image = gymnasium.spaces.Box(0, 255, (13, 13, 3), np.uint8)
            vector = gymnasium.spaces.Box(0, 1, (4,), np.float32)
            self.observation_space = gymnasium.spaces.Dict(image=image, indicators=vector, machine=vector)
            self.nothing = np.zeros(4, np.float32)

        def observation(self, observation):
            return {"image": observation["image"], "indicators": self.nothing, "machine": self.nothing}

    class Features(BaseFeaturesExtractor):
        def __init__(self, space):
            super().__init__(space, features_dim=64)
            self.trunk = Trunk()

        def forward(self, observations):
            return self.trunk(observations["image"], observations["indicators"], observations["machine"])

    with open(episodes, encoding="utf-8") as file:
        maps = [json.loads(line)["map"] for line in file]
    rooms = [lambda m=maps[i % len(maps)]: Observation(parity.FullyObsWrapper(parity.Room(m))) for i in range(WORLDS)]
    ppo = PPO(
        "MultiInputPolicy",
        DummyVecEnv(rooms),
        learning_rate=LEARNING_RATE,
        n_steps=TRAIN_BATCH // WORLDS,
        batch_size=MINIBATCH,
        n_epochs=EPOCHS,
        gamma=0.999,
        gae_lambda=0.95,
        clip_range=CLIP,
        clip_range_vf=VALUE_CLIP,
        ent_coef=ENTROPY,
        vf_coef=VALUE,
        max_grad_norm=GRADIENT_CLIP,
        policy_kwargs={"features_extractor_class": Features, "net_arch": []},
        device="cpu",
        seed=0,
    )
    weights = sum(weight.numel() for weight in ppo.policy.parameters())
    assert weights == 52_760, f"another network: {weights} weights"
    steps, start = 0, time.perf_counter()
    while steps == 0 or time.perf_counter() - start < seconds:
        ppo.learn(TRAIN_BATCH, reset_num_timesteps=False)
        steps += TRAIN_BATCH
    return steps / (time.perf_counter() - start)


if __name__ == "__main__":
    what, engine, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    measure = {"train": train, "infer": infer}
    print(end_to_end(sys.argv[4], seconds) if what == "end-to-end" else measure[what](engine, seconds))
