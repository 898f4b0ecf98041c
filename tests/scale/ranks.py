"""Real processes under `torchrun`: a script of our own, or the command, started with K ranks on this machine."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]


def launcher(ranks):
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]


def environment():
    """One thread a rank, and the tests' own modules within reach."""
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONPATH": path}


def torchrun(ranks, *command, module=False, check=True):
    """Start a script (or, with `module`, a module) on several ranks and wait for it."""
    line = [*launcher(ranks), *(["-m"] if module else []), *map(str, command)]
    done = subprocess.run(line, capture_output=True, text=True, env=environment(), check=False, timeout=300)
    assert not check or done.returncode == 0, done.stderr[-3000:]
    return done
