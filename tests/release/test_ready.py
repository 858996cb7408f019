from __future__ import annotations

from ready import citation_version, obstacles

from causalcontext.version import __version__


def test_the_citation_is_for_this_version():
    assert citation_version() == __version__


def test_a_release_needs_a_dated_section_of_its_own_and_nothing_uncommitted():
    assert obstacles(f"# Changelog\n\n## {__version__}, 2026-01-31\n", "") == []
    assert "has no date" in obstacles(f"## {__version__}, not released yet\n", "")[0]
    assert "is not for" in obstacles("## 0.0.1, 2020-01-01\n", "")[0]
    assert obstacles(f"## {__version__}, 2026-01-31\n", " M README.md") == [
        "some changes are not committed"
    ]
