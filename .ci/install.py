#!/usr/bin/env python3
"""Installs pinned packages into a virtual environment of their own, unless they are there already.

    install.py FOLDER REQUIREMENTS...

The environment is FOLDER/venv. PyTorch's packages for Linux on PyPI are built for CUDA and want another two gigabytes of
it before they are imported, even where nothing but the processor is used. Here they get none but the library that
registers their kernels. The names of the others lead to one of PyTorch's own libraries, and symbols are looked up when
they are first called: those of CUDA never are, and a call would be an error, not a wrong result.
"""

import os
import pathlib
import subprocess
import sys

# What PyTorch's libraries ask the loader for.
CUDA = [
    "libcublas.so.13",
    "libcublasLt.so.13",
    "libcudnn.so.9",
    "libcufft.so.12",
    "libcufile.so.0",
    "libcupti.so.13",
    "libcurand.so.10",
    "libcusparse.so.12",
    "libcusparseLt.so.0",
    "libnccl.so.2",
    "libnvrtc.so.13",
    "libnvshmem_host.so.3",
]

# Run when the environment's Python starts: has PyTorch look symbols up lazily.
LAZY = 'import os; os.environ.setdefault("TORCH_USE_RTLD_GLOBAL", "1")\n'


def run(*command):
    return subprocess.run(command, check=True)


def make_environment(folder):
    try:
        run(sys.executable, "-m", "venv", "--clear", folder / "venv")
    except subprocess.CalledProcessError:
        # A bare Debian has pip but perhaps not the venv module's parts: virtualenv brings its own.
        run(sys.executable, "-m", "pip", "install", "--quiet", "--target", folder / "virtualenv", "virtualenv")
        command = [sys.executable, "-m", "virtualenv", "--quiet", "--clear", folder / "venv"]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(folder / "virtualenv")})


def spare_cuda(packages):
    """Lets the names of CUDA's libraries lead to one that is harmless."""
    libraries = packages / "torch/lib"
    if not (libraries / "libtorch_cuda.so").exists():
        return
    for name in CUDA:
        (libraries / name).symlink_to("libc10.so")
    (packages / "lazy.pth").write_text(LAZY)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    files = [pathlib.Path(file) for file in sys.argv[2:]]
    wanted, installed = "".join(file.read_text() for file in files), folder / "installed.txt"
    if installed.exists() and installed.read_text() == wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    installed.unlink(missing_ok=True)
    make_environment(folder)
    requirements = [option for file in files for option in ("-r", str(file))]
    run(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-deps", *requirements)
    (packages,) = (folder / "venv/lib").glob("python3*/site-packages")
    spare_cuda(packages)
    if (packages / "torch").exists():
        run(folder / "venv/bin/python", "-c", "import torch")
    installed.write_text(wanted)


if __name__ == "__main__":
    main()
