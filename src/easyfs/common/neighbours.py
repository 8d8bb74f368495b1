"""Another distribution on the package index is imported by the same name: where both are installed, that is said."""

from __future__ import annotations

import os
import re
import warnings

# What pip, or an older tool, leaves of the other one beside its package; that of this library is called easyfs_ml.
_OTHER = re.compile(r"easyfs-(?P<version>[^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info", re.IGNORECASE)


def other_version(folder: str) -> str | None:
    """The version of the other distribution, where it is installed in a folder; None if it is not."""
    try:
        names = os.listdir(folder)
    except OSError:  # not a folder: the library is in an archive, perhaps
        return None
    found = next((match for name in names if (match := _OTHER.fullmatch(name))), None)
    return None if found is None else found["version"]


def warn_of_other(package: str) -> None:
    """Warn, at the line that imports this library, of another distribution beside its folder."""
    folder = os.path.dirname(package)
    version = other_version(folder)
    if version is not None:
        warnings.warn(
            f"another project, 'easyfs' {version}, is installed beside easyfs-ml in {folder!r}. Both are imported as "
            "easyfs, so that files of one may have replaced those of the other. Keep one of them; to keep this one: "
            "pip uninstall easyfs easyfs-ml, then pip install easyfs-ml.",
            UserWarning,
            stacklevel=3,
        )
