# SPDX-License-Identifier: Apache-2.0
"""The notebook: its cells run one after another, in a kernel where there is nbclient, else here."""

import json
import os
import unittest

NOTEBOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../notebooks/two_hosts.ipynb")


class Notebook(unittest.TestCase):
    def test_its_cells_run(self):
        with open(NOTEBOOK, encoding="utf-8") as file:
            notebook = json.load(file)
        names = {}
        for number, cell in enumerate(notebook["cells"]):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
        self.assertIn("FusedQKVAttention", names["model"]._repr_html_())
        names["model"].close()

    def test_it_runs_in_a_kernel(self):
        try:
            import ipykernel  # noqa: F401
            import nbclient
            import nbformat
        except ImportError as missing:
            self.skipTest(f"{missing}")
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()


if __name__ == "__main__":
    unittest.main()
