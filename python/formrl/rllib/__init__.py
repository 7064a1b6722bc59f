"""RLlib: a task as a `MultiAgentEnv` with one agent per machine state, and the joint loop on a Ray cluster.

```python
training = formrl.rllib.train(lambda: gymnasium.make("formrl/all-yellow-v0"), iterations=50, env_runners=2)
print(training.machine, training.ended_success)
```

Agents act in all environment runners, at first at random. Every episode that the machine is wrong about is a counterexample;
after an iteration with new ones they are gathered from all runners, the smallest machine is learnt from all that were kept, and
broadcast. Policies go on where their sub-task survives; a module is added for every other state, and those that no state needs
are removed. It is Ray's own new API stack, and nothing of it is patched. RLlib wants to know all agents beforehand, so they
have names from a fixed list (`policy_0`, …), which are those of their modules, too.
"""

from .environment import MachineMultiAgentEnv
from .training import Iteration, Training, train

__all__ = ["Iteration", "MachineMultiAgentEnv", "Training", "train"]
