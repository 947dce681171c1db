import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir } from '@gantry/testing';
import { createCli } from './test/run-cli';

const TESTS = `
import os
import unittest

from gantry import CallFailed, ModelError, ToolError, context as shared
from gantry.testing import LocalContext, Rejected, local_context
from main import run


def work(context):
    context.log("begun", level="warning", size=3)
    context.progress(0.5)
    context.cost(0.25)
    context.artifact("hello.txt", b"hello")
    loaded = context.step("load", lambda: (1, 2))
    context.sleep(86_400)
    topic = context.model("Which?", schema={"type": "object"}).output["topic"]
    issue = context.tools["linear"].create_issue(title=topic)
    total = context.call("adder", {"a": 1})["sum"]
    decision = context.approve("Send?", form=["note"])
    return [loaded, issue["id"], total, decision, context.secrets["API_KEY"], os.environ["API_KEY"], context.inputs["x"]]


class LocalContextTest(unittest.TestCase):
    def test_a_template_waits_for_a_person(self):
        with local_context(approvals=[{"by": "ada@example.com"}]) as context:
            self.assertEqual(run(300, "Chairs", context)["approved_by"], "ada@example.com")
        self.assertEqual(context.steps, ["approve Pay 300.00 for Chairs?", "step pay"])

    def test_it_records_the_operations_of_the_code_and_responds_for_the_platform(self):
        with local_context({"x": 1}, secrets={"API_KEY": "k"}, approvals=[{"by": "ada", "data": {"note": "fine"}}],
                           models=[{"topic": "refunds"}], tools={"linear.create_issue": [{"id": "LIN-1"}]},
                           calls={"adder": [{"sum": 3}]}) as context:
            self.assertIs(context, shared)
            self.assertIsInstance(context, LocalContext)
            result = work(shared)
        decision = {"approved_by": "ada", "data": {"note": "fine"}}
        self.assertEqual(result, [[1, 2], "LIN-1", 3, decision, "k", "k", 1])
        self.assertEqual(context.logs, [{"level": "warning", "text": "begun", "fields": {"size": 3}}])
        self.assertEqual(context.steps, ["step load", "sleep", "model default", "tool linear.create_issue", "call adder", "approve Send?"])
        self.assertEqual((context.artifacts, context.progress_made, context.cost_usd), ({"hello.txt": b"hello"}, [0.5], 0.25))
        self.assertNotIn("API_KEY", os.environ)

    def test_a_rejection_ends_the_run_whatever_the_code_catches(self):
        def stubborn(context):
            try:
                context.approve("Go on?")
            except Exception:
                return "went on"
        with self.assertRaises(Rejected), local_context(approvals=[False]) as context:
            stubborn(context)

    def test_rules_of_steps_apply(self):
        with local_context() as context:
            with self.assertRaisesRegex(RuntimeError, "one at a time"):
                context.step("outer", lambda: context.step("inner", lambda: 1))
            with self.assertRaisesRegex(ValueError, "2\\\\*\\\\*53"):
                context.step("large", lambda: 2 ** 60)
            with self.assertRaisesRegex(ValueError, "the limit is 65536"):
                context.step("long", lambda: "x" * 70_000)

    def test_a_missing_response_fails_the_test(self):
        with local_context() as context:
            for ask in (lambda: context.approve("Go on?"), lambda: context.call("adder"), lambda: context.model("Hello")):
                with self.assertRaisesRegex(AssertionError, "no more responses"):
                    ask()

    def test_a_rejection_is_written_as_in_examples(self):
        with local_context(approvals=[{"approve": False, "by": "ada@example.com"}]) as context:
            with self.assertRaises(Rejected):
                context.approve("Go on?")

    def test_without_a_run_nothing_is_written(self):
        with self.assertRaisesRegex(RuntimeError, "local_context"):
            shared.log("nobody reads this")
`;

test('the built package installs with pip, has types, and provides a context for tests', async () => {
  const cli = createCli();
  const dir = path.join(createTemporaryDir('wheel'), 'worker');
  await cli.json(['init', dir, '-t', 'approval']);
  const { file } = await cli.json(['wheel', dir]);
  const packages = createTemporaryDir('packages');
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--target', packages, file];
  execFileSync('python3', pip, { stdio: 'pipe' });
  const listed = ['gantry/__init__.pyi', 'gantry/py.typed', 'gantry/testing.py', '_gantry/steps.py'];
  for (const name of listed) execFileSync('test', ['-e', path.join(packages, name)]);
  writeFileSync(path.join(dir, 'test_context.py'), TESTS);
  const env = { PATH: process.env.PATH ?? '', PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
  execFileSync('python3', ['-m', 'unittest', '--quiet'], { cwd: dir, env, stdio: 'pipe' });
  // The same files give the same bytes.
  const again = await cli.json(['wheel', createTemporaryDir('again')]);
  execFileSync('cmp', [file, again.file]);
});
