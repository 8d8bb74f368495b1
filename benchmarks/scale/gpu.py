"""How long EasyFS takes on tensors that lie on a GPU, beside ``X.T @ X`` there and the processor of the same machine.

    python benchmarks/scale/gpu.py [--sizes 1000000x1000,1000000x100,2000x2000] [--repeats 5] [--cpu]

Medians of several fits after one that is not counted, with the quartiles; TF32 is off, unless ``--tf32`` is given.
``--cpu`` fits the same table in numpy with all cores.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_info

from easyfs import EasyFS

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep


def seconds(function: Callable[[], object], repeats: int) -> np.ndarray:
    function()
    found = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - start)
    return np.quantile(found, [0.25, 0.5, 0.75])


def shown(times: np.ndarray) -> str:
    return f"{times[1]:.3f} s [{times[0]:.3f}, {times[2]:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="2000x2000,1000000x100,1000000x1000,4000000x2000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--tf32", action="store_true", help="let torch multiply in TF32")
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = args.tf32
    threads = max((library["num_threads"] for library in threadpool_info()), default=1)
    print(
        f"{torch.cuda.get_device_name()}; torch {torch.__version__}; {os.cpu_count()} cores, {threads} threads", flush=True
    )
    for size in args.sizes.split(","):
        n, d = (int(part) for part in size.split("x"))
        generator = torch.Generator(device="cuda").manual_seed(0)
        X = torch.randn((n, d), generator=generator, device="cuda")
        y = (X[:, :10].sum(dim=1) > 0).cpu().numpy().astype(int)
        gram = seconds(lambda X=X: X.T @ X, args.repeats)
        whole = seconds(lambda X=X, y=y: EasyFS(50, random_state=0).fit(X, y), args.repeats)
        plain = seconds(lambda X=X, y=y: EasyFS(50, interactions=False, random_state=0).fit(X, y), args.repeats)
        name = torch.cuda.get_device_name() + (", TF32" if args.tf32 else "")
        device = {"device": name, "torch": torch.__version__}
        times = {"fit": whole, "without_joint_effects": plain, "gram": gram}
        keep("scale-gpu", size=size, **device, **{step: found.tolist() for step, found in times.items()})
        print(f"{size}, k = 50: {shown(whole)}, without joint effects {shown(plain)}, X.T @ X {shown(gram)}", flush=True)
        if args.cpu and n * d <= 10**9:
            host = X.cpu().numpy()
            on_cpu, plain, cpu_gram = (
                seconds(function, args.repeats)
                for function in (
                    lambda host=host, y=y: EasyFS(50, random_state=0).fit(host, y),
                    lambda host=host, y=y: EasyFS(50, interactions=False, random_state=0).fit(host, y),
                    lambda host=host: host.T @ host,
                )
            )
            times = {"fit": on_cpu, "without_joint_effects": plain, "gram": cpu_gram}
            keep("scale-gpu", size=size, device="processor", **{step: found.tolist() for step, found in times.items()})
            print(
                f"    processor: {shown(on_cpu)}, without joint effects {shown(plain)}, X.T @ X {shown(cpu_gram)}, "
                f"{on_cpu[1] / cpu_gram[1]:.1f} times; the GPU is {on_cpu[1] / whole[1]:.1f} times as fast",
                flush=True,
            )
        del X
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
