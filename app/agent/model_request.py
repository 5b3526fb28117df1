"""One answer of the model: the request from the view, its stream as events, and what one repair can mend."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from app.agent.channel import Tell
from app.agent.dialogue import Dialogue
from app.agent.layers import Layers
from app.agent.request_notices import mended_notice
from app.compaction.breakpoints import cache_points
from app.core import remarks
from app.core.arriving import Arriving
from app.core.budget import Usage
from app.core.events import (
    BudgetChanged,
    CallArriving,
    Notice,
    RequestSent,
    RetryWaiting,
    TextArrived,
    ThinkingArrived,
)
from app.core.finishing import to_its_end
from app.core.requests import (
    Answer,
    CallDelta,
    FieldDropped,
    InputCounted,
    ModelEvent,
    PicturesLeftOut,
    Purpose,
    RetryWait,
    TextDelta,
    ThinkingDelta,
)
from app.errors import ContextOverflow, ModelError, RecordError, SignatureRejected, StreamBroken


@dataclass(slots=True)
class Asking:
    """Asks the model for the next message of a dialogue."""

    dialogue: Dialogue
    layers: Layers
    tell: Tell
    text: str = ""
    """Text of the answer so far."""
    arriving: Arriving = field(default_factory=lambda: Arriving(0.0))
    """The answer to the last request, and what that carried of the conversation."""

    async def ask(self) -> Answer:
        """Return the answer to the conversation as it stands.

        A request that is too long is compacted and sent once more; signed thinking that no longer fits is removed
        and the request sent once more.

        Raises:
            ModelError: The call failed for good. Text that had come is kept in the record as a remark.
        """
        refused, bared = 0, False
        while True:
            try:
                answer = await self._stream()
            except ContextOverflow as error:
                await self._learn_size(error)
                size = self.dialogue.used
                if refused or not await self.layers.overflow(self.tell):
                    raise
                refused = size
            except SignatureRejected:
                if bared:
                    raise
                bared = True
                await self.dialogue.bare_all()
                self.tell(Notice("The endpoint refused earlier thinking; it was removed for good."))
            else:
                if refused:
                    await self.learn_from_full(refused)
                return answer

    async def _stream(self) -> Answer:
        dialogue, layers = self.dialogue, self.layers
        view = dialogue.conversation.view()
        points = cache_points(
            view,
            previous_end=layers.previous_end,
            frontier=layers.frontier,
            edited=layers.edited,
        )
        self.text = ""
        self.arriving = Arriving(dialogue.conversation.sizes.total)
        self.tell(RequestSent(dialogue.ledger.account.requests + 1, dialogue.used))
        try:
            async with aclosing(
                dialogue.model.stream(dialogue.request(view.messages, points))
            ) as events:
                async for event in events:
                    if isinstance(event, Answer):
                        layers.answered(view, event)
                        return event
                    if isinstance(event, RetryWait):
                        await self._charge_cut()
                    self._pass_on(event)
        except (ModelError, asyncio.CancelledError):
            with suppress(RecordError):  # why the answer ended matters more
                await to_its_end(self.keep_partial())
                await to_its_end(self._charge_cut())
            raise
        raise StreamBroken("the model's stream ended without an answer")

    async def charge(self, answer: Answer) -> None:
        """Count what an answer cost."""
        charge = self.arriving.whole(answer, self.dialogue.meter)
        await self.dialogue.charge(charge, Purpose.TURN, sent=self.arriving.sent)

    async def _charge_cut(self) -> None:
        """Count an answer that broke off or was cancelled after it had begun: it is billed as far as it came."""
        charge = self.arriving.cut(self.dialogue.meter)
        if charge is not None:
            await self.dialogue.charge(charge, Purpose.TURN, sent=self.arriving.sent)

    async def keep_partial(self) -> None:
        """Keep text that will not be part of the conversation, for the reader."""
        if self.text.strip():
            await self.dialogue.record.remark(remarks.PARTIAL, {"text": self.text})

    def _pass_on(self, event: ModelEvent) -> None:
        self.arriving.take(event)
        match event:
            case InputCounted(usage):
                self._count(usage)
            case TextDelta(text):
                self.text += text
                self.tell(TextArrived(text))
            case ThinkingDelta(text):
                self.tell(ThinkingArrived(text))
            case CallDelta(id_, name, chars):
                self.tell(CallArriving(id_, name, chars))
            case RetryWait(attempt, attempts, seconds, reason):
                self.text = ""
                self.tell(RetryWaiting(attempt, attempts, seconds, reason))
            case FieldDropped() | PicturesLeftOut():
                self.tell(mended_notice(event))

    def _count(self, usage: Usage) -> None:
        """Show the endpoint's own count of the request as soon as it says it; the answer's usage settles it."""
        if self.dialogue.meter.trusts(usage.prompt, self.arriving.sent):
            self.tell(BudgetChanged(self.dialogue.budget(usage.prompt)))

    async def _learn_size(self, error: ContextOverflow) -> None:
        """Believe the endpoint's figures."""
        dialogue = self.dialogue
        if error.sent:
            counted = Usage(input=error.sent)
            dialogue.meter = dialogue.meter.measure(
                counted, sent=self.arriving.sent, now=self.arriving.sent
            )
        if error.window:
            await dialogue.learn_window(error.window)

    async def learn_from_full(self, tokens: int) -> None:
        """Note that the window is no larger than this, which was too much where less was taken."""
        if tokens < self.dialogue.frame.window:
            await self.dialogue.learn_window(tokens)
