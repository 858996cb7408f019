"""Threads: results in order, and nothing begins after the first error."""

import threading

import pytest

from causalcontext.kernels.threads import in_threads


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_order(n_jobs):
    assert list(in_threads(lambda k: k * k, range(20), n_jobs)) == [k * k for k in range(20)]
    assert list(in_threads(abs, [], n_jobs)) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError])
def test_what_has_not_begun_is_left_after_an_error(error):
    begun, go_on = [], threading.Event()

    def task(k):
        begun.append(k)
        if k == 0:
            raise error
        assert go_on.wait(60)

    found = in_threads(task, range(50), 2)
    threading.Timer(0.2, go_on.set).start()
    with pytest.raises(error):
        next(found)
    assert len(begun) < 10
