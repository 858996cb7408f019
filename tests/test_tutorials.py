"""The tutorials run from top to bottom, and are kept without outputs."""

import os
from pathlib import Path

import pytest

import causalcontext as cc

FOLDER = Path(__file__).parent.parent / "docs" / "tutorials"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SOURCE = str(Path(cc.__file__).parents[1])

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (extra: tutorials)")


def test_there_are_four():
    assert [file.stem for file in NOTEBOOKS] == [
        "business-cycle",
        "el-nino",
        "flux-tower",
        "soil-moisture",
    ]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_no_outputs_are_kept(file):
    for cell in nbformat.read(file, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_every_cell_runs(file, monkeypatch, tmp_path):
    nbclient = pytest.importorskip(
        "nbclient", reason="nbclient is not installed (extra: tutorials)"
    )
    pytest.importorskip("ipykernel", reason="ipykernel is not installed (extra: tutorials)")
    pytest.importorskip("statsmodels", reason="statsmodels is not installed (extra: tutorials)")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(file, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("text/html" in output.get("data", {}) for output in shown)
    assert any("image/png" in output.get("data", {}) for output in shown)
