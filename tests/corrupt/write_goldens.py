"""Writes the golden hashes: `goldens.json` beside this file, and those of the self-test.

Run only after a change that is meant to change pixels: python tests/corrupt/write_goldens.py
"""

import json
from pathlib import Path

from print_hashes import all_hashes

import benchc.corrupt.selftest as selftest

HERE = Path(__file__).parent

if __name__ == "__main__":
    (HERE / "goldens.json").write_text(json.dumps(all_hashes(), indent=1) + "\n")
    found = selftest.hashes(selftest.synthetic_picture(97, 131), "selftest")
    rows = "".join(
        f'    "{name}": [\n' + "".join(f'        "{h}",\n' for h in some) + "    ],\n"
        for name, some in found.items()
    )
    Path(selftest.__file__).with_name("goldens.py").write_text(
        '"""First 16 hex digits of the pixel hashes that the self-test compares with.\n\n'
        "Never edited by hand: `python tests/corrupt/write_goldens.py` writes it.\n"
        '"""\n\n'
        f"SELFTEST: dict[str, list[str]] = {{\n{rows}}}\n"
    )
