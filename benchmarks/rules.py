"""How much CPU the analysis of a small log takes with all rules, against the rules that there were at first.

    python benchmarks/rules.py startup.log

runs each in turn in processes of their own and prints the least CPU seconds of both, and their ratio. Most of it is the
interpreter and reading the bundle; what more rules cost on top should stay small.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FIRST_RULES = """
no-cache-blocks max-model-len-exceeds-kv-cache free-memory-below-utilization cuda-oom-loading-weights
cuda-oom-profiling cuda-oom-graph-capture cuda-oom-kv-cache-allocation cuda-oom-inference memory-profiling-error
swap-space-too-large cpu-kv-cache-space host-oom-killed shm-too-small kv-cache-preemption mamba-cache-too-small
multimodal-profiling-budget cuda-oom-unknown-phase cuda-oom-wake-up cpu-swap-space-exhausted host-memory-exhausted
auto-fit-max-model-len-failed engine-core-init-failed engine-dead max-model-len-above-derived
max-num-batched-tokens-too-small bfloat16-unsupported attention-heads-not-divisible parallel-size-exceeds-gpus
unrecognized-argument invalid-argument-value quantization-mismatch architecture-unsupported transformers-too-old
gated-or-unauthorized repo-not-found hub-unreachable config-missing-or-invalid weights-not-found weights-corrupt
trust-remote-code-required driver-too-old no-kernel-image no-gpu-detected torch-abi-mismatch cuda-library-missing
compiler-missing nccl-error worker-died port-in-use context-length-exceeded
""".split()

_CHILD = """
import json, sys
import vllmdoctor.rules.load as load
load.load_bundle = lambda: json.load(open(sys.argv[1], encoding="utf-8"))
from vllmdoctor.analysis import analyze_inputs
from vllmdoctor.report.json import report_json
report_json(analyze_inputs([sys.argv[2]]), version="0")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--most", type=float, default=1.3, help="the ratio that ends with exit code 1 when exceeded")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        every, first = _bundles(Path(folder))
        pairs = [(_cpu_s(first, arguments.log), _cpu_s(every, arguments.log)) for _ in range(arguments.rounds)]
    few_s, all_s = (min(times) for times in zip(*pairs, strict=True))
    ratio = all_s / few_s
    print(f"{len(FIRST_RULES)} rules {few_s:.3f} s, all rules {all_s:.3f} s of CPU, ratio {ratio:.2f}")
    return int(ratio > arguments.most)


def _bundles(folder: Path) -> tuple[Path, Path]:
    """Two files: the shipped bundle, and the same with the first rules only."""
    from vllmdoctor.rules.load import load_bundle

    bundle = _plain(load_bundle())
    every, first = folder / "all.json", folder / "first.json"
    every.write_text(json.dumps(bundle), encoding="utf-8")
    few = {name: rule for name, rule in bundle["rules"].items() if name in FIRST_RULES}
    first.write_text(json.dumps({**bundle, "rules": few}), encoding="utf-8")
    return every, first


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _cpu_s(bundle: Path, log: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", _CHILD, str(bundle), str(log)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
