"""How long it takes until gbb can be used, against `import numpy`. Prints Markdown.

python benchmarks/start.py [REPEATS]
"""

from __future__ import annotations

import subprocess
import sys
import time

STARTS = {
    "`import numpy`": ["-c", "import numpy"],
    "`import gbb`": ["-c", "import gbb"],
    "`gbb --version`": ["-m", "gbb", "--version"],
    "`gbb --help`": ["-m", "gbb", "--help"],
    "`gbb control --help`": ["-m", "gbb", "control", "--help"],
    "`gbb.Graph`": ["-c", "import gbb; gbb.Graph"],
    "`gbb.simulate`": ["-c", "import gbb; gbb.simulate"],
    "`gbb.Controller`": ["-c", "import gbb; gbb.Controller"],
    "`gbb control ask --help`": ["-m", "gbb", "control", "ask", "--help"],
    "`gbb simulate --help`": ["-m", "gbb", "simulate", "--help"],
}


def fastest(repeats: int) -> dict[str, float]:
    """Seconds of the fastest of so many runs of each, in turn, so that all meet the same weather."""
    found = dict.fromkeys(STARTS, float("inf"))
    for _ in range(repeats):
        for name, args in STARTS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *args], stdout=subprocess.DEVNULL, check=True)
            found[name] = min(found[name], time.perf_counter() - start)
    return found


def main() -> None:
    found = fastest(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
    numpy = found["`import numpy`"]
    print("| start | seconds | times `import numpy` |\n| --- | --- | --- |")
    for name, seconds in found.items():
        print(f"| {name} | {seconds:.3f} | {seconds / numpy:.1f} |")


if __name__ == "__main__":
    main()
