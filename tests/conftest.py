"""What all tests share: properties try the same examples in every run, or others on demand.

``pytest --hypothesis-profile=explore`` searches with new examples; what it finds becomes an ``@example``.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("same")
