# SPDX-License-Identifier: Apache-2.0
"""Self-tests of the repository's checks: for each rule a sample that must be flagged and one that must not."""

import contextlib
import io
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import changed_tests  # noqa: E402
import check_hardening  # noqa: E402
import check_layers  # noqa: E402
import check_life  # noqa: E402
import check_repo  # noqa: E402
import check_shape  # noqa: E402
import count_results  # noqa: E402
import prove  # noqa: E402
import second_try  # noqa: E402
import under_load  # noqa: E402

_SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
_REPO_SAMPLES = {  # rule: [(path, flagged text, accepted text)]
    "spdx": [("src/a/a.cc", "int a;\n", _SPDX),
             ("src/a/CMakeLists.txt", "#SPDX - License - Identifier : Apache - 2.0\n", "# SPDX-License-Identifier: Apache-2.0\n"),
             ("src/a/a.h", _SPDX + "\n#pragma once\n", _SPDX + "#pragma once\n"),
             ("dev", "#!/bin/bash\nset -e\n", "#!/bin/bash\n# SPDX-License-Identifier: Apache-2.0\n")],
    "length": [("src/a/a.cc", "\n" * 601, "\n" * 600), ("cmd/a/a.cc", "\n" * 601, "\n" * 600),
               ("test/a/a.h", "\n" * 301, "\n" * 300), ("test/a/a_test.cc", "\n" * 1001, "\n" * 1000)],
    "banned_call": [("src/a/a.cc", bad, good) for bad, good in (
        ("int n = rand();", "int n = operand();"), ("srand(1);", "// srand(1)"), ("time(nullptr);", "time(&t);"),
        ("std::this_thread::sleep_for(1s);", 'Log("sleep_for");'), ("::usleep(3);", "clock.Sleep(3);"),
        ("sleep (1);", '{"sleep", "1"}'), ("gethostbyname(n);", "getaddrinfo(n);"), ("strtok(a, b);", "my_strtok(a, b);"),
        ("std::sprintf(b, f);", "snprintf(b, 3, f);"), ("system(c);", "filesystem(c);"),
        ("std::gmtime(&t);", "gmtime_r(&t, &parts);"), ("std::random_device d;", '"random_device"'), ("FRIEND_TEST(A, B);", "// FRIEND_TEST"),
        ("using namespace std;", "using namespace std_like;"))],
    "text_hash": [("src/a/a.cc", bad, good) for bad, good in (
        ("size_t h = std::hash<std::string>()(a);", "size_t h = std::hash<uint64_t>()(a);"),
        ("std::unordered_map<std::string, int> a;", "std::unordered_map<std::string, int, TextHash> a;"),
        ("std::unordered_set<std::string_view> a;", "std::unordered_set<std::string_view, TextHash> a;"),
        ("std::unordered_set<std::string> a;", "std::unordered_set<int> a;  // std::hash<std::string>"))],
    "unfinished": [("src/a/a.cc", "// TODO: later", "// TODO(#12): later"), ("docs/a.md", "FIXME", "fixed me"),
                   ("dev", "# XXX", "# mktemp aXXXXXX")],
    "fixed_port": [("test/a/a_test.cc", '"https://127.0.0.1:6443"', '"https://127.0.0.1:0"'),
                   ("test/a/a_test.cc", '"localhost:80"', 'f();  // then "localhost:80"'),
                   ("test/a/a_test.cc", '"[::1]:443"', '"10.0.0.1:443"')],
    "gone_path": [("docs/a.md", "see src/none/x" + ".h", "see docs/a.md and src/none/x.h.in"),
                  ("src/a/a.h", _SPDX + "#pragma once\n// docs/none" + ".md\n", _SPDX + "#pragma once\n// src/a/a" + ".h\n")],
    "machine_path": [("docs/a.md", "see /ho" + "me/ada/x", "see https://example.com/home/ada"),
                     ("src/a/a.cc", '"/tm' + 'p/x"', 'dir + "/tmp"')],
    "title": [("docs/a.md", "Text\n# Title\n", "# Title\n"), ("docs/a.md", "# A\n\n# B\n", "# A\n```\n# comment\n```\n")],
    "python_syntax": [("tools/a.py", "def f(:\n", "def f():\n    pass\n")],
}


class RepoRules(unittest.TestCase):
    def test_every_rule_flags_its_samples_and_accepts_their_twins(self):
        for rule, samples in _REPO_SAMPLES.items():
            for path, flagged, accepted in samples:
                with self.subTest(rule=rule, flagged=flagged[:60]):
                    self.assertTrue(list(check_repo.RULES[rule](check_repo.Files({path: flagged}))))
                    self.assertEqual(list(check_repo.RULES[rule](check_repo.Files({path: accepted}))), [])

    def test_a_tool_may_wait_and_a_test_may_not(self):
        text = "std::this_thread::sleep_for(1s);"
        for path, want in (("cmd/a/a.cc", 0), ("src/a/a.cc", 1), ("test/a/a_test.cc", 1)):
            self.assertEqual(len(list(check_repo.RULES["banned_call"](check_repo.Files({path: text})))), want)

    def test_dead_files(self):
        texts = {"src/a/used.h": "", "src/a/unused.h": "", "src/a/built.cc": '#include "a/used.h"\n', "src/a/forgotten.cc": "",
                 "tools/used.py": "", "tools/unused.py": "", "dev": "python3 tools/used.py"}
        found = check_repo.RULES["dead_file"](check_repo.Files(texts, compiled={"src/a/built.cc"}))
        self.assertEqual({path for path, _, _ in found}, {"src/a/unused.h", "src/a/forgotten.cc", "tools/unused.py"})

    def test_every_rule_has_samples(self):
        self.assertEqual(set(check_repo.RULES), {*_REPO_SAMPLES, "dead_file"})

    def test_a_finding_names_place_rule_and_reason(self):
        files = check_repo.Files({"docs/a.md": "# A\n\n# B\n"})
        self.assertEqual(check_repo.findings(files), ["docs/a.md:3: [title] a second title: use ## for sections"])


class Layers(unittest.TestCase):
    def _findings(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True)
            file.write_text(text)
            return check_layers.findings(pathlib.Path(folder))

    def test_violations(self):
        for path, include in (("src/base/a.h", "api/pod.h"), ("src/queue/a.cc", "plugins/registry.h"),
                              ("src/config/a.cc", "metrics/metrics.h"), ("src/framework/a.h", "scheduler/scheduler.h"),
                              ("src/api/a.cc", "testing/builders.h"), ("src/odd/a.cc", "base/check.h")):
            with self.subTest(path=path, include=include):
                self.assertEqual(len(self._findings(path, f'#include "{include}"\n')), 1)

    def test_allowed(self):
        for path, include in (("src/api/a.h", "base/check.h"), ("src/queue/a.cc", "framework/plugin.h"),
                              ("src/queue/a.cc", "queue/heap.h"), ("src/scheduler/a.cc", "cache/cache.h"),
                              ("cmd/kubesched/main.cc", "server/http/https_server.h"), ("src/api/a.cc", "nlohmann/json.hpp")):
            with self.subTest(path=path, include=include):
                self.assertEqual(self._findings(path, f'#include "{include}"\n'), [])

    def _room_findings(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for path, includes in files.items():
                file = pathlib.Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("".join(f'#include "{include}"\n' for include in includes))
            return check_layers.room_findings(pathlib.Path(folder))

    def test_rooms(self):
        for name, files, want in (
                ("a line", {"src/api/a.h": [], "src/api/json/b.h": ["api/a.h"]}, 0),
                ("both ways", {"src/api/a.h": ["api/json/c.h"], "src/api/json/b.h": ["api/a.h"], "src/api/json/c.h": []}, 2),
                ("round three", {"src/x/a/a.h": ["x/b/b.h"], "src/x/b/b.h": ["x/c/c.h"], "src/x/c/c.h": ["x/a/a.h"]}, 3),
                ("into a circle", {"src/x/a/a.h": ["x/b/b.h"], "src/x/b/b.h": ["x/c/c.h"], "src/x/c/c.h": ["x/b/b.h"]}, 2),
                ("plugin to plugin", {"src/plugins/a/a.h": ["plugins/b/b.h"], "src/plugins/b/b.h": []}, 1),
                ("plugin to kit", {"src/plugins/a/a.h": ["plugins/kit/b.h"], "src/plugins/kit/b.h": []}, 0),
                ("table to plugin", {"src/plugins/registry.h": ["plugins/a/a.h"], "src/plugins/a/a.h": []}, 0),
        ):
            with self.subTest(name):
                self.assertEqual(len(self._room_findings(files)), want)

    def test_every_folder_may_use_only_what_exists(self):
        for folder, allowed in check_layers.ALLOWED.items():
            self.assertLessEqual(allowed, set(check_layers.ALLOWED))
            self.assertNotIn(folder, allowed)


_SHAPES = (  # a class, its methods and data members
    ("class A { public: A(); ~A() { } void F(); int G() const { return 1; } private: int a_ = F(1); };", 2, 1),
    ("struct A { int a, b; std::map<int, std::string> c{}; std::function<void(int)> d; };", 0, 4),
    ("class A final : public B<C> { void F() override { if (x) { } } static constexpr int kB = 2; using T = int; };", 1, 0),
    ("class KS_CAPABILITY(\"m\") A { Mutex m_; int x_ KS_GUARDED_BY(m_) = 0; A(const A&) = delete; friend class B; };", 0, 2),
    ("struct A { struct B; enum class C { kD, kE }; bool operator==(const A&) const = default; bool operator<(A) const; };", 1, 0),
    ("class A::Core { Core(); // int comment_;\n void F(); };", 1, 0),
)


class Shape(unittest.TestCase):
    def _findings(self, texts, classes=None, headers=None):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in texts.items():
                file = pathlib.Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return check_shape.findings(pathlib.Path(folder), classes or {}, headers or {})

    def test_measures(self):
        for text, methods, members in _SHAPES:
            with self.subTest(text):
                shape = next(check_shape.measure("a.h", check_shape.code_only(text)))
                self.assertEqual((shape.methods, shape.members), (methods, members))

    def test_limits(self):
        def methods(count):
            return {"src/a/a.h": "class A {" + "".join(f"void F{i}();" for i in range(count)) + "};"}

        def members(count):
            return {"src/a/a.h": "class A {" + "".join(f"int f{i};" for i in range(count)) + "};"}

        def sources(count):
            return {"src/a/a.h": "class A { void F(); };", **{f"src/a/a{i}.cc": "void A::F() {}\n" for i in range(count)}}

        heavy = {"src/a/a.h": "#include <boost/asio/ip/tcp.hpp>\n", "src/a/a.cc": '#include "a/a.h"\n'}
        listed = {("src/a/a.h", "A"): (31, 0, 0)}
        for name, texts, classes, headers, want in (
                ("30 methods", methods(30), {}, {}, 0), ("31 methods", methods(31), {}, {}, 1), ("listed", methods(31), listed, {}, 0),
                ("grown", methods(32), listed, {}, 1), ("shrunk", methods(30), listed, {}, 1), ("gone", {}, listed, {}, 1),
                ("20 members", members(20), {}, {}, 0), ("21 members", members(21), {}, {}, 1),
                ("2 sources", sources(2), {}, {}, 0), ("3 sources", sources(3), {}, {}, 1),
                ("3 callers", {"src/a/a.h": "class A { static A F(); };", **{f"src/a/a{i}.cc": "A G() { return A::F(); }\n" for i in range(3)}}, {}, {}, 0),
                ("heavy, of the folder", heavy, {}, {}, 0),
                ("heavy, elsewhere", {**heavy, "src/b/b.cc": '#include "a/a.h"\n'}, {}, {}, 1),
                ("heavy, listed", {**heavy, "src/b/b.cc": '#include "a/a.h"\n'}, {}, {"src/a/a.h": "why"}, 0),
                ("heavy, listed for nothing", heavy, {}, {"src/a/a.h": "why"}, 1)):
            with self.subTest(name):
                self.assertEqual(len(self._findings(texts, classes, headers)), want)


class Life(unittest.TestCase):
    ROWS = "| 1 | `A::Do` | `src/a.cc` | does |\n| 2 | `Then` | `src/b.cc` | |\n"

    def _findings(self, page, sources):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, text in {"docs/life_of_a_pod.md": page, **sources}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return check_life.findings(root)

    def test_rows_are_held_against_the_code(self):
        true = {"src/a.cc": "void A::Do() {\n", "src/b.cc": "Result<int> Then(int a) {\n"}
        for name, page, sources, want in (
                ("true", self.ROWS, true, 0),
                ("inside a core", self.ROWS, {**true, "src/a.cc": "template <class T>\nvoid A<T>::Core::Do() {\n"}, 0),
                ("of another class", self.ROWS, {**true, "src/a.cc": "void B::Do() {\n"}, 1),
                ("only called", self.ROWS, {**true, "src/b.cc": "  x = y.Then(1);\n"}, 1),
                ("no such file", self.ROWS, {"src/a.cc": true["src/a.cc"]}, 1),
                ("a gap", self.ROWS.replace("| 2 |", "| 3 |"), true, 1), ("nothing", "", true, 1)):
            with self.subTest(name):
                found, _, _ = self._findings(page, sources)
                self.assertEqual(len(found), want, found)

    def test_counts(self):
        _, functions, files = self._findings(self.ROWS, {"src/a.cc": "", "src/b.cc": ""})
        self.assertEqual((len(functions), len(files)), (2, 2))


class Counts(unittest.TestCase):
    def _count(self, tests, reports):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            cases = "".join(f'<testcase name="{test}" status="{status}"/>' for test, status in tests.items())
            (folder / "ctest.xml").write_text(f"<testsuite>{cases}</testsuite>")
            for test, results in reports.items():
                (folder / f"ks_{test}_test.json").write_text(json.dumps({"testsuites": [{"name": "Suite", "testsuite": results}]}))
            passed, failed, skipped = count_results.count(folder)
            return [passed, [": ".join(case) for case in failed], skipped]

    def test_cases(self):
        good = {"name": "Good", "result": "COMPLETED"}
        bad = {"name": "Bad", "result": "COMPLETED", "failures": [{"failure": "1 is not 2"}]}
        skipped = {"name": "Skipped", "result": "SKIPPED"}
        for name, tests, reports, want in (
                ("cases of a program", {"a": "fail"}, {"a": [good, bad, skipped]}, [1, ["Suite.Bad: 1 is not 2"], 1]),
                ("no GoogleTest program", {"a": "run", "b": "fail"}, {}, [1, ["b: ctest says fail"], 0]),
                ("died after good cases", {"a": "fail"}, {"a": [good]}, [1, ["a: ctest says fail"], 0]),
                ("not built", {"a": "notrun"}, {}, [0, ["a: ctest says notrun"], 0])):
            with self.subTest(name):
                self.assertEqual(self._count(tests, reports), want)


class SecondTries(unittest.TestCase):
    BAD = {"name": "Bad", "result": "COMPLETED", "failures": [{"failure": "1 is not 2"}]}
    WORSE = {**BAD, "name": "Worse"}
    GOOD = {"name": "Good", "result": "COMPLETED"}

    def _try(self, reports, passes):
        """What is counted after second tries that `passes` of (program, case) lets pass."""
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
            folder = pathlib.Path(name) / "test-results"
            folder.mkdir()
            cases = "".join(f'<testcase name="{test}" status="fail"/>' for test in reports)
            (folder / "ctest.xml").write_text(f"<testsuite>{cases}</testsuite>")
            for test, results in reports.items():
                if results is not None:
                    (folder / f"ks_{test}_test.json").write_text(json.dumps({"testsuites": [{"name": "S", "testsuite": results}]}))
            second_try.main(pathlib.Path(name), lambda program, case: passes(program.name, case))
            passed, failed, _ = count_results.count(folder)
            return [passed, [case for case, _ in failed]]

    def test_what_counts_afterwards(self):
        shards = {"e2e": [self.GOOD, self.BAD], "e2e_1": [self.WORSE]}
        for name, reports, passes, want in (
                ("all pass alone", shards, lambda program, case: program == "ks_e2e_test", [3, []]),
                ("one fails again", shards, lambda program, case: case == "S.Bad", [2, ["S.Worse"]]),
                ("a crash", {"a": None}, lambda program, case: True, [0, ["a"]]),
                ("a sanitizer's finding", {"a": [self.GOOD]}, lambda program, case: True, [1, ["a"]]),
                ("too many", {"a": [self.BAD] * 4}, lambda program, case: True, [0, ["S.Bad"] * 4])):
            with self.subTest(name):
                self.assertEqual(self._try(reports, passes), want)


class ChangedTests(unittest.TestCase):
    def test_what_is_run_again(self):
        now = {"a": "1", "b": "2", "c": "3"}
        for name, passed, want in (("nothing ran yet", {}, ["a", "b", "c"]), ("one program differs", {"a": "1", "b": "0", "c": "3"}, ["b"]),
                                   ("all passed", dict(now), []), ("a test that is gone", {**now, "d": "4"}, [])):
            with self.subTest(name):
                self.assertEqual(changed_tests.changed(now, passed), want)

    def test_only_what_passed_is_remembered(self):
        now = {"a": "1", "b": "2", "c": "3"}
        passed = {"a": "1", "b": "2", "gone": "4"}
        self.assertEqual(changed_tests.after_run(now, passed, {"b": "fail", "c": "run"}), {"a": "1", "c": "3"})

    def test_a_test_is_its_program_and_the_data_it_names(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "corpus").mkdir()
            (folder / "program").write_text("one")
            (folder / "corpus" / "seed").write_text("two")
            command = [str(folder / "program"), str(folder / "corpus"), "--flag"]
            first = changed_tests.fingerprint(command)
            self.assertEqual(changed_tests.fingerprint(command), first)
            (folder / "corpus" / "seed").write_text("three")
            second = changed_tests.fingerprint(command)
            self.assertNotEqual(second, first)
            (folder / "program").write_text("other")
            self.assertNotEqual(changed_tests.fingerprint(command), second)


class Prove(unittest.TestCase):
    def test_every_step_can_be_written_out(self):
        self.assertEqual(len({step.name for step in prove.STEPS}), len(prove.STEPS))
        for step in prove.STEPS:
            with self.subTest(step.name):
                self.assertNotIn("{", "".join(prove.turn(step, 7)))

    def test_a_turn_has_seeds_of_its_own(self):
        step = prove.Step("sweep", "sim --seeds {first}..{last}", "SEED={seed}", seeds=100)
        self.assertEqual(prove.turn(step, 5), ("sim --seeds 5..104", "SEED=5"))


class UnderLoad(unittest.TestCase):
    def test_gives_the_status_and_leaves_no_load_behind(self):
        for status in (0, 3):
            with self.subTest(status):
                self.assertEqual(under_load.run([sys.executable, "-c", f"import sys; sys.exit({status})"]), status)
                self.assertEqual(multiprocessing.active_children(), [])

    def test_the_load_works_meanwhile(self):
        seen = []

        def command(*_, **__):
            seen.append(sum(process.is_alive() for process in multiprocessing.active_children()))
            return unittest.mock.Mock(returncode=0)

        with unittest.mock.patch.object(under_load.subprocess, "run", command):
            under_load.run(["anything"])
        self.assertEqual(seen, [os.cpu_count()])


class Hardening(unittest.TestCase):
    HEADERS = "  Type:  DYN (Position-Independent Executable file)\n  GNU_RELRO 0x1\n  GNU_STACK 0x0 0x0 0x0 0x0 0x0 RW  0x10\n"
    DYNAMIC = " (FLAGS) BIND_NOW\n (FLAGS_1) Flags: NOW PIE\n"
    SYMBOLS = " __stack_chk_fail@GLIBC\n __memcpy_chk@GLIBC\n"

    def test_a_hardened_program_has_no_fault(self):
        self.assertEqual(list(check_hardening.faults(self.HEADERS, self.DYNAMIC, self.SYMBOLS)), [])

    def test_each_fault_is_seen(self):
        for headers, dynamic, symbols, want in (
                (self.HEADERS.replace("DYN", "EXEC"), self.DYNAMIC, self.SYMBOLS, "position"),
                (self.HEADERS.replace("GNU_RELRO", ""), self.DYNAMIC, self.SYMBOLS, "writable"),
                (self.HEADERS, " (FLAGS_1) Flags: PIE\n", self.SYMBOLS, "late"),
                (self.HEADERS.replace("RW ", "RWE"), self.DYNAMIC, self.SYMBOLS, "stack is executable"),
                (self.HEADERS, self.DYNAMIC, " __memcpy_chk@GLIBC\n", "stack protector"),
                (self.HEADERS, self.DYNAMIC, " __stack_chk_fail@GLIBC\n", "fortified")):
            with self.subTest(want=want):
                found = list(check_hardening.faults(headers, dynamic, symbols))
                self.assertEqual(len(found), 1, found)
                self.assertIn(want, found[0])


if __name__ == "__main__":
    unittest.main()
