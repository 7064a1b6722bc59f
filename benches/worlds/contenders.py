"""One measurement in a process of its own: `python contenders.py LIBRARY SECONDS WORLD` prints steps a second.

Every world takes random actions and starts anew when an episode ends. The JAX worlds run many at once inside one compiled
loop; the number that is fastest here is used, and compiling is not counted.
"""

import json
import pathlib
import sys
import time

# Tried in turn for the worlds that run many at once.
WORLDS = (64, 256, 1024, 4096)


def minigrid(seconds, episodes):
    """The paper's room in MiniGrid itself, on recorded maps, with the full symbolic view; no labels, no machine."""
    import numpy as np

    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "crates/form-env/tests/minigrid"))
    import parity

    with open(episodes, encoding="utf-8") as file:
        maps = [json.loads(line)["map"] for line in file]
    envs = [parity.FullyObsWrapper(parity.Room(description)) for description in maps]
    actions = np.random.default_rng(0).integers(0, 7, size=100_000).tolist()
    steps, start, turn = 0, time.perf_counter(), 0
    env = envs[0]
    env.reset()
    while time.perf_counter() - start < seconds:
        for _ in range(100):
            _, _, _, truncated, _ = env.step(actions[steps % len(actions)])
            steps += 1
            if truncated:
                turn += 1
                env = envs[turn % len(envs)]
                env.reset()
    return steps / (time.perf_counter() - start)


def fastest(seconds, make_loop):
    """The best of several numbers of worlds; `make_loop(worlds, steps)` gives a compiled function and its first argument."""
    import jax

    steps, best = 32, 0.0
    for worlds in WORLDS:
        loop, state = make_loop(worlds, steps)
        state = jax.block_until_ready(loop(state))
        taken, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds / len(WORLDS):
            state = jax.block_until_ready(loop(state))
            taken += steps * worlds
        best = max(best, taken / (time.perf_counter() - start))
    return best


def xminigrid(seconds, name):
    """A world of XLand-MiniGrid, with its own partial view."""
    import jax
    import jax.numpy as jnp
    import xminigrid
    from xminigrid.wrappers import GymAutoResetWrapper

    env, params = xminigrid.make(name)
    env = GymAutoResetWrapper(env)

    def make_loop(worlds, steps):
        def one(carry, _):
            key, timestep, seen = carry
            key, sub = jax.random.split(key)
            actions = jax.random.randint(sub, (worlds,), 0, env.num_actions(params))
            timestep = jax.vmap(env.step, in_axes=(None, 0, 0))(params, timestep, actions)
            # What is seen must be used, or it would not be computed.
            return (key, timestep, seen + timestep.observation.sum(dtype=jnp.int32)), None

        loop = jax.jit(lambda state: jax.lax.scan(one, state, None, steps)[0])
        keys = jax.random.split(jax.random.key(0), worlds)
        start = jax.jit(jax.vmap(env.reset, in_axes=(None, 0)))(params, keys)
        return loop, (jax.random.key(1), start, jnp.int32(0))

    return fastest(seconds, make_loop)


def navix(seconds, name):
    """A world of Navix, with the full symbolic view."""
    import jax
    import jax.numpy as jnp
    import navix

    env = navix.make(name, observation_fn=navix.observations.symbolic)

    def make_loop(worlds, steps):
        def one(carry, _):
            key, timestep, seen = carry
            key, sub = jax.random.split(key)
            actions = jax.random.randint(sub, (worlds,), 0, env.action_space.n)
            timestep = jax.vmap(env.step)(timestep, actions)
            return (key, timestep, seen + timestep.observation.sum(dtype=jnp.int32)), None

        loop = jax.jit(lambda state: jax.lax.scan(one, state, None, steps)[0])
        keys = jax.random.split(jax.random.key(0), worlds)
        return loop, (jax.random.key(1), jax.jit(jax.vmap(env.reset))(keys), jnp.int32(0))

    return fastest(seconds, make_loop)


if __name__ == "__main__":
    measure = {"minigrid": minigrid, "xminigrid": xminigrid, "navix": navix}[sys.argv[1]]
    print(measure(float(sys.argv[2]), sys.argv[3]))
