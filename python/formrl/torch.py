"""Policies of the native trainer as PyTorch modules, and back.

```python
policies = formrl.torch.load("runs/all-yellow-form-1/checkpoints/final.safetensors")
logits, values = policies["u0"](images, vectors)
formrl.torch.save_policies("runs/mine/checkpoints/final.safetensors", policies)
```

A `Policy` is an ordinary module with ordinary layers: it is trained, moved and copied as any other. Images are bytes or
numbers of the shape (samples, columns, rows, channels), as the worlds give them; vectors hold all other inputs one after
another. Networks with memory (LSTM) take and return their state. What is written, the native tools read again: the layout of
filters, the one bias of an LSTM, the statistics of the normalisation and the checksum are as they want them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ._native import ReachAvoidPolicy
from .bundle import Bundle
from .errors import DamagedFile
from .extras import require

require("torch", "formrl.torch")

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

# The places of the description of one network, and of that of a checkpoint.
NETWORK, CHECKPOINT = "network", "form"


class Normalisation(nn.Module):
    """Normalises to mean 0 and standard deviation 1, by the running statistics of the training."""

    PARTS = ("count", "mean", "squares")

    def __init__(self, size: int) -> None:
        super().__init__()
        for part in self.PARTS:
            self.register_buffer(part, torch.zeros(size, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.where(self.count > 0, (self.squares / self.count + 1e-8).rsqrt(), 1.0)
        return ((x - self.mean.to(x.dtype)) * scale.to(x.dtype)).clamp(-10, 10)


class Policy(nn.Module):
    """A network of the native trainer: logits of the actions, and the value."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.config = config
        self.branches = nn.ModuleDict()
        self.normalisations = nn.ModuleDict()
        width = 0
        for name, shape, part in self._inputs():
            layers, out = _layers(name, part["layers"], shape)
            self.branches[name] = layers
            width += int(np.prod(out))
            if part.get("normalise"):
                self.normalisations[name] = Normalisation(shape[-1])
        self.trunk, (width,) = _layers("trunk", config["trunk"], (width,))
        self.actor = nn.Linear(width, config["actions"])
        self.critic = nn.Linear(width, 1)

    def _inputs(self) -> list[tuple[str, tuple[int, ...], dict[str, Any]]]:
        inputs = []
        if image := self.config.get("image"):
            inputs.append(("image", tuple(image["shape"]), image))
        for vector in self.config.get("vectors", []):
            inputs.append((vector["name"], (vector["size"],), vector))
        return inputs

    @property
    def memory(self) -> int:
        """The units of its LSTM; 0 if it has none."""
        return next((layer.hidden_size for layer in self.trunk if isinstance(layer, nn.LSTMCell)), 0)

    @property
    def vector_size(self) -> int:
        """The size of its vectors, concatenated."""
        return sum(vector["size"] for vector in self.config.get("vectors", []))

    def forward(
        self, images: Tensor | None = None, vectors: Tensor | None = None, state: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Logits and values of a batch; with memory also the state after it.

        `state` is (samples, 2 × units), outputs before cells, and zeros at the start of an episode, or `None`.
        """
        parts, offset = [], 0
        for name, shape, _ in self._inputs():
            if name == "image":
                x = _wanted(images, name).reshape(-1, *shape)
            else:
                x = _wanted(vectors, "vectors")[:, offset : offset + shape[0]]
                offset += shape[0]
            x = x.to(self.actor.weight.dtype)
            if name in self.normalisations:
                x = self.normalisations[name](x)
            # PyTorch's images have the channel before rows and columns, those of the worlds after them.
            x = x.permute(0, 3, 1, 2) if x.dim() == 4 else x
            for layer in self.branches[name]:
                x = layer(_flat(x) if isinstance(layer, nn.Linear) else x)
            parts.append(_flat(x))
        x, after = torch.cat(parts, 1), None
        for layer in self.trunk:
            if isinstance(layer, nn.LSTMCell):
                before = None if state is None else tuple(state.to(x.dtype).chunk(2, 1))
                x, cells = layer(x, before)
                after = torch.cat([x, cells], 1)
            else:
                x = layer(x)
        logits, values = self.actor(x), self.critic(x).squeeze(1)
        return (logits, values) if after is None else (logits, values, after)

    def probabilities(self, *args: Any, **kwargs: Any) -> Tensor:
        """The probabilities of the actions, for the same arguments as a call."""
        with torch.no_grad():
            return self(*args, **kwargs)[0].softmax(1)

    def arrays(self) -> dict[str, np.ndarray]:
        """Its weights under the names and in the layout of the native files."""
        arrays: dict[str, np.ndarray] = {}
        for name, layer in self._named_layers():
            if isinstance(layer, nn.LSTMCell):
                arrays[f"{name}.weight_input"] = _numbers(layer.weight_ih)
                arrays[f"{name}.weight_state"] = _numbers(layer.weight_hh)
                arrays[f"{name}.bias"] = _numbers(layer.bias_ih + layer.bias_hh)
            elif isinstance(layer, nn.Conv2d):
                arrays[f"{name}.weight"] = _numbers(layer.weight.permute(0, 2, 3, 1))
                arrays[f"{name}.bias"] = _numbers(layer.bias)
            elif isinstance(layer, nn.Linear):
                arrays[f"{name}.weight"] = _numbers(layer.weight)
                arrays[f"{name}.bias"] = _numbers(layer.bias)
        for name, normalisation in self.normalisations.items():
            for part in Normalisation.PARTS:
                array = getattr(normalisation, part).detach().cpu().numpy()
                arrays[f"normalisation.{name}.{part}"] = array.astype("<f8")
        return arrays

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Takes weights of a native file, all of them or none."""
        wanted = {name: array.shape for name, array in self.arrays().items()}
        if unknown := sorted(arrays.keys() ^ wanted.keys()):
            raise DamagedFile(f"tensor {unknown[0]!r} is not both in the file and in the network")
        for name, shape in wanted.items():
            if arrays[name].shape != shape:
                raise DamagedFile(f"tensor {name!r} has the shape {arrays[name].shape}, not {shape}")
        with torch.no_grad():
            for name, layer in self._named_layers():
                if isinstance(layer, nn.LSTMCell):
                    layer.weight_ih.copy_(_tensor(arrays[f"{name}.weight_input"]))
                    layer.weight_hh.copy_(_tensor(arrays[f"{name}.weight_state"]))
                    layer.bias_ih.copy_(_tensor(arrays[f"{name}.bias"]))
                    layer.bias_hh.zero_()
                elif isinstance(layer, nn.Conv2d):
                    layer.weight.copy_(_tensor(arrays[f"{name}.weight"]).permute(0, 3, 1, 2))
                    layer.bias.copy_(_tensor(arrays[f"{name}.bias"]))
                elif isinstance(layer, nn.Linear):
                    layer.weight.copy_(_tensor(arrays[f"{name}.weight"]))
                    layer.bias.copy_(_tensor(arrays[f"{name}.bias"]))
            for name, normalisation in self.normalisations.items():
                for part in Normalisation.PARTS:
                    getattr(normalisation, part).copy_(_tensor(arrays[f"normalisation.{name}.{part}"]))

    def _named_layers(self) -> list[tuple[str, nn.Module]]:
        chains = [*self.branches.items(), ("trunk", self.trunk)]
        layers = [(f"{name}.{place}", layer) for name, chain in chains for place, layer in enumerate(chain)]
        return [*layers, ("actor", self.actor), ("critic", self.critic)]


class ReachAvoidNetwork(nn.Module):
    """The value iteration network of a `formrl.ReachAvoidPolicy`, with its weights.

    Planes are walls, reach and avoid, 0 or 1, of the shape (samples, 3, columns, rows). Returned are the logits of `left`, `right` and
    `forward`, of the shape (samples, 4 directions, 3, columns, rows), and the values of the poses, (samples, 4, columns, rows).
    """

    # The number in a plane where something is.
    MARK = 128.0

    def __init__(self, policy: ReachAvoidPolicy) -> None:
        super().__init__()
        numbers = torch.tensor(policy.weights, dtype=torch.float32)
        values, planes, bias, log_scale, critic = numbers.split([108, 81, 3, 1, 2])
        # By action, relative direction or plane, cells ahead, cells to the right.
        self.values = nn.Parameter(values.reshape(3, 4, 3, 3))
        self.planes = nn.Parameter(planes.reshape(3, 3, 3, 3))
        self.bias = nn.Parameter(bias)
        self.log_scale = nn.Parameter(log_scale)
        self.critic = nn.Parameter(critic)

    def forward(self, planes: Tensor, iterations: int | None = None) -> tuple[Tensor, Tensor]:
        """Without a number of iterations: as many as there are cells, more than most ways need."""
        samples, _, columns, rows = planes.shape
        free = 1.0 - planes[:, :1]
        # A cell both to reach and to avoid is one to avoid.
        marks = torch.stack([planes[:, 0], planes[:, 1] * (1.0 - planes[:, 2]), planes[:, 2]], 1) * self.MARK
        # The weights as each of the four directions sees them, in the room's frame.
        turned = [torch.rot90(self.values, d, (-2, -1)).roll(d, 1) for d in range(4)]
        values = torch.cat(turned)
        kernels = torch.cat([torch.rot90(self.planes, d, (-2, -1)) for d in range(4)])
        added = nn.functional.conv2d(marks, kernels, self.bias.repeat(4), padding=1)
        own = 1.0 - nn.functional.conv2d(free, values.sum(1, keepdim=True), padding=1)
        poses = planes.new_zeros(samples, 4, columns, rows)

        def actions(poses: Tensor) -> Tensor:
            there = poses.repeat_interleave(3, 1)
            found = nn.functional.conv2d(poses, values, padding=1) + own * there + added
            return found.reshape(samples, 4, 3, columns, rows)

        for _ in range(columns * rows if iterations is None else iterations):
            poses = actions(poses).amax(2).clamp(max=0.0) * free
        slope, offset = self.critic
        return self.log_scale.exp() * actions(poses), torch.tanh(0.5 * (slope * poses + offset))


def load(path: str | os.PathLike[str]) -> dict[str, Policy]:
    """The policies of a checkpoint by the names of their states; that of a file with one network is called `policy`."""
    bundle = Bundle.read(path)
    try:
        if NETWORK in bundle.metadata:
            return {"policy": _policy(bundle.description(NETWORK), bundle.arrays)}
        return {
            name: _policy(agent["network"], _part(bundle.arrays, f"{name}."))
            for name, agent in _agents(bundle.description(CHECKPOINT)).items()
        }
    except DamagedFile as error:
        raise DamagedFile(f"{path}: {error}", str(path)) from error


def save(path: str | os.PathLike[str], policy: Policy) -> None:
    """Writes one network into a file of its own."""
    bundle = Bundle(policy.arrays())
    bundle.describe(NETWORK, policy.config)
    bundle.write(path)


def save_policies(
    path: str | os.PathLike[str], policies: dict[str, Policy], out: str | os.PathLike[str] | None = None
) -> Path:
    """Puts policies into a checkpoint in place of those with their names, and writes it to `out`, or where it was.

    Everything else stays: the machine, the worlds, the other policies. The optimisers of the replaced policies are reset:
    their moments belong to other weights.
    """
    bundle = Bundle.read(path)
    try:
        agents = _agents(description := bundle.description(CHECKPOINT))
    except DamagedFile as error:
        raise DamagedFile(f"{path}: {error}", str(path)) from error
    for name, policy in policies.items():
        if name not in agents:
            known = ", ".join(agents)
            raise KeyError(f"{path} has no policy {name!r}: it has {known}")
        before, arrays = agents[name]["network"], policy.arrays()
        shapes = {tensor: array.shape for tensor, array in _part(bundle.arrays, f"{name}.").items()}
        if shapes != {n: a.shape for n, a in arrays.items()} or before != policy.config:
            raise ValueError(f"the policy {name!r} is another network than that in {path}")
        bundle.arrays |= {f"{name}.{tensor}": array for tensor, array in arrays.items()}
        for memory in (f"{name}/adam.means", f"{name}/adam.squares"):
            if memory not in bundle.arrays:
                raise DamagedFile(f"{path}: it has no tensor {memory!r}", str(path))
            bundle.arrays[memory] = np.zeros_like(bundle.arrays[memory])
        agents[name]["optimiser_steps"] = 0
    bundle.describe(CHECKPOINT, description)
    out = Path(path if out is None else out)
    bundle.write(out)
    return out


def _agents(description: Any) -> dict[str, dict[str, Any]]:
    """The agents of a checkpoint's description, by name."""
    agents: dict[str, dict[str, Any]] = {}
    try:
        for agent in description["agents"]:
            agents[agent["name"]], _ = agent, agent["network"]
    except (KeyError, TypeError) as error:
        raise DamagedFile(f"its description is not that of a checkpoint: {error!r}") from error
    return agents


def _part(arrays: dict[str, np.ndarray], start: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _policy(config: Any, arrays: dict[str, np.ndarray]) -> Policy:
    try:
        policy = Policy(config)
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError) as error:
        raise DamagedFile(f"its description is not that of a network: {error!r}") from error
    policy.load_arrays(arrays)
    return policy


def _layers(name: str, configs: list[dict[str, Any]], shape: tuple[int, ...]) -> tuple[nn.ModuleList, tuple[int, ...]]:
    """The layers of a chain and the shape that leaves it; images as (columns, rows, channels)."""
    layers: list[nn.Module] = []
    for config in configs:
        kind = config["layer"]
        if kind == "dense":
            layers.append(nn.Linear(int(np.prod(shape)), config["units"]))
            shape = (config["units"],)
        elif kind == "lstm":
            layers.append(nn.LSTMCell(int(np.prod(shape)), config["units"]))
            shape = (config["units"],)
        elif kind in ("conv", "max-pool"):
            window = tuple(config["kernel" if kind == "conv" else "window"])
            stride = config.get("stride", 1 if kind == "conv" else 2)
            channels = config["filters"] if kind == "conv" else shape[2]
            layers.append(
                nn.Conv2d(shape[2], channels, window, stride) if kind == "conv" else nn.MaxPool2d(window, stride)
            )
            shape = tuple((side - size) // stride + 1 for side, size in zip(shape, window)) + (channels,)
        elif kind in ("tanh", "relu"):
            layers.append(nn.Tanh() if kind == "tanh" else nn.ReLU())
        else:
            raise DamagedFile(f"{name}: unknown layer {kind!r}")
    return nn.ModuleList(layers), shape


def _flat(x: Tensor) -> Tensor:
    """One row per sample; of an image, the channel varies fastest."""
    return (x.permute(0, 2, 3, 1) if x.dim() == 4 else x).flatten(1)


def _wanted(x: Tensor | None, name: str) -> Tensor:
    if x is None:
        raise ValueError(f"the policy sees {name}: give them")
    return x


def _numbers(x: Tensor) -> np.ndarray:
    numbers: np.ndarray = x.detach().cpu().contiguous().numpy().astype("<f4")
    return numbers


def _tensor(array: np.ndarray) -> Tensor:
    return torch.from_numpy(array.copy())
