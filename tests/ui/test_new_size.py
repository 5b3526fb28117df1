"""What a new size of the window costs."""

from app.ui.screens.pair import PairScreen
from tests.ui.fake_session import FakeSession
from tests.ui.screens_in_use import pal_app


async def test_a_size_over_a_breakpoint_is_drawn_in_its_own_styles_from_the_first_frame_on(
    monkeypatch,
):
    app = pal_app(FakeSession())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        classes = []
        drawn = PairScreen._compositor_refresh

        def refresh(screen):
            classes.append((screen.has_class("-wide"), screen.has_class("-tall")))
            drawn(screen)

        monkeypatch.setattr(PairScreen, "_compositor_refresh", refresh)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert set(classes) == {(False, False)}
        classes.clear()
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert set(classes) == {(True, True)}
