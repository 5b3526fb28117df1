"""All tools of a session, in the order in which the model sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.core.masking import hide
from app.core.messages import JsonObject
from app.core.originals import Originals
from app.core.ports import Emit, Proposal, Tool, ToolOutcome
from app.core.requests import ToolSpec
from app.errors import ToolError
from app.tools.arguments import checked
from app.tools.bash import DEFAULT_SECONDS, BashTool, Wrap
from app.tools.checkpoints import Checkpoints
from app.tools.compact import CompactTool
from app.tools.edit_file import EditFileTool
from app.tools.list_files import ListFilesTool
from app.tools.own_keys import Pieces, without_keys
from app.tools.process import Processes
from app.tools.read_file import ReadFileTool
from app.tools.recall import RecallTool
from app.tools.result_room import RoomNow
from app.tools.search import SearchTool
from app.tools.todo import SetTodo, TodoTool
from app.tools.workspace import Workspace
from app.tools.write_file import WriteFileTool


@dataclass(frozen=True, slots=True)
class CheckedTool:
    """A tool whose arguments are checked before it sees them, and whose failures are all told to the model."""

    tool: Tool
    keys: tuple[str, ...] = ()
    """This program's own credentials, which are hidden in all that the tool returns."""

    @property
    def spec(self) -> ToolSpec:
        """The tool's own."""
        return self.tool.spec

    @property
    def read_only(self) -> bool:
        """The tool's own."""
        return self.tool.read_only

    def target(self, arguments: JsonObject) -> str:
        """The tool's own."""
        return self.tool.target(arguments)

    async def propose(self, arguments: JsonObject) -> Proposal:
        """Return what the call would do.

        Raises:
            ToolError: The arguments are wrong, or the call cannot be made.
        """
        sound = checked(self.spec.input_schema, arguments)
        try:
            return await self.tool.propose(sound)
        except (ToolError, OSError) as error:
            raise self._without_keys(error) from None

    async def run(self, arguments: JsonObject, emit: Emit) -> ToolOutcome:
        """Make the call.

        Raises:
            ToolError: The arguments are wrong, or the call failed.
        """
        sound = checked(self.spec.input_schema, arguments)
        live = Pieces(self.keys)

        def show(piece: str) -> None:
            if text := live.take(piece):
                emit(text)

        try:
            outcome = await self.tool.run(sound, show)
        except (ToolError, OSError) as error:
            raise self._without_keys(error) from None
        finally:
            if rest := live.rest():
                emit(rest)
        return without_keys(outcome, self.keys)

    def _without_keys(self, error: ToolError | OSError) -> ToolError:
        told = hide(str(error), self.keys)
        return error if isinstance(error, ToolError) and told == str(error) else ToolError(told)


def build_tools(
    workspace: Workspace,
    *,
    record: Originals,
    set_todo: SetTodo,
    processes: Processes,
    wrap: Wrap,
    checkpoints: Checkpoints,
    changes_nothing: Callable[[str], bool],
    remark: Callable[[], str] = lambda: "",
    room: RoomNow,
    bash_seconds: int = DEFAULT_SECONDS,
    bash_max_seconds: int = 600,
    keys: tuple[str, ...] = (),
) -> Mapping[str, Tool]:
    """Return all tools by name; the order is always the same.

    Args:
        workspace: The project folder.
        record: Where recall looks.
        set_todo: Takes a new todo list.
        processes: Runs commands; its owner closes it at the end of the session.
        wrap: Puts a command into the sandbox that is in force.
        checkpoints: Keeps files before they are changed.
        changes_nothing: Whether a command is known to change no file.
        remark: What the model should know of where a command ran, asked after it.
        room: How much one call may return now.
        bash_seconds: Usual time limit of a command.
        bash_max_seconds: Longest time limit that the model may ask for.
        keys: This program's own credentials, to be hidden in all that tools return.
    """
    tools: tuple[Tool, ...] = (
        BashTool(
            workspace.root,
            processes,
            wrap,
            checkpoints,
            changes_nothing,
            remark,
            bash_seconds,
            bash_max_seconds,
        ),
        ReadFileTool(workspace, room),
        WriteFileTool(workspace, checkpoints),
        EditFileTool(workspace, checkpoints),
        ListFilesTool(workspace),
        SearchTool(workspace),
        TodoTool(set_todo),
        RecallTool(record, room),
        CompactTool(),
    )
    return MappingProxyType({tool.spec.name: CheckedTool(tool, keys) for tool in tools})
