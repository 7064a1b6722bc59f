"""A network of form-rl in PyTorch, built from nothing but its safetensors file.

Images are bytes with the channel last, vectors numbers. Weights keep the names of the file, and its layout: a convolution's
filters are (filter, row, column, channel), an LSTM has one bias where PyTorch has two.
"""

import json

import torch
from torch.nn import functional


def read(path):
    """The tensors of a file, and its metadata with their values read as JSON."""
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        # All but the checksum of the others.
        tensors = {name: file.get_tensor(name) for name in file.keys() if name != "crc32"}
        metadata = {name: json.loads(value) for name, value in (file.metadata() or {}).items()}
    return tensors, metadata


class Network:
    """Logits, values and last states of sequences of observations.

    `weights` are its parameters by name, `margin` is how close any number came to a rectifier's kink.
    """

    def __init__(self, path, dtype):
        tensors, metadata = read(path)
        self.config, self.dtype = metadata["network"], dtype
        self.known = {name: value for name, value in tensors.items() if name.startswith("normalisation.")}
        weights = {name: value for name, value in tensors.items() if name not in self.known}
        self.margin = float("inf")
        self.weights = {name: value.to(dtype).requires_grad_() for name, value in weights.items()}

    def __call__(self, images, vectors, steps, starts, states):
        """One row a sample, sequence after sequence; `starts` and `states` matter to recurrent networks only."""
        parts, offset = [], 0
        if image := self.config.get("image"):
            x = self.normalise("image", images.unflatten(1, image["shape"]).to(self.dtype), image)
            parts.append(self.chain("image", image["layers"], x).flatten(1))
        for vector in self.config["vectors"]:
            x = vectors[:, offset : offset + vector["size"]].to(self.dtype)
            parts.append(self.chain(vector["name"], vector["layers"], self.normalise(vector["name"], x, vector)))
            offset += vector["size"]
        x, last = torch.cat(parts, 1), states
        for place, layer in enumerate(self.config["trunk"]):
            if layer["layer"] == "lstm":
                x, last = self.lstm(f"trunk.{place}", x, steps, starts, states.to(self.dtype))
            else:
                x = self.layer(f"trunk.{place}", layer, x)
        return self.dense("actor", x), self.dense("critic", x).squeeze(1), last

    def normalise(self, name, x, config):
        if not config.get("normalise"):
            return x
        count, mean, squares = (self.known[f"normalisation.{name}.{part}"] for part in ("count", "mean", "squares"))
        scale = torch.where(count > 0, (squares / count + 1e-8).rsqrt(), 1.0)
        return ((x - mean.to(self.dtype)) * scale.to(self.dtype)).clamp(-10, 10)

    def chain(self, name, layers, x):
        for place, layer in enumerate(layers):
            x = self.layer(f"{name}.{place}", layer, x)
        return x

    def layer(self, name, config, x):
        """All but the LSTM. PyTorch's images have the channel before rows and columns, those here after them."""
        match config["layer"]:
            case "dense":
                return self.dense(name, x.flatten(1))
            case "conv":
                weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
                filters = weight.permute(0, 3, 1, 2)
                stride = config.get("stride", 1)
                return functional.conv2d(x.permute(0, 3, 1, 2), filters, bias, stride).permute(0, 2, 3, 1)
            case "max-pool":
                pooled = functional.max_pool2d(x.permute(0, 3, 1, 2), config["window"], config.get("stride", 2))
                return pooled.permute(0, 2, 3, 1)
            case "tanh":
                return torch.tanh(x)
            case "relu":
                self.margin = min(self.margin, x.detach().abs().min().item())
                return torch.relu(x)
        raise ValueError(f"{name}: unknown layer {config['layer']}")

    def dense(self, name, x):
        return functional.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def lstm(self, name, x, steps, starts, states):
        """PyTorch's own cell, step by step: where an episode starts, the state before is forgotten."""
        weights = [self.weights[f"{name}.{part}"] for part in ("weight_input", "weight_state", "bias")]
        units = weights[1].shape[1]
        x, starts = x.unflatten(0, (-1, steps)), starts.unflatten(0, (-1, steps))
        output, cells = states[:, :units], states[:, units:]
        outputs = []
        for step in range(steps):
            forget = starts[:, step].bool().unsqueeze(1)
            output, cells = output.masked_fill(forget, 0), cells.masked_fill(forget, 0)
            output, cells = torch.lstm_cell(x[:, step], (output, cells), *weights, torch.zeros_like(weights[2]))
            outputs.append(output)
        return torch.stack(outputs, 1).flatten(0, 1), torch.cat([output, cells], 1)
