"""Settings that have to stand before scipy is imported."""

import os

# scikit-learn's check of array API input asks for it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
