"""`python -m benchc`: the same as `benchc`, where the package is on the path but not installed."""

from benchc.cli import main

if __name__ == "__main__":
    main()
