"""Compares networks, loss, gradients and training of form-rl with PyTorch's.

    cargo run --release -p form-rl --example agreement -- FOLDER
    python agreement.py FOLDER

The example writes a folder for every network: the network's file, what was collected, and what this project made of
it. Here the same network is built from its file, PyTorch differentiates the loss, and its Adam makes ten steps, once with
64-bit floats, whose rounding does not matter, and once with 32-bit floats, as people use it. Every tensor and every part of
the loss must agree: the difference may be as long as a ten-thousandth of PyTorch's answer. Exits with 1 at the first
disagreement, and names it.
"""

import pathlib
import sys

import torch
from network import Network, read

TOLERANCE = 1e-4
STEPS = 10
CASES = ("paper", "planes", "relu", "recurrent")
# Losses and rectifiers have kinks: what comes this close to one may be judged differently by another rounding.
MARGIN = 5e-6


class Difference(Exception):
    """The two implementations disagree."""


class Comparison:
    """Compares numbers and remembers how far they were apart."""

    def __init__(self):
        self.worst = {}

    def check(self, group, what, here, there, size=None):
        """`size` is what a difference is relative to: the length of the right answer, unless said otherwise."""
        here, there = torch.as_tensor(here, dtype=torch.float64), torch.as_tensor(there, dtype=torch.float64)
        if here.shape != there.shape:
            raise Difference(f"{group}, {what}: shape {tuple(here.shape)} here and {tuple(there.shape)} in PyTorch")
        if not (here.isfinite().all() and there.isfinite().all()):
            raise Difference(f"{group}, {what}: not finite")
        size = there.norm().item() if size is None else size
        error = (here - there).norm().item() / size if size > 0 else here.norm().item()
        if error > TOLERANCE:
            raise Difference(f"{group}, {what}: relative error {error:.1e}")
        if error >= self.worst.get(group, (0.0, ""))[0]:
            self.worst[group] = (error, what)

    def check_means(self, group, form, here, there):
        """Means over samples. One that terms of both signs leave over is small: the terms are what counts."""
        for name, terms in there.items():
            mean, size = terms.mean().item(), terms.abs().mean().item()
            self.check(group, f"{name} ({form})", here[name], mean, size)

    def check_all(self, group, form, here, there):
        if here.keys() != there.keys():
            raise Difference(f"{group} ({form}): {sorted(here)} here and {sorted(there)} in PyTorch")
        for name in here:
            self.check(group, f"{name} ({form})", here[name], there[name])


def loss_parts(logits, values, data, settings, advantages):
    """The parts of the loss and the whole, sample by sample."""
    logs, old_logs = logits.log_softmax(1), data["logits"].log_softmax(1)
    actions = data["actions"].unsqueeze(1)
    ratio = (logs - old_logs).gather(1, actions).squeeze(1).exp()
    bounded = ratio.clamp(1 - settings["clip"], 1 + settings["clip"])
    surrogate = torch.minimum(ratio * advantages, bounded * advantages)
    kinks = [(ratio - 1).abs() - settings["clip"]]
    returns, old, bound = data["returns"], data["values"], settings["value_clip"]
    errors = (values - returns) ** 2
    if settings["value_clip_of"] == "error":
        value = errors.clamp(max=bound)
        kinks += [errors - bound]
    else:
        bounded_errors = (old + (values - old).clamp(-bound, bound) - returns) ** 2
        value = torch.maximum(errors, bounded_errors)
        beyond = (values - old).abs() - bound
        kinks += [beyond, (bounded_errors - errors)[beyond > 0]]
    check_margin(torch.cat(kinks).abs().min(), logits.dtype)
    parts = {
        "policy": -surrogate,
        "value": value,
        "entropy": -(logs.exp() * logs).sum(1),
        "kl": (old_logs.exp() * (old_logs - logs)).sum(1),
        "clipped": (surrogate < ratio * advantages).to(logits.dtype),
    }
    total = parts["policy"] + settings["value_coefficient"] * parts["value"]
    total = total - settings["entropy_coefficient"] * parts["entropy"] + settings["kl_coefficient"] * parts["kl"]
    return parts | {"total": total}


def train(network, data, settings, report):
    """Ten steps of Adam on all samples; the parts of the loss at the last one, and how long the gradient was."""
    advantages = data["advantages"]
    advantages = (advantages - advantages.mean()) / advantages.std(correction=0)
    adam = torch.optim.Adam(network.weights.values(), lr=settings["learning_rate"])
    for _ in range(STEPS):
        adam.zero_grad()
        logits, values, _ = forward(network, data, report)
        parts = loss_parts(logits, values, data, settings, advantages)
        parts.pop("total").mean().backward()
        length = torch.nn.utils.clip_grad_norm_(network.weights.values(), settings["gradient_clip"])
        if length <= settings["gradient_clip"]:
            raise Difference("the gradients are too short to be clipped: nothing is tested")
        adam.step()
    return parts | {"gradient": length}


def forward(network, data, report):
    outputs = network(data["images"], data["vectors"], report["steps"], data["starts"], data["states"])
    check_margin(network.margin, network.dtype)
    return outputs


def check_margin(margin, dtype):
    if margin < MARGIN and dtype == torch.float64:
        raise Difference("a sample stands on a kink, where a comparison means nothing: the example needs another seed")


def compare(folder, dtype, comparison):
    """One network in one precision."""
    data, metadata = read(folder / "data.safetensors")
    report = metadata["report"]
    data = {name: value.to(dtype) if value.is_floating_point() else value for name, value in data.items()}
    network = Network(folder / "network.safetensors", dtype)
    with torch.no_grad():
        logits, values, states = forward(network, data, report)
    comparison.check("outputs", "logits", data["output_logits"], logits)
    comparison.check("outputs", "values", data["output_values"], values)
    if states.numel() > 0:
        comparison.check("outputs", "states", data["output_states"], states)
    for form in ("error", "change"):
        network = Network(folder / "network.safetensors", dtype)
        found, settings = report[form], report[form]["settings"]
        logits, values, _ = forward(network, data, report)
        parts = loss_parts(logits, values, data, settings, data["advantages"])
        comparison.check_means("loss", form, found["loss"], parts)
        value_clipped = (parts["value"] - (values - data["returns"]) ** 2).abs() > MARGIN
        for clipped in (parts["clipped"], value_clipped.to(dtype)):
            if not 0.02 < clipped.mean() < 0.98:
                raise Difference(f"{form}: clipping concerns all or none of the samples: nothing is tested")
        names, weights = zip(*network.weights.items())
        gradient = dict(zip(names, torch.autograd.grad(parts["total"].mean(), weights)))
        here = read(folder / f"gradient-{form}.safetensors")[0]
        comparison.check_all("gradients", form, here, gradient | network.known)
        parts = train(network, data, settings, report)
        comparison.check_means("loss of the last step", form, found["trained"], parts)
        trained = {name: value.detach() for name, value in network.weights.items()}
        here = read(folder / f"trained-{form}.safetensors")[0]
        comparison.check_all(f"weights after {STEPS} steps", form, here, trained | network.known)


def check_that_differences_are_noticed():
    """A thousandth too much, a wrong sign, a number that is none, a name too few."""
    right = {"a": torch.tensor([1.0, -2.0]), "b": torch.tensor([0.0])}
    Comparison().check_all("right", "", right, right)
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
            Comparison().check_all("wrong", "", tampered, right)
        except Difference:
            continue
        raise Difference(f"{tampered} was not noticed")


def main():
    # Little work: threads would only wait for each other.
    torch.set_num_threads(1)
    check_that_differences_are_noticed()
    for folder in (pathlib.Path(sys.argv[1]) / name for name in CASES):
        for dtype in (torch.float64, torch.float32):
            comparison, precision = Comparison(), str(dtype).removeprefix("torch.")
            try:
                compare(folder, dtype, comparison)
            except Difference as difference:
                sys.exit(f"{folder.name}, {precision}: {difference}")
            print(f"{folder.name}, {precision}: relative errors up to")
            for group, (error, what) in comparison.worst.items():
                print(f"  {error:.1e} in {group}: {what}")


if __name__ == "__main__":
    main()
