from pathlib import PurePath

import pytest

from app.core.search_path import absolute_only, outside_of


@pytest.mark.parametrize(
    ("given", "absolute", "outside"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin", "/usr/bin:/bin"),
        (".:/bin", "/bin", "/bin"),
        ("::bin:/bin:", "/bin", "/bin"),
        ("/p/bin:/bin:/p", "/p/bin:/bin:/p", "/bin"),
        ("/x/../p/bin:/pq/bin", "/x/../p/bin:/pq/bin", "/pq/bin"),
        ("", "", ""),
    ],
)
def test_a_search_path_is_left_without_what_a_project_could_fill(
    given: str, absolute: str, outside: str
) -> None:
    assert absolute_only(given) == absolute
    assert outside_of(PurePath("/p"), given) == outside
