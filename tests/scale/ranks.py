"""Real processes under `torchrun`: a script of our own, started with K ranks on this machine."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]


def torchrun(ranks, *command, module=False, check=True, env=None):
    """Start a script (or, with `module`, a module) on several ranks with one thread each; returns the process."""
    started = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONPATH": str(TESTS), **(env or {})}
    alone["PYTHONPATH"] = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    line = [*started, *(["-m"] if module else []), *map(str, command)]
    done = subprocess.run(line, capture_output=True, text=True, env=alone, check=False, timeout=300)
    assert not check or done.returncode == 0, done.stderr[-3000:]
    return done
