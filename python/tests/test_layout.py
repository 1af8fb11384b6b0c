# SPDX-License-Identifier: Apache-2.0
"""Structs as ctypes lays them out against a C compiler's sizes and offsets."""

import ctypes
import os
import subprocess
import sys
import tempfile
import unittest

from graft import abi


class Layout(unittest.TestCase):
    def test_sizes_and_offsets_are_those_of_c(self):
        program = os.path.join(os.environ["GRAFT_TEST_BUILD"], "python/tests/print_layout")
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
        self.assertGreater(len(lines), 1000)
        for line in lines:
            name, value = line.split()
            struct, _, field = name.partition(".")
            kind = getattr(abi, struct)
            found = getattr(kind, field).offset if field else ctypes.sizeof(kind)
            self.assertEqual(found, int(value), name)

    def test_every_exported_function_has_a_prototype(self):
        library = os.path.join(os.environ["GRAFT_TEST_BUILD"], "python/graft/libgraft.so.1")
        listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
        exported = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines() if " T " in line}
        self.assertEqual(exported, set(abi.PROTOTYPES))

    def test_every_interface_of_the_headers_is_known(self):
        headers = {value.decode() for name, value in vars(abi).items() if name.startswith("GRAFT_INTERFACE_")}
        self.assertEqual(headers - set(abi.INTERFACES), {"graft.logits_processor/1"})  # no module's

    def test_types_of_what_users_write(self):
        try:
            import mypy  # noqa: F401
        except ImportError as missing:
            self.skipTest(f"{missing}")
        typed = os.path.join(os.path.dirname(os.path.abspath(__file__)), "typed.py")
        environment = {**os.environ, "MYPYPATH": os.path.join(os.environ["GRAFT_TEST_BUILD"], "python")}
        with tempfile.TemporaryDirectory() as scratch:
            command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", scratch, typed]
            found = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)


if __name__ == "__main__":
    unittest.main()
