"""A project of some thousand lines, the same at every run: modules that could be real, their tests and a README."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

SUBJECTS = [
    "accounts",
    "audit",
    "billing",
    "calendar",
    "carriers",
    "catalog",
    "checkout",
    "contracts",
    "coupons",
    "currency",
    "customers",
    "delivery",
    "discounts",
    "exports",
    "fees",
    "forecast",
    "imports",
    "invoices",
    "inventory",
    "ledger",
    "labels",
    "notices",
    "orders",
    "parcels",
    "payments",
    "picking",
    "pricing",
    "quotes",
    "refunds",
    "reports",
    "returns",
    "routes",
]
_NOUNS = [
    "amount",
    "batch",
    "entry",
    "limit",
    "margin",
    "number",
    "quantity",
    "rate",
    "record",
    "share",
    "stock",
    "total",
    "value",
    "weight",
]
_VERBS = [
    "adjust",
    "allocate",
    "apply",
    "balance",
    "check",
    "collect",
    "combine",
    "compare",
    "count",
    "derive",
    "merge",
    "reserve",
    "settle",
    "split",
]


def module(subject: str, functions: int) -> str:
    """The text of one module: a record class and functions over lists of it."""
    chance = random.Random(subject)
    name = subject.capitalize()
    fields = chance.sample(_NOUNS, 4)
    lines = [
        f'"""Rules of the shop for {subject}: what is counted, limited and settled."""',
        "",
        "from __future__ import annotations",
        "",
        "from dataclasses import dataclass",
        "",
        "",
        "@dataclass",
        f"class {name}:",
        f'    """One line of the {subject} book."""',
        "",
        "    name: str",
        *(f"    {field}: int = {chance.randrange(100)}" for field in fields),
        "",
    ]
    for verb in (chance.choice(_VERBS) + f"_{at}" for at in range(functions)):
        field, other = chance.sample(fields, 2)
        limit = chance.randrange(10, 5_000)
        lines += [
            "",
            f"def {verb}_{field}(lines: list[{name}], limit: int = {limit}) -> int:",
            f'    """{verb.split("_")[0].capitalize()} the {field} of all lines whose {other} stays under the limit."""',
            f"    {field}_sum = 0",
            "    for line in lines:",
            f"        if line.{other} > limit:",
            f"            continue  # rule {chance.randrange(1_000)}: {other} over {limit} is settled by hand",
            f"        {field}_sum += line.{field} * {chance.randrange(2, 9)}",
            f"    return {field}_sum",
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def make_project(folder: Path, *, modules: int = 30, functions: int = 14) -> Path:
    """Write a project with `shop/` (modules), `tests/`, a README and a git history of one commit."""
    shop = folder / "shop"
    shop.mkdir(parents=True)
    (shop / "__init__.py").write_text('"""A shop."""\n')
    for subject in SUBJECTS[:modules]:
        (shop / f"{subject}.py").write_text(module(subject, functions))
    tests = folder / "tests"
    tests.mkdir()
    (tests / "test_shop.py").write_text(
        "from shop import accounts\n\n\ndef test_lines_have_a_name():\n"
        '    assert accounts.Accounts("first").name == "first"\n'
    )
    (folder / "README.md").write_text("# Shop\n\nBooks of a shop, kept in plain Python.\n")
    (folder / "config.yaml").write_text("currency: EUR\nlimit: 500\n")
    (folder / ".gitignore").write_text(".transcripts/\n__pycache__/\n.env\n")
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@localhost", "-C", str(folder)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "The shop"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    return folder


def count_lines(folder: Path) -> int:
    """Lines of Python in a folder."""
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))
