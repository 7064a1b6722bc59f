"""Compares networks, loss, gradients and training of form-rl with PyTorch's.

    cargo run --release -p form-rl --example agreement -- FOLDER
    python agreement.py FOLDER

The example writes a folder for every network: the network's file, what was collected, and what this project made of
it. Here the same network is built from its file, PyTorch differentiates the loss, and its Adam makes ten steps, once with
32-bit floats, as people use it, and once with 64-bit floats, whose rounding does not matter. Every tensor and every part of
the loss must agree: the largest difference may be a ten-thousandth of the largest number. Exits with 1 at the first
disagreement, and names it.
"""

import pathlib
import sys

import torch
from network import Network, read

TOLERANCE = 1e-4
STEPS = 10


class Difference(Exception):
    """The two implementations disagree."""


class Comparison:
    """Compares numbers and remembers how far they were apart."""

    def __init__(self):
        self.worst = {}

    def check(self, group, what, here, there):
        here, there = torch.as_tensor(here, dtype=torch.float64), torch.as_tensor(there, dtype=torch.float64)
        if here.shape != there.shape:
            raise Difference(f"{group}, {what}: shape {tuple(here.shape)} here and {tuple(there.shape)} in PyTorch")
        if not (here.isfinite().all() and there.isfinite().all()):
            raise Difference(f"{group}, {what}: not finite")
        size = there.abs().max().item()
        error = (here - there).abs().max().item() / size if size > 0 else here.abs().max().item()
        if error > TOLERANCE:
            raise Difference(f"{group}, {what}: relative error {error:.1e}")
        if error >= self.worst.get(group, (0.0, ""))[0]:
            self.worst[group] = (error, what)

    def check_all(self, group, here, there):
        if here.keys() != there.keys():
            raise Difference(f"{group}: {sorted(here)} here and {sorted(there)} in PyTorch")
        for name in here:
            self.check(group, name, here[name], there[name])


def loss_parts(logits, values, data, settings, advantages):
    """The parts of the loss, as means, and the whole."""
    logs, old_logs = logits.log_softmax(1), data["logits"].to(logits.dtype).log_softmax(1)
    actions = data["actions"].long().unsqueeze(1)
    ratio = (logs - old_logs).gather(1, actions).squeeze(1).exp()
    bounded = ratio.clamp(1 - settings["clip"], 1 + settings["clip"])
    surrogate = torch.minimum(ratio * advantages, bounded * advantages)
    returns, old, bound = data["returns"], data["values"], settings["value_clip"]
    errors = (values - returns) ** 2
    if settings["value_clip_of"] == "error":
        value = errors.clamp(max=bound)
    else:
        value = torch.maximum(errors, (old + (values - old).clamp(-bound, bound) - returns) ** 2)
    parts = {
        "policy": -surrogate.mean(),
        "value": value.mean(),
        "entropy": -(logs.exp() * logs).sum(1).mean(),
        "kl": (old_logs.exp() * (old_logs - logs)).sum(1).mean(),
        "clipped": (surrogate < ratio * advantages).to(logits.dtype).mean(),
    }
    parts["total"] = (
        parts["policy"]
        + settings["value_coefficient"] * parts["value"]
        - settings["entropy_coefficient"] * parts["entropy"]
        + settings["kl_coefficient"] * parts["kl"]
    )
    return parts


def train(network, data, settings, report):
    """Ten steps of Adam on all samples; the parts of the loss at the last one."""
    advantages = data["advantages"]
    advantages = (advantages - advantages.mean()) / advantages.std(correction=0)
    adam = torch.optim.Adam(network.weights.values(), lr=settings["learning_rate"])
    for _ in range(STEPS):
        adam.zero_grad()
        logits, values, _ = forward(network, data, report)
        parts = loss_parts(logits, values, data, settings, advantages)
        parts["total"].backward()
        length = torch.nn.utils.clip_grad_norm_(network.weights.values(), settings["gradient_clip"])
        if length <= settings["gradient_clip"]:
            raise Difference("the gradients are too short to be clipped: nothing is tested")
        adam.step()
    del parts["total"]
    return parts | {"gradient": length}


def forward(network, data, report):
    return network(data["images"], data["vectors"], report["steps"], data["starts"], data["states"])


def compare(folder, dtype, comparison):
    """One network in one precision."""
    data, metadata = read(folder / "data.safetensors")
    report = metadata["report"]
    data = {name: value.to(dtype) if value.is_floating_point() else value for name, value in data.items()}
    network = Network(folder / "network.safetensors", dtype)
    before = {name: value.detach().clone() for name, value in network.weights.items()}
    with torch.no_grad():
        logits, values, states = forward(network, data, report)
    comparison.check("outputs", "logits", data["output_logits"], logits)
    comparison.check("outputs", "values", data["output_values"], values)
    if states.numel() > 0:
        comparison.check("outputs", "states", data["output_states"], states)
    for form in ("error", "change"):
        found, settings = report[form], report[form]["settings"]
        logits, values, _ = forward(network, data, report)
        parts = loss_parts(logits, values, data, settings, data["advantages"])
        for name, part in parts.items():
            comparison.check(f"loss, {form}", name, found["loss"][name], part.item())
        names, weights = zip(*network.weights.items())
        gradient = dict(zip(names, torch.autograd.grad(parts["total"], weights)))
        comparison.check_all(f"gradients, {form}", read(folder / f"gradient-{form}.safetensors")[0], gradient | network.known)
        parts = train(network, data, settings, report)
        for name, part in parts.items():
            comparison.check(f"loss after {STEPS} steps, {form}", name, found["trained"][name], part.item())
        trained = {name: value.detach() for name, value in network.weights.items()}
        here = read(folder / f"trained-{form}.safetensors")[0]
        comparison.check_all(f"weights after {STEPS} steps, {form}", here, trained | network.known)
        with torch.no_grad():
            for name, value in network.weights.items():
                value.copy_(before[name])


def check_that_differences_are_noticed():
    """A thousandth too much, a wrong sign, a number that is none, a name too few."""
    right = {"a": torch.tensor([1.0, -2.0]), "b": torch.tensor([0.0])}
    Comparison().check_all("right", right, right)
    wrong = [
        right | {"a": torch.tensor([1.002, -2.0])},
        right | {"a": torch.tensor([1.0, 2.0])},
        right | {"a": torch.tensor([1.0, float("nan")])},
        right | {"a": torch.tensor([1.0])},
        right | {"b": torch.tensor([1e-3])},
        {"a": right["a"]},
    ]
    for tampered in wrong:
        try:
            Comparison().check_all("wrong", tampered, right)
        except Difference:
            continue
        raise Difference(f"{tampered} was not noticed")


def main():
    check_that_differences_are_noticed()
    folders = sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_dir())
    if not folders:
        sys.exit(f"no cases in {sys.argv[1]}")
    for folder in folders:
        for dtype in (torch.float32, torch.float64):
            comparison, precision = Comparison(), str(dtype).removeprefix("torch.")
            try:
                compare(folder, dtype, comparison)
            except Difference as difference:
                sys.exit(f"{folder.name}, {precision}: {difference}")
            print(f"{folder.name}, {precision}:")
            for group, (error, what) in comparison.worst.items():
                print(f"  {group}: relative error up to {error:.1e} ({what})")


if __name__ == "__main__":
    main()
