"""How a prepared test searches a level: by its own kernel where it has one for the pairs at hand, else in batches."""

from __future__ import annotations

from collections.abc import Sequence

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.levels.neighbours import Pairs
from causalcontext.kernels.levels.skeleton import Decisions
from causalcontext.kernels.levels.votes import Ballots
from causalcontext.search.batches import BatchedSearch
from causalcontext.search.compiled import CompiledSearch
from causalcontext.search.levels import LevelTask, PairGroup, Screening
from causalcontext.search.plan import Plan
from causalcontext.views import CIQuery


class SplitSearch:
    """Pairs with so many context variables as a compiled search answers go to it, all others to one in batches.

    Parameters
    ----------
    prepared : PreparedTest
    n_jobs : int
        Threads.
    device : {"cpu", "cuda"}
        Where compiled levels are searched.
    """

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1, device: str = "cpu") -> None:
        self.batched = BatchedSearch(prepared, n_jobs)
        self.roles = prepared.compiled_roles
        self.compiled = None if prepared.gaussian is None else CompiledSearch(prepared.gaussian, n_jobs, device)

    def screen(self, plan: Plan, asked: Bools) -> Screening | None:
        """Ask pairs of system variables given nothing, where a compiled search answers about them."""
        return self.compiled.screen(plan, asked) if self.compiled is not None and 0 in self.roles else None

    def fewest(self, level_task: LevelTask) -> int:
        """How many pairs of a level task are worth a call."""
        return self._of(level_task.group).fewest(level_task)

    def search(self, level_task: LevelTask, pairs: Pairs) -> tuple[Decisions, Ints]:
        """The deciding sets of some pairs of a level task; the tests run on all rows, and on those of contexts."""
        return self._of(level_task.group).search(level_task, pairs)

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold each centre."""
        return self._of(group).vote(group, ballots)

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""
        return self.batched.ask(queries)

    def _of(self, group: PairGroup) -> BatchedSearch | CompiledSearch:
        if self.compiled is not None and len(group.role.contexts) in self.roles:
            return self.compiled
        return self.batched
