"""``python -m easyfs`` is the command line."""

from easyfs.cli import main

if __name__ == "__main__":
    main()
