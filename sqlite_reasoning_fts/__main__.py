"""``python -m sqlite_reasoning_fts`` is the command line."""

from .cli import main

if __name__ == "__main__":
    main()
