# SPDX-License-Identifier: Apache-2.0
"""The notebook of first steps, and what it shows of a plan."""

import html
import unittest

from notebooks import run_here, run_in_a_kernel

NAME = "first_steps.ipynb"


class FirstSteps(unittest.TestCase):
    def test_its_cells_run(self):
        names = run_here(NAME)
        shown = names["m"]._repr_html_()
        self.assertEqual(shown, names["m"].plan._repr_html_())
        names["m"].close()
        self.assertIsNone(names["m"]._repr_html_())

    def test_it_shows_the_page_in_a_kernel(self):
        notebook = run_in_a_kernel(self, NAME)
        plan = next(cell for cell in notebook.cells if cell.source == "m.plan")
        shown = plan.outputs[0]["data"]["text/html"]
        self.assertTrue(shown.startswith("<iframe "))
        page = html.unescape(shown.split('srcdoc="')[1].split('"')[0])
        self.assertTrue(page.startswith("<!doctype html>") and page.rstrip().endswith("</html>"))
        for word in ("<b>fused_qkv</b>", "ModuleListExperts", "copied at load"):
            self.assertIn(word, page)


if __name__ == "__main__":
    unittest.main()
