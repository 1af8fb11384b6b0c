# SPDX-License-Identifier: Apache-2.0
"""The notebook of plugins in two hosts."""

import unittest

from notebooks import run_here, run_in_a_kernel

NAME = "two_hosts.ipynb"


class TwoHosts(unittest.TestCase):
    def test_its_cells_run(self):
        names = run_here(NAME)
        self.assertIn("FusedQKVAttention", names["model"].plan.page)
        names["model"].close()

    def test_it_runs_in_a_kernel(self):
        run_in_a_kernel(self, NAME)


if __name__ == "__main__":
    unittest.main()
