"""The one lock: the operating system's own, which ends with its process, however that ends."""

import fcntl
from typing import IO, Any


def lock(file: IO[Any], shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file for as long as it is open, and return whether that was possible.

    Args:
        file: What stands for the thing that is locked.
        shared: Let others who share hold it too; what this process held alone is given up for it.
        wait: Wait for who holds it.

    Raises:
        OSError: the disk knows no locks.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(file, kind | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True
