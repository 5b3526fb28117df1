"""Going back: the turns, what was changed in each, and what going back to one would do to the files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.core.visible_text import one_line
from app.errors import PalError
from app.ui.format import clock, plural
from app.ui.keymap import Place, bindings
from app.ui.screens.sheet import Sheet
from app.ui.widgets.key_footer import Hint

if TYPE_CHECKING:
    from app.agent.rewinding import FileMove, FilePlan, RewindPoint
    from app.agent.session import Session

WORDS_CHARS = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chose."""

    point: RewindPoint
    conversation: bool
    files: tuple[FileMove, ...]
    folders: tuple[str, ...] = ()
    """Folders that go with their last file."""


class RewindScreen(Sheet[Choice]):
    """Returns what goes back and to where, or None.

    Files that something else changed since stay as they are, unless the user says otherwise here.

    Args:
        session: Where turns and files are read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Place.REWIND)]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._points: tuple[RewindPoint, ...] = ()
        self._plan: FilePlan | None = None
        """Of the highlighted turn; None until it is known."""
        self._overwrite = False

    def title_text(self) -> str:
        return "go back to before a turn"

    def hint_row(self) -> tuple[Hint, ...]:
        return (
            Hint("↑↓", "choose"),
            Hint("b", "both", "both"),
            Hint("c", "conversation", "conversation"),
            Hint("f", "files", "files"),
            Hint("o", "overwrite", "overwrite"),
            Hint("Esc", "back", "close"),
        )

    def body(self) -> Iterable[Widget]:
        yield Static("reading…", id="note", markup=False)
        yield OptionList(markup=False, compact=True)
        with VerticalScroll(id="plan", can_focus=False):
            yield Static(id="moves", markup=False)

    def on_mount(self) -> None:
        self.run_worker(self._load())

    async def _load(self) -> None:
        try:
            self._points = await self._session.rewind_points()
        except PalError as error:
            self._note(Content.styled(str(error), "$text-error"))
            return
        self._note(
            Content.styled(
                "What you said, newest first. Nothing is deleted: a rewind can itself be taken back."
                if self._points
                else "There is nothing to go back to yet.",
                "$text-muted",
            )
        )
        options = self.query_one(OptionList)
        options.set_options(Option(_row(point)) for point in self._points)
        options.highlighted = 0 if self._points else None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._plan, self._overwrite = None, False
        self._show(Content.styled("looking at the files…", "$text-muted"))
        self.run_worker(self._look(self._points[event.option_index]), exclusive=True, group="look")

    def on_option_list_option_selected(self) -> None:
        self.action_both()

    async def _look(self, point: RewindPoint) -> None:
        try:
            self._plan = await self._session.rewind_files(point)
        except PalError as error:
            self._show(Content.styled(str(error), "$text-error"))
            return
        self._show_plan()

    def action_both(self) -> None:
        self._choose(conversation=True, files=True)

    def action_conversation(self) -> None:
        self._choose(conversation=True, files=False)

    def action_files(self) -> None:
        self._choose(conversation=False, files=True)

    def action_overwrite(self) -> None:
        """Let files that something else changed go back too, or not."""
        if self._plan is not None:
            self._overwrite = not self._overwrite
            self._show_plan()

    def _choose(self, *, conversation: bool, files: bool) -> None:
        at = self.query_one(OptionList).highlighted
        if at is None or self._plan is None:
            return
        moves = tuple(m for m in self._plan.moves if self._goes(m)) if files else ()
        folders = self._plan.folders if files else ()
        if conversation or moves or folders:
            self.dismiss(Choice(self._points[at], conversation, moves, folders))
        else:
            self.app.bell()

    def _goes(self, move: FileMove) -> bool:
        return not move.problem and (self._overwrite or not move.changed_since)

    def _show_plan(self) -> None:
        plan = self._plan
        if plan is None:
            return
        if not plan.moves and not plan.unknown and not plan.folders:
            self._show(Content.styled("The files are as they were then.", "$text-muted"))
            return
        going = sum(map(self._goes, plan.moves))
        lines = [Content.styled(f"{plural(going, 'file')} would go back:", "$text-primary")]
        lines += [self._line(move) for move in plan.moves]
        lines += [
            Content(f"  {'remove':8}{one_line(name, 200)}/  (once it is empty)")
            for name in plan.folders
        ]
        if plan.unknown:
            lines.append(
                Content.styled(
                    f"  {plural(plan.unknown, 'further file')}: one command changed too many to keep",
                    "$text-warning",
                )
            )
        if any(move.changed_since and not move.problem for move in plan.moves):
            said = (
                "o keeps what was changed since by something else"
                if self._overwrite
                else "! changed since by something else: stays as it is, unless you press o"
            )
            lines.append(Content.styled(said, "$text-warning"))
        self._show(Content("\n").join(lines))

    def _line(self, move: FileMove) -> Content:
        mark, style = " ", ""
        if move.problem:
            mark, style = "✗", "$text-error"
        elif move.changed_since:
            mark, style = "!", "$text-warning"
        counts = f"  +{move.added} -{move.removed}" if move.added or move.removed else ""
        why = f"  ({one_line(move.problem, 120)})" if move.problem else ""
        return Content.styled(f"{mark} {move.verb:8}{one_line(move.path, 200)}{counts}{why}", style)

    def _note(self, content: Content) -> None:
        self.query_one("#note", Static).update(content)

    def _show(self, content: Content) -> None:
        self.query_one("#moves", Static).update(content)


def _row(point: RewindPoint) -> Content:
    first = one_line(point.words, WORDS_CHARS)
    if point.is_rewind:
        what = "files went back" if point.files_only else "you went back"
        first = f"⟲ before {what} to “{first}”" if first else f"⟲ before {what}"
    facts = f"{point.message}  " if point.message else ""
    facts += "no file changed"
    if point.files:
        counts = f", +{point.added} -{point.removed}"
        named = ", ".join(one_line(path, 60) for path in point.files[:3])
        more = f" and {len(point.files) - 3} more" if len(point.files) > 3 else ""
        facts = f"{facts.removesuffix('no file changed')}{plural(len(point.files), 'file')}{counts}: {named}{more}"
    return Content.assemble(
        (f"{clock(point.time):9}", "$text-primary"),
        first,
        "\n",
        (f"{'':9}{facts}", "$text-muted"),
    )
