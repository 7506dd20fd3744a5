"""Compares the golden hashes under other versions of OpenCV, NumPy and Pillow.

Builds a temporary environment; without a network it says so and exits 0.

Run: python tests/corrupt/other_environment.py [opencv==4.11.0.86 numpy==2.2.6 pillow==11.3.0]
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
VERSIONS = ["opencv-python-headless==4.11.0.86", "numpy==2.2.6", "pillow==11.3.0"]


def main(packages: list[str]) -> int:
    goldens = json.loads((HERE / "goldens.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--retries", "0", *packages]
        if subprocess.run(install, check=False).returncode:
            print(f"skipped: cannot install {' '.join(packages)}")
            return 0
        environment = os.environ | {"PYTHONPATH": str(HERE.parents[1] / "src")}
        done = subprocess.run(
            [python, HERE / "print_hashes.py"], env=environment, capture_output=True, check=True
        )
    found = json.loads(done.stdout)
    cells = [(p, n, s) for p in goldens for n in goldens[p] for s in range(5)]
    differing = [
        f"{picture} {name} {severity + 1}"
        for picture, name, severity in cells
        if found[picture][name][severity] != goldens[picture][name][severity]
    ]
    print(f"{' '.join(packages)}: {len(cells) - len(differing)} of {len(cells)} hashes equal")
    print("\n".join(differing))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or VERSIONS))
