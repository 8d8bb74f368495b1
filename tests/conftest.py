"""Settings that have to stand before scipy is imported."""

import os

# scikit-learn's check of array API input asks for it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import settings

# A busy machine is no failure: no test may depend on how long an example takes. The same examples each time, so that what
# fails is what was changed; EASYFS_EXPLORE=1 draws others.
explore = bool(os.environ.get("EASYFS_EXPLORE"))
settings.register_profile("easyfs", deadline=None, derandomize=not explore)
settings.load_profile("easyfs")
