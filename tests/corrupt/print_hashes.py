"""Prints, as JSON, the pixel hashes of the test pictures under every corruption and severity.

Never imports more than NumPy, OpenCV and Pillow: it also runs in environments made for it.
"""

import json
import sys

import cv2

from benchc.corrupt.selftest import hashes, synthetic_picture

# With structure, tiny, odd-sized, above the side of the frost sheet, and of many strips.
SIZES = {
    "drawn": (120, 160),
    "tiny": (5, 3),
    "odd": (97, 131),
    "long": (20, 1100),
    "large": (480, 640),
}


def all_hashes() -> dict[str, dict[str, list[str]]]:
    return {
        label: hashes(synthetic_picture(height, width), label)
        for label, (height, width) in SIZES.items()
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        cv2.setNumThreads(int(sys.argv[1]))
    json.dump(all_hashes(), sys.stdout, indent=1)
