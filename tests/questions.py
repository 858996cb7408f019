"""Questions that a result keeps the answers to, asked one at a time."""

from causalcontext.diagnostics.hidden_causes import suspicion_of
from causalcontext.results.violations import check_words, violations_of

__all__ = ["model_checks", "suspicion_of", "violations_of"]


def model_checks(result) -> tuple[str, ...]:
    """The model checks that fail, in sentences."""
    violations_of(result.searched)
    return check_words(result.searched)
