"""Designs, runs and files: the same numbers in any order, on any backend, through any
interruption.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import pytest

from causalcontext.ci_tests.registry import find_test
from causalcontext.discover import discover
from causalcontext.errors import FileError, OptionError
from causalcontext_lab.simulate import random_model, soil_moisture
from causalcontext_lab.study import (
    Design,
    Setting,
    failure_table,
    grid,
    run_study,
    run_table,
    summary_table,
    time_table,
)
from causalcontext_lab.study.designs import AS_PUBLISHED, NONPARAMETRIC, PARAMETRIC, paper_designs
from causalcontext_lab.study.methods import Remembering, told_links
from causalcontext_lab.study.reports import save_table
from causalcontext_lab.study.runner import SETTING_COLUMNS, run_job, runs_of, setting_columns

SMALL = Design("small", grid(samples=[100, 200], nodes=5), repeats=6, knowledge=("none", "r-all"))


def without_times(records):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The records of the small study and the bytes of its tables."""
    folder = tmp_path_factory.mktemp("study")
    records = run_study(SMALL, folder / "records.jsonl")
    return records, table_bytes(SMALL, records, folder)


def table_bytes(design, records, folder):
    save_table(summary_table(design, records), folder / "summary.csv")
    save_table(run_table(design, records), folder / "runs.csv")
    return (folder / "summary.csv").read_bytes() + (folder / "runs.csv").read_bytes()


def test_one_record_per_run_and_one_per_draw(uninterrupted):
    records, _ = uninterrupted
    assert len(records) == len(SMALL.jobs()) * (1 + len(runs_of(SMALL)))
    assert all("context" in record for record in records if record.get("method") == "pc-ac")
    assert all("context" not in record for record in records if record.get("method") == "pc-p")


def test_a_job_alone_gives_the_numbers_of_the_whole_study(uninterrupted):
    records, _ = uninterrupted
    alone = run_job(SMALL, 1, 4)
    assert without_times(alone) == without_times(
        r for r in records if (r["setting"], r["repeat"]) == (1, 4)
    )


def test_settings_that_differ_in_rows_alone_share_their_models():
    first, second = SMALL.settings
    models = [setting.draw_model(SMALL.seeds(setting, 3)[0]) for setting in (first, second)]
    assert (models[0].coefficients == models[1].coefficients).all()
    other = replace(SMALL, seed=1)
    assert (
        other.settings[0].draw_model(other.seeds(first, 3)[0]).coefficients
        != models[0].coefficients
    ).any()


@pytest.mark.slow
def test_parallel_processes_give_the_same_table(uninterrupted, tmp_path):
    records = run_study(SMALL, tmp_path / "records.jsonl", n_jobs=2)
    assert table_bytes(SMALL, records, tmp_path) == uninterrupted[1]


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_table(uninterrupted, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        records = run_study(SMALL, tmp_path / "records.jsonl", client=client)
    assert table_bytes(SMALL, records, tmp_path) == uninterrupted[1]


def test_a_cut_off_file_is_resumed(uninterrupted, tmp_path):
    path = tmp_path / "records.jsonl"
    run_study(SMALL, path)
    text = path.read_text()
    path.write_text(text[: len(text) * 2 // 5])
    records = run_study(SMALL, path)
    assert table_bytes(SMALL, records, tmp_path) == uninterrupted[1]


SCRIPT = """
import sys
from causalcontext_lab.study import Design, grid, run_study
if __name__ == "__main__":
    design = Design("killed", grid(samples=[100, 200], nodes=5), repeats=60, knowledge=("none",))
    run_study(design, sys.argv[1], n_jobs=2)
"""


@pytest.mark.slow
def test_a_parallel_study_survives_kill_9(tmp_path):
    design = Design("killed", grid(samples=[100, 200], nodes=5), repeats=60, knowledge=("none",))
    path = tmp_path / "records.jsonl"
    (tmp_path / "script.py").write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "script.py", path], start_new_session=True
    )
    while not path.exists() or path.read_bytes().count(b"\n") < 60:
        assert process.poll() is None, "the study ended before it could be killed"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    left = path.read_bytes().count(b"\n")
    resumed = run_study(design, path, n_jobs=2)
    assert left < path.read_bytes().count(b"\n"), "it was killed in the middle"
    whole = run_study(design, tmp_path / "whole.jsonl")
    assert table_bytes(design, resumed, tmp_path) == table_bytes(design, whole, tmp_path)


def test_records_of_another_design_are_refused(tmp_path):
    path = tmp_path / "records.jsonl"
    run_study(replace(SMALL, repeats=1), path)
    with pytest.raises(FileError, match="made with another design"):
        run_study(replace(SMALL, repeats=2), path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="does not hold the records of a study"):
        run_study(SMALL, path)


def test_failures_are_records_with_their_reason(tmp_path):
    impossible = Setting(nodes=2, density=1.0, changes=1, samples=50)
    design = Design("impossible", (impossible,), repeats=2, knowledge=("none",))
    records = run_study(design, tmp_path / "records.jsonl")
    assert all(record["reason"].startswith("no model: OptionError") for record in records)
    assert failure_table(design, records)["count"].sum() == 2 * len(design.methods)
    few = replace(SMALL, settings=grid(samples=2, nodes=5), repeats=1)
    assert all("reason" in r for r in run_study(few, tmp_path / "few.jsonl") if r["kind"] == "run")


def test_rejected_proposals_are_counted_by_reason(uninterrupted):
    table = failure_table(SMALL, uninterrupted[0])
    assert set(table["what"]) == {"proposal turned down"}
    assert "NOTHING_TO_EDIT" in set(table["reason"])


def test_tables_name_every_entry_of_a_setting():
    assert tuple(setting_columns(SMALL, 0)) == SETTING_COLUMNS
    assert len(SETTING_COLUMNS) == len(fields(Setting)) + 1, "and the test of the design"


def test_times_have_a_table_of_their_own(uninterrupted):
    records, _ = uninterrupted
    times = time_table(SMALL, records)
    assert (times["median_seconds"] > 0).all()
    assert "seconds" not in run_table(SMALL, records).columns
    within = times.set_index(["samples", "knowledge", "method"])["tests_within"]
    assert within[100, "none", "pc-p"] == 0 < within[100, "none", "pc-m"]


def test_a_design_from_toml(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'repeats = 3\nmethods = ["pc-ac"]\n[setting]\nsamples = [200, 500]\nedits = ["add",'
        ' "flip"]\ncycles = "enforce"\nnodes = [6, 7]\n'
    )
    design = Design.from_toml(path)
    assert (design.name, design.repeats, len(design.settings)) == ("mine", 3, 4)
    assert design.settings[0].edits == ("add", "flip")
    path.write_text("repeat = 3\n")
    with pytest.raises(
        OptionError, match=r"unknown key 'repeat' in a design.*did you mean 'repeats'"
    ):
        Design.from_toml(path)
    path.write_text("[setting]\nsample = 3\n")
    with pytest.raises(OptionError, match="did you mean 'samples'"):
        Design.from_toml(path)
    with pytest.raises(FileError, match="cannot be read"):
        Design.from_toml(tmp_path / "missing.toml")


@pytest.mark.parametrize(
    "change", [{"repeats": 0}, {"settings": ()}, {"settings": (Setting(), Setting())}]
)
def test_bad_designs_are_refused(change):
    with pytest.raises(OptionError, match="'small'"):
        replace(SMALL, **change)


def test_unknown_methods_and_generators_are_named(tmp_path):
    with pytest.raises(OptionError, match="did you mean 'pc-ac'"):
        run_study(replace(SMALL, methods=("pc-acc",)), tmp_path / "records.jsonl")
    with pytest.raises(OptionError, match="generator is 'scripts'"):
        Setting(generator="scripts")


def test_what_methods_are_told():
    model = random_model(seed=3)
    knowledge, told = told_links("none", model, "absent")
    assert not knowledge.names
    assert not told.any()
    children = [model.names[i] for i in range(8) if model.adjacency[0, model.context, i]]
    knowledge, told = told_links("r-children", model, "absent")
    assert knowledge.required == tuple(("R", child) for child in children)
    assert told.sum() == 2 * len(children)
    knowledge, told = told_links("r-all", model, "absent")
    assert knowledge.closed == ("R",)
    assert told[model.context].sum() == 7
    assert told_links("r-all", model, "unknown")[0].closed == ()


def test_every_configuration_of_the_paper_has_a_design():
    assert list(PARAMETRIC) == [
        "main",
        "cycles",
        "changes-2",
        "changes-3",
        "density-0.6",
        "nodes-6",
        "nodes-12",
        "balance-1.5",
    ]
    assert {design.repeats for design in PARAMETRIC.values()} == {100}
    assert all("score-ac" in design.methods for design in PARAMETRIC.values())
    assert NONPARAMETRIC.test == "cmi-knn-mixed"
    assert "nonparametric" in paper_designs(nonparametric=True)
    assert "nonparametric" not in paper_designs()
    assert list(paper_designs(as_published=True)) == ["as-published"]
    assert "baselines-cycles" in paper_designs(baselines=True)


def test_the_methods_as_published_run_and_differ_between_contexts_at_the_context():
    records = run_job(replace(AS_PUBLISHED, repeats=1), 1, 0)
    assert not [record["reason"] for record in records if "reason" in record]
    assert len(records) == 1 + 3 * 4


def test_fci_and_cd_nod_see_the_tables_of_the_other_methods():
    pytest.importorskip("causallearn")
    design = Design(
        "baselines", grid(samples=500, nodes=5), methods=("pc-p", "fci", "cd-nod"), repeats=1
    )
    records = {
        (r["knowledge"], r["method"]): r for r in run_job(design, 0, 0) if r["kind"] == "run"
    }
    assert ("r-all", "fci") not in records
    for method in ("fci", "cd-nod"):
        record = records["none", method]
        assert "reason" not in record
        assert record["union"]["tpr"] == pytest.approx(
            records["none", "pc-p"]["union"]["tpr"], abs=0.35
        )


def test_records_are_plain_json_lines(uninterrupted, tmp_path):
    path = Path(tmp_path / "records.jsonl")
    run_study(replace(SMALL, repeats=1), path)
    header, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert header["design"]["name"] == "small"
    assert {line["kind"] for line in lines} == {"draw", "run"}


def test_tables_can_be_parquet(uninterrupted, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = summary_table(SMALL, uninterrupted[0])
    save_table(table, tmp_path / "t.parquet")
    assert pd.read_parquet(tmp_path / "t.parquet").equals(table)
    with pytest.raises(FileError, match="unknown ending"):
        save_table(table, tmp_path / "t.xlsx")


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    pd = pytest.importorskip("pandas")
    save_table(
        pd.DataFrame({"design": ["=1+1", "small"], "size": [-1.0, None]}), tmp_path / "t.csv"
    )
    assert (tmp_path / "t.csv").read_text() == "design,size\n'=1+1,-1\nsmall,\n"


def test_a_test_that_remembers_answers_as_before_and_asks_once():
    asked = []

    class Counting:
        name = "counting"

        def prepare(self, data, statistics):
            inner = find_test("cmi-knn-mixed").prepare(data, statistics)
            answer = inner.answer
            inner.answer = lambda trials: asked.extend(trials) or answer(trials)
            return inner

    table = soil_moisture(120, seed=1)
    remembering = Remembering(Counting())
    for method in ("pc-ac", "pc-p", "pc-b"):
        found = discover(table, context="soil", method=method, test=remembering)
        fresh = discover(table, context="soil", method=method, test="cmi-knn-mixed")
        assert found.graphs == fresh.graphs
        assert found.log.p.ravel().tolist() == pytest.approx(
            fresh.log.p.ravel().tolist(), nan_ok=True
        )
    assert len(asked) == len(set(asked)) > 0
