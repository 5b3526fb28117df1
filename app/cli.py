"""The command line: arguments become objects, objects become a front end.

Imports are lazy on purpose: ``--version`` and ``--help`` answer at once, and the screen is drawn before the SDK loads.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from app import __version__
from app.errors import ConfigError, PalError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

EXIT_WRONG_USE = 2
COMMANDS = ("doctor", "sessions", "replay", "rules")
"""These words win over folders of the same name (``./sessions``)."""

_EPILOG = """\
commands:
  pal doctor [--json]        check configuration, endpoint, model and folder, and say what to do
  pal sessions [list|search|show|export|fork|rename|delete|archive]
  pal rules list|why|add|remove   what runs unasked here, and what would become of a command
  pal replay FILE...         what compaction would have done to recorded sessions

Settings: flag > environment > .env > palimpsest.toml > .claude/settings.json > ~/.config/palimpsest/settings.toml.
Without a key the embedded demo model answers on the screen, so everything can be tried at once; -p needs a key
or --demo, so that no script takes the demo's words for an answer. -p exits with 0 done, 1 failed or refused,
2 wrong use, 130 cancelled.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments in (["--version"], ["-V"]):
            print(f"pal {__version__}", flush=True)
            return 0
        leave_start_folder()
        if arguments and arguments[0] in COMMANDS:
            return _command(arguments[0])(arguments[1:])
        return _main(_parser().parse_args(arguments))
    except ConfigError as error:
        return _fail(error, EXIT_WRONG_USE)
    except PalError as error:
        return _fail(error, 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        from app.launch.crash import mask_environment, told_error

        return _fail(told_error(error, mask_environment), 1)


def leave_start_folder() -> None:
    """Take the start folder off the import path and the search path.

    A project's ``json.py`` must never run inside this program, nor its ``./bash`` in place of the system's.

    Raises:
        ConfigError: The start folder is gone.
    """
    from pathlib import Path

    from app.core.search_path import absolute_only

    os.environ["PATH"] = absolute_only(os.environ.get("PATH", os.defpath))
    home = Path(__file__).resolve().parent.parent
    try:
        start = Path.cwd()
    except FileNotFoundError:
        raise ConfigError(
            "FOLDER", "the folder that pal was started in is gone", hint="Go to one that is there."
        ) from None
    kept = []
    for entry in sys.path:
        place = start if entry == "" else Path(entry)
        if place == start and place.resolve() != home:
            continue
        kept.append(entry)
    sys.path[:] = kept


def _fail(error: PalError, code: int) -> int:
    from app.core.visible_text import visible_text

    print(f"pal: {visible_text(str(error))}", file=sys.stderr)
    if error.hint:
        print(f"     {visible_text(error.hint)}", file=sys.stderr)
    return code


def _command(name: str) -> Callable[[list[str]], int]:
    from app import subcommands

    return {
        "doctor": subcommands.doctor,
        "sessions": subcommands.sessions,
        "replay": subcommands.replay,
        "rules": subcommands.rules,
    }[name]


def _parser() -> argparse.ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(
        prog="pal",
        description="A pair programmer in the terminal whose conversation never ends.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="project folder")
    parser.add_argument("-V", "--version", action="version", version=f"pal {__version__}")
    parser.add_argument(
        "-c", "--continue", dest="go_on", action="store_true", help="go on with the last session"
    )
    parser.add_argument(
        "-r",
        "--resume",
        nargs="?",
        const="",
        metavar="SESSION",
        help="go on with a session; without a name, choose",
    )
    parser.add_argument(
        "--fork", action="store_true", help="go on with a copy; also when it is open elsewhere"
    )
    parser.add_argument(
        "-p",
        "--print",
        dest="text",
        nargs="?",
        const="",
        metavar="TEXT",
        help="one turn without a screen; piped text is added, or is all of it",
    )
    parser.add_argument(
        "--output", choices=("text", "json", "stream-json"), default="text", help="what -p prints"
    )
    parser.add_argument("--model", metavar="ID", help="the model (also MODEL_ID)")
    parser.add_argument("--demo", action="store_true", help="let the embedded model answer")
    parser.add_argument(
        "--trust", action="store_true", help="use what this folder's own files set, this time"
    )
    parser.add_argument(
        "--ask-trust", action="store_true", help="ask again whether this folder's files count"
    )
    parser.add_argument(
        "--textbook", action="store_true", help="the literal form of the three layers"
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help='such as "bash: pytest *"; repeatable',
    )
    parser.add_argument(
        "--accept-edits", action="store_true", help="edits inside the folder need no question"
    )
    parser.add_argument(
        "--auto", action="store_true", help="nothing is asked inside a working sandbox"
    )
    parser.add_argument("--read-only", action="store_true", help="nothing is written")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any setting; repeatable"
    )
    return parser


def _main(options: argparse.Namespace) -> int:
    from pathlib import Path

    from app.launch import Launch, run_screen, run_text

    folder = Path(options.folder)
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "does not exist"
        near = _nearest_command(options.folder)
        hint = f"Did you mean pal {near}? " if near else ""
        raise ConfigError(
            "FOLDER", f"{folder} {problem}", hint=f"{hint}Name the project folder to work in."
        )
    launch = Launch(
        folder=folder.resolve(),
        flags=flags_of(options),
        trust=options.trust,
        ask_trust=options.ask_trust,
        resume=options.resume,
        go_on=options.go_on,
        fork=options.fork,
    )
    if options.text is not None:
        return run_text(launch, options.text, options.output)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):  # Textual draws on standard error
        raise ConfigError(
            "pal", "the screen needs a terminal", hint="Use pal -p TEXT where there is none."
        )
    return run_screen(launch)


def _nearest_command(word: str) -> str:
    """Return the command that a word may have meant; "" when none is near."""
    import difflib

    return next(iter(difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.7)), "")


def flags_of(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings that the arguments name, as text.

    Raises:
        ConfigError: A ``--set`` has no ``=``, or two flags exclude each other.
    """
    from app.settings.flags import assignments

    flags = assignments(options.set)
    modes = [
        mode
        for mode, wanted in (
            ("accept-edits", options.accept_edits),
            ("auto", options.auto),
            ("read-only", options.read_only),
        )
        if wanted
    ]
    if len(modes) > 1:
        raise ConfigError("--" + modes[0], f"cannot be combined with --{modes[1]}")
    if modes:
        flags["--mode"] = modes[0]
    if options.model:
        flags["--model"] = options.model
    if options.demo:
        flags["--demo"] = "true"
    if options.textbook:
        flags["--textbook"] = "true"
    if options.allow:
        flags["--allow"] = "\n".join(options.allow)
    return flags
