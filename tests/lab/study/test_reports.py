"""Comparison with published figures, orderings, figures and the command line of studies."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from causalcontext.cli.app import app
from causalcontext.errors import FileError
from causalcontext_lab.study import Design, grid, run_study, run_table, summary_table, time_table
from causalcontext_lab.study.output import (
    LOOKS,
    PAPER_FIGURES,
    PUBLISHED_FIGURES,
    FigureSpec,
    draw_figure,
)
from causalcontext_lab.study.reports import (
    ORDERING_METRICS,
    compare,
    correction_report,
    is_target,
    ordering_report,
    paired_differences,
    read_published,
    replication_report,
    runtime_report,
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The summary and the runs of a small study called main."""
    design = Design("main", grid(samples=[100, 200], nodes=5), repeats=5)
    records = run_study(design, tmp_path_factory.mktemp("study") / "records.jsonl")
    return summary_table(design, records), run_table(design, records)


@pytest.fixture(scope="module")
def with_score(tmp_path_factory):
    """The summary, the runs and the times of a small study with score-ac."""
    design = Design("main", grid(samples=200, nodes=5), ("pc-ac", "score-ac"), ("none",), repeats=5)
    records = run_study(design, tmp_path_factory.mktemp("score") / "records.jsonl")
    return summary_table(design, records), run_table(design, records), time_table(design, records)


def published_file(table, path, shift=0.0):
    """A file in the form of the published figures, with the numbers of our own table."""
    entries = table[table["metric"].isin(["tpr", "fpr"])].assign(mixed_test="regression")
    entries = entries.assign(
        value=entries["value"] + shift, method=entries["method"].str.replace("cd-nod", "nod")
    )
    entries.to_csv(path, index=False)
    return path


def test_equal_figures_are_all_met(study, tmp_path):
    table, _ = study
    published = read_published(published_file(table, tmp_path / "p.csv"))
    compared = compare(table, published)
    assert np.allclose(compared["standard_errors"], 0.0, atol=1e-6)
    page = replication_report(table, published)
    assert f"{is_target(compared).sum()} of {is_target(compared).sum()} cells (100%)" in page
    assert "## TPR and FPR that differ\n\nNone." in page


def test_figures_that_differ_are_listed(study, tmp_path):
    table, _ = study
    page = replication_report(
        table, read_published(published_file(table, tmp_path / "p.csv", shift=5.0))
    )
    assert "(0%)" in page
    assert "- pc-ac, none, n = 100, context, fpr:" in page


def test_differences_are_in_combined_standard_errors(study, tmp_path):
    table, _ = study
    published = read_published(published_file(table, tmp_path / "p.csv", shift=0.1))
    rows = compare(table, published).query("bootstrap_std > 0")
    expected = -0.1 / np.hypot(rows["bootstrap_std"], rows["bootstrap_std_published"])
    assert len(rows) > 10
    assert np.allclose(rows["standard_errors"], expected)


def test_corrected_numbers_stand_beside_published_ones(study, tmp_path):
    table, _ = study
    page = correction_report(table, read_published(published_file(table, tmp_path / "p.csv")))
    assert (
        page.count("| none | tpr | pc-ac | ours |")
        == page.count("| none | tpr | pc-ac | published |")
        == 2
    )


def test_published_files_are_checked(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        read_published(tmp_path / "missing.csv")
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="no column 'samples'"):
        read_published(tmp_path / "odd.csv")


def test_paired_differences_are_taken_on_the_same_tables(study):
    _, runs = study
    found = paired_differences(runs, "pc-ac", "pc-m", ["context_tpr"]).set_index(
        ["samples", "knowledge"]
    )
    part = runs[(runs["samples"] == 200) & (runs["knowledge"] == "none")].set_index(
        ["method", "repeat"]
    )["context_tpr"]
    assert found.loc[(200, "none"), "difference"] == pytest.approx(
        (part["pc-ac"] - part["pc-m"]).mean()
    )


def test_the_ordering_counts_every_cell_once(study):
    _, runs = study
    lines = [line for line in ordering_report(runs).splitlines() if line.startswith("| pc-")]
    assert len(lines) == 5 * len(ORDERING_METRICS) * 3
    assert all(sum(int(entry) for entry in line.split("|")[5:8]) <= 2 for line in lines)


def test_run_times_in_the_form_of_the_papers_table(study, tmp_path):
    design = Design("main", grid(samples=[100, 200], nodes=5), repeats=1, knowledge=("none",))
    page = runtime_report(time_table(design, run_study(design, tmp_path / "records.jsonl")))
    assert "| | pc-ac | pc-m | pc-b | pc-p |" in page
    assert page.count("| n = ") == 2


def test_a_method_without_tests_has_a_time_and_no_numbers_of_tests(with_score):
    summary, runs, times = with_score
    assert times.set_index("method")["tests_pooled"].isna().to_dict() == {
        "pc-ac": False,
        "score-ac": True,
    }
    assert runs.groupby("method")["tests_pooled"].count().to_dict() == {"pc-ac": 5, "score-ac": 0}
    assert set(summary[summary["method"] == "score-ac"]["graph"]) == {"context", "union"}
    row = next(line for line in runtime_report(times).splitlines() if line.startswith("| n = 200"))
    adaptive, scored = (cell.strip() for cell in row.split("|")[2:4])
    assert "(" in adaptive
    assert float(scored) > 0


def test_the_ordering_and_the_figures_have_score_ac(with_score):
    summary, runs, _ = with_score
    page = ordering_report(runs)
    assert "## pc-ac" not in page, "none of its rivals was run"
    assert page.count("| pc-ac | context | tpr | none |") == 1
    legend = draw_figure(PAPER_FIGURES[0], summary).legends[0]
    assert [text.get_text() for text in legend.get_texts() if text.get_text().strip()] == [
        "PC-AC",
        "adj. none",
        "score-ac",
    ]


def test_figures_show_every_method_with_a_complete_legend(study):
    table, _ = study
    figure = draw_figure(PAPER_FIGURES[0], table)
    labels = [text.get_text().strip() for text in figure.legends[0].get_texts()]
    assert [label for label in labels if label] == [
        "PC-AC",
        "adj. none",
        "PC-M",
        "adj. R-ch.",
        "PC-B",
        "PC-P",
    ]
    assert len(figure.axes) == 4
    assert [axis.get_title() for axis in figure.axes[:2]] == ["TPR", "FPR"]


def test_a_narrow_figure_has_room_for_the_legend_of_all_methods(study):
    table, _ = study
    part = table[(table["method"] == "pc-p") & (table["knowledge"] == "none")]
    every = pd.concat([part.assign(method=method) for method in LOOKS])
    figure = draw_figure(
        FigureSpec("x", {"": ("main",)}, graphs=("union",), styles={"none": "-"}), every
    )
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_figures_without_data_are_left_out(study):
    table, _ = study
    assert draw_figure(FigureSpec("x", {"": ("nowhere",)}), table) is None


def test_methods_and_figures_can_be_told_apart():
    names, colours, markers = zip(*LOOKS.values(), strict=True)
    assert len(set(names)) == len(set(colours)) == len(set(markers)) == len(LOOKS)
    files = [spec.name for spec in (*PAPER_FIGURES, *PUBLISHED_FIGURES)]
    assert len(set(files)) == len(files)


@pytest.mark.slow
def test_study_paper_writes_tables_figures_and_pages(tmp_path):
    arguments = [
        "study",
        "paper",
        "--out",
        str(tmp_path / "out"),
        "--only",
        "nodes-6",
        "--repeats",
        "2",
        "--jobs",
        "1",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    for name in (
        "summary.csv",
        "runs.csv",
        "times.csv",
        "failures.csv",
        "ordering.md",
        "figures/nodes.png",
        "figures/nodes.pdf",
        "records/nodes-6.jsonl",
    ):
        assert (tmp_path / "out" / name).stat().st_size > 0
    first = (tmp_path / "out" / "summary.csv").read_bytes()
    again = CliRunner().invoke(app, arguments)
    assert "nodes-6: 10 tables in 0" in again.output
    assert (tmp_path / "out" / "summary.csv").read_bytes() == first
    assert set(pd.read_csv(tmp_path / "out" / "summary.csv")["design"]) == {"nodes-6"}


@pytest.mark.slow
def test_study_paper_as_published(study, tmp_path):
    published = published_file(study[0], tmp_path / "published.csv")
    result = CliRunner().invoke(
        app,
        [
            "study",
            "paper",
            "--as-published",
            "--repeats",
            "1",
            "--jobs",
            "1",
            "--out",
            str(tmp_path),
            "--compare",
            str(published),
        ],
    )
    assert result.exit_code == 0, result.output
    assert "As published" in (tmp_path / "comparison.md").read_text()


def test_study_run_takes_a_toml_file(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'methods = ["pc-ac"]\nrepeats = 2\n[setting]\nsamples = 200\nnodes = 5\nexogenous = [false,'
        " true]\n"
    )
    result = CliRunner().invoke(
        app, ["study", "run", str(tmp_path / "mine.toml"), "--out", str(tmp_path), "--jobs", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "mine: 4 tables" in result.output
    assert "exogenous" in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["paper", "--only", "mian"], "did you mean 'main'"),
        (["paper", "--repeats", "0"], "--repeats is 0"),
        (["paper", "--compare", "missing.csv"], "cannot be read"),
        (["run", "missing.toml"], "cannot be read"),
    ],
)
def test_bad_input_ends_with_one_sentence(arguments, sentence, tmp_path):
    result = CliRunner().invoke(app, ["study", *arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert sentence in result.output
    assert len(result.output.strip().splitlines()) == 1
