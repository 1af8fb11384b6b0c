# SPDX-License-Identifier: Apache-2.0
"""Notebooks: cells run one after another, here or in a kernel."""

import contextlib
import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../notebooks")


@contextlib.contextmanager
def _inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run_here(name):
    """Runs the cells of a notebook; its names."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        notebook = json.load(file)
    names = {}
    with _inside(FOLDER):
        for number, cell in enumerate(notebook["cells"]):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"cell {number} of {name}", "exec"), names)
    return names


def run_in_a_kernel(test, name):
    """Runs them as Jupyter does; the notebook with its outputs. Skips the test where there is no kernel."""
    try:
        import ipykernel  # noqa: F401
        import nbclient
        import nbformat
    except ImportError as missing:
        test.skipTest(f"{missing}")
    notebook = nbformat.read(os.path.join(FOLDER, name), as_version=4)
    where = {"metadata": {"path": FOLDER}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()
    return notebook
