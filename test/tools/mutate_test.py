# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/mutate.py without any compiler: which mutants count, how they are compiled and linked, the score."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import mutate  # noqa: E402


class Rules:
    """In the place of universalmutator: the mutants it is told of."""

    def __init__(self, *found):
        self._found = found

    def mutants_regexp(self, _lines, **_):
        print("chatter that nobody must see")
        return [(line, after, ("rule", "file:1"), None) for line, after in self._found]


class Worthwhile(unittest.TestCase):
    def test_table(self):
        for before, after, wanted in (
                ("  if (a <= b) return;", "  if (a < b) return;", True),
                ("  if (a == b) return;", "  if (!(a == b)) return;", True),
                ("  if (a && b) return;", "  if (a || b) return;", True),
                ("  if (a && b) return;", "  if (a && (1==1)) return;", True),
                ("  if (a && b) return;", "  if (a (1==1)) return;", False),
                ("  if (a.ok() && b) {", "  if (a.ok((0==1) && b) {", False),
                ("  if (a) f();", "  if (0==1);", False),
                ("  f(a, b);", "  /*f(a, b);*/", True),
                ("  ++count_;", "  /*++count_;*/", True),
                ("  ++count_;", "  --count_;", True),
                ("  ++count_;", "  -+count_;", False),
                ("  const int a = f();", "  /*const int a = f();*/", False),
                ("  std::vector<int> a;", "  /*std::vector<int> a;*/", False),
                ("            a, b);", "            /*a, b);*/", False),
                ("  std::vector<int> a;", "  std::vector<=int> a;", False),
                ("  const Pod& pod = f();", "  const Pod| pod = f();", False),
                ("  pods->clear();", "  pods-<clear();", False),
                ("  f(a);", "  f(a);break;", False),
                ("  f(a);  // of b and c", "  f(a);  // of c and b", False),
                ("  f(pending);", "  f(pbegining);", False),
                ("  f(x.begin());", "  f(x.end());", True),
                ("  f(std::min(a, b));", "  f(std::max(a, b));", True),
                ("  f(a, b);", "  f (,b);", False),
                ("  f(a, b);", "  f ( b,a);", True),
                ("  if (p == nullptr) return;", "  if (p <= nullptr) return;", False),
                ("  f(0);", "  f((0+1));", True),
                ('  f("a " + b);', '  f("a " % b);', False)):
            with self.subTest(before=before, after=after):
                self.assertEqual(mutate.worthwhile(before, after), wanted)


class Generate(unittest.TestCase):
    def setUp(self):
        self._path = "src/queue/backoff.cc"
        self._lines = (mutate.ROOT / self._path).read_text().splitlines(keepends=True)
        self._line = next(i for i, line in enumerate(self._lines, 1) if " return " in line and " - " not in line and ";" in line)
        self._after = self._lines[self._line - 1].replace(";", " == false;")

    def mutants(self, covered):
        rules = Rules((self._line, self._after), (self._line, self._after.replace("==", " ==")), (1, "void f();\n"))
        return mutate.generate(self._path, rules, covered)

    def test_only_lines_that_ran_and_each_once(self):
        found = self.mutants({self._line})
        self.assertEqual([(mutant.line, mutant.path) for mutant in found], [(self._line, self._path)])
        self.assertEqual(found[0].before + "\n", self._lines[self._line - 1])
        self.assertEqual(self.mutants({self._line + 1}), [])
        self.assertEqual(len(self.mutants(None)), 1, "the license line is a comment")

    def test_a_sample_follows_from_its_seed(self):
        mutants = list(range(100))
        self.assertEqual(mutate.sample(mutants, 10, 7), mutate.sample(mutants, 10, 7))
        self.assertNotEqual(mutate.sample(mutants, 10, 7), mutate.sample(mutants, 10, 8))
        self.assertEqual(sorted(mutate.sample(mutants, None, 7)), mutants)


class Commands(unittest.TestCase):
    def test_compile(self):
        entry = "ccache g++ -I ../src -O0 --coverage -MD -MT a.o -MF a.o.d -o a/Unity/unity_1.o -c /b/Unity/unity_1.cxx".split()
        command = mutate.compile_command(entry, "/w/0/heap.cc", "/w/0/mutant.o")
        self.assertEqual(command, ["g++", "-I", "../src", "-O0", "-o", "/w/0/mutant.o", "-c", "/w/0/heap.cc", "-w", "-U_FORTIFY_SOURCE",
                                   "-ffile-prefix-map=/w/0/heap.cc=mutant.cc"])
        self.assertIn("--coverage", entry, "the entry is left as it is")

    def test_link(self):
        line = ": && g++ -O0 -pie test/a.o test/b.o -o bin/ks_queue_test  src/queue/libks_queue.a -lfmt && :"
        self.assertEqual(mutate.link_command(line, "/w/mutant.o", "/w/ks_queue_test"),
                         ["g++", "-O0", "-pie", "/w/mutant.o", "test/a.o", "test/b.o", "-o", "/w/ks_queue_test",
                          "src/queue/libks_queue.a", "-lfmt", "-Wl,--allow-multiple-definition"])


class Coverage(unittest.TestCase):
    def test_lines_of_all_reports_are_joined(self):
        def report(name, *lines):
            return {"current_working_directory": "/r/build", "files": [
                {"file": name, "lines": [{"line_number": line, "count": count} for line, count in lines]}]}
        found = mutate.covered_lines([report("../src/a.cc", (1, 0), (2, 3)), report("/r/src/a.cc", (1, 0), (4, 1)),
                                      report("/usr/include/c++/12/vector", (9, 9))], pathlib.Path("/r"))
        self.assertEqual(found, {"src/a.cc": {2, 4}})


class Scores(unittest.TestCase):
    def test_by_folder(self):
        def mutants(path, **outcomes):
            for outcome, number in outcomes.items():
                for line in range(number):
                    yield mutate.Mutant(path, line, "a", "b", outcome.replace("_", " "))
        rows = mutate.scores([*mutants("src/queue/a.cc", caught=3, survived=1, not_compiled=2, same_code=1, excused=1),
                              *mutants("src/cache/a.cc", not_compiled=1)])
        self.assertEqual(list(rows), ["src/cache", "src/queue", "all"])
        self.assertEqual(rows["src/queue"], {"mutants": 8, "caught": 3, "survived": 1, "not compiled": 2, "same code": 1,
                                             "excused": 1, "score": 75.0})
        self.assertIsNone(rows["src/cache"]["score"])
        self.assertIn("| src/queue | 8 | 2 | 1 | 1 | 3 | 1 | 75.0 % |", mutate.table_text(rows))
        self.assertIn("| src/cache | 1 | 1 | 0 | 0 | 0 | 0 |  |", mutate.table_text(rows))

    def test_excuses(self):
        self.assertEqual(mutate.read_excuses("# why\nsrc/a.cc\ta\tb\tnobody sees it\n"), {("src/a.cc", "a", "b"): "nobody sees it"})


class Sources(unittest.TestCase):
    def test_defaults_and_paths(self):
        names = mutate.find_sources([])
        self.assertIn("src/client/write/writer.cc", names)
        self.assertIn("src/plugins/node_resources/fit.cc", names)
        self.assertNotIn("src/client/watch/frame_splitter.cc", names)
        self.assertEqual(mutate.find_sources(["src/queue/backoff.cc"]), ["src/queue/backoff.cc"])
        self.assertEqual(mutate.tests_of("src/queue/backoff.cc")[0], "ks_queue_test")
        for bad in ("src/api", "src/queue/none.cc"):
            with self.assertRaises(SystemExit):
                mutate.find_sources([bad])


if __name__ == "__main__":
    unittest.main()
