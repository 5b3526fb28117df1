"""What a new size of the window costs."""

import pytest

from app.ui.screens.pair import PairScreen
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_a_size_over_a_breakpoint_is_drawn_in_its_own_styles_from_the_first_frame_on(
    monkeypatch, size
):
    drawn = []
    draw = PairScreen._compositor_refresh

    def refresh(screen):
        drawn.append(
            (screen._compositor.size, screen.has_class("-wide"), screen.has_class("-tall"))
        )
        draw(screen)

    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 24) if size[1] > 40 else (120, 40)) as pilot:
        monkeypatch.setattr(PairScreen, "_compositor_refresh", refresh)
        await pilot.resize_terminal(*size)
        while not any(at == size for at, *_ in drawn):
            await pilot.pause()
        styles = {tuple(classes) for at, *classes in drawn if at == size}
        assert styles == {(size[0] >= 110, size[1] >= 34)}
