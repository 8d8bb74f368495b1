"""Settings that have to stand before scipy is imported."""

import os

# scikit-learn's check of array API input asks for it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import settings

# A busy machine is no failure: no test may depend on how long an example takes.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
