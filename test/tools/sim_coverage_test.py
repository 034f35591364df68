# SPDX-License-Identifier: Apache-2.0
"""That tools/sim_coverage.py counts what gcov reports, once for each place, and names what was never reached."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import sim_coverage  # noqa: E402  (after the path above)

ROOT = pathlib.Path("/project")


def _line(number, count, *branches):
    return {"line_number": number, "count": count, "branches": [{"count": times, "throw": throw} for times, throw in branches]}


def _function(name, begin, end, count):
    return {"demangled_name": name, "start_line": begin, "end_line": end, "execution_count": count}


def _report(name, lines, functions):
    return {"current_working_directory": "/project/build-coverage", "files": [{"file": name, "lines": lines, "functions": functions}]}


class SimCoverage(unittest.TestCase):
    def setUp(self):
        self.coverage = sim_coverage.Coverage()

    def add(self, *reports):
        for report in reports:
            self.coverage.add(report, ROOT)

    def test_a_place_of_several_objects_counts_once_and_where_it_ran(self):
        self.add(_report("../src/queue/heap.h", [_line(3, 0, (0, False), (0, False)), _line(4, 0)], [_function("Sift()", 3, 4, 0)]),
                 _report("../src/queue/heap.h", [_line(3, 7, (7, False), (0, False)), _line(4, 0)], [_function("Sift()", 3, 4, 7)]))
        self.assertEqual(self.coverage.row("src/queue"), (1, 2, 1, 2))
        self.assertEqual(list(self.coverage.never_entered("src/queue")), [])
        self.assertEqual(list(self.coverage.never_ran("src/queue")), [("src/queue/heap.h", 4, 4)])

    def test_exceptions_are_no_branches(self):
        self.add(_report("../src/queue/a.cc", [_line(1, 1, (1, False), (0, True))], []))
        self.assertEqual(self.coverage.row("src/queue"), (1, 1, 1, 1))

    def test_what_is_outside_of_the_project_or_the_folder_does_not_count(self):
        self.add(_report("/usr/include/c++/12/vector", [_line(1, 1)], []), _report("../src/queues/a.cc", [_line(1, 1)], []))
        self.assertEqual(self.coverage.row("src/queue"), (0, 0, 0, 0))

    def test_functions_that_were_not_entered_are_named_once_with_what_is_in_them(self):
        self.add(_report("../src/cache/a.cc", [_line(number, 0) for number in range(1, 9)],
                         [_function("Outer()", 1, 6, 0), _function("Outer()::{lambda()#1}", 2, 3, 0), _function("Other()", 7, 8, 0)]))
        self.assertEqual(list(self.coverage.never_entered("src/cache")), [("src/cache/a.cc", 1, "Outer()"), ("src/cache/a.cc", 7, "Other()")])
        self.assertEqual(list(self.coverage.never_ran("src/cache")), [])


if __name__ == "__main__":
    unittest.main()
