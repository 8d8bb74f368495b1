"""Two wheels hold the same files with the same content: ``python same_wheel.py one.whl other.whl``."""

import sys
import zipfile


def content(path: str) -> dict[str, bytes]:
    """The files of a wheel by name."""
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


one, other = (content(path) for path in sys.argv[1:])
missing, more = sorted(set(one) - set(other)), sorted(set(other) - set(one))
differ = sorted(name for name in set(one) & set(other) if one[name] != other[name])
if missing or more or differ:
    sys.exit(f"the wheels differ: only in the first {missing}, only in the second {more}, other content {differ}")
print(f"{len(one)} files, the same in both wheels")  # noqa: T201
