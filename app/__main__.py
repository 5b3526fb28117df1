"""``python -m app``: the same as ``pal``, unless another package of that name stands in the way."""

from __future__ import annotations

import sys
from pathlib import Path

import app

if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    found = Path(app.__file__ or "").resolve().parent
    if found != here or not hasattr(app, "__version__"):
        sys.exit(
            f"pal: this `app` is another program's ({found}); run `pal` instead of `python -m app`"
        )
    from app.cli import main

    sys.exit(main())
