import { type GantryCommand, withSession } from '../command';
import { CommandError, usageError } from '../errors';
import { type CheckResult, checkRun } from '../local-run/check-run';
import { type Example, readExamples } from '../local-run/examples';
import { completeInputs } from '../local-run/local-inputs';
import { loadProgram } from '../local-run/local-program';
import { type LocalResponder, type LocalRun, runLocally } from '../local-run/local-run';
import { type LocalOptions, printDifferences, showEvents, withLocalRuntime } from '../local-run/local-runtime';
import type { GlobalOptions, Session } from '../session';
import { dim, green, joinLines, red, text, yellow } from '../text';

interface TestOptions extends GlobalOptions, LocalOptions {
  only?: string;
  verbose?: boolean;
}

export function registerTest(program: GantryCommand): void {
  program
    .command('test')
    .description('Run the examples of a worker locally and check the results')
    .argument('[folder]', 'Worker folder with an examples.yaml', '.')
    .option('--only <name>', 'Run only the example with this name')
    .option('-v, --verbose', 'Show the logs of the runs')
    .option('--no-sandbox', 'Run the code unsandboxed, with your permissions')
    .option('--artifacts <folder>', 'Folder for artifacts (default: .gantry/artifacts)')
    .addHelpText('after', '\nNo account is required. The exit code is 1 if an example fails.')
    .action(withSession<[string], TestOptions>(testExamples));
}

interface ExampleOutcome extends CheckResult {
  name: string;
  passed: boolean;
  /** Null where it asked for more than the example answers. */
  run: LocalRun | null;
}

async function testExamples(session: Session, dir: string, options: TestOptions): Promise<void> {
  const { output } = session;
  const examples = (await readExamples(dir)).filter(({ name }) => options.only === undefined || name === options.only);
  if (!examples.length) throw usageError(`example ${options.only} not found`);
  const results = await withLocalRuntime(session, dir, options, async (means) => {
    const program = await loadProgram(dir);
    printDifferences(session, program, means.hasSandbox);
    const tested: ExampleOutcome[] = [];
    for (const example of examples) {
      const inputs = completeExample(program, example, dir);
      const result = await runExample(example, () =>
        runLocally(program, inputs, {
          ...means,
          answers: createExampleResponder(example),
          onEvent: options.verbose ? showEvents(session) : () => {},
          signal: new AbortController().signal,
        }),
      );
      tested.push(result);
      output.note(formatResult(result));
    }
    return tested;
  });
  const failed = results.filter(({ passed }) => !passed);
  output.print(
    { passed: results.length - failed.length, failed: failed.length, examples: results },
    () => text`${results.length - failed.length} passed, ${failed.length} failed`,
  );
  if (failed.length) throw new CommandError(`failed: ${failed.map(({ name }) => name).join(', ')}`);
}

/** A run that asks for more than the example answers has failed. */
async function runExample({ name, checks }: Example, start: () => Promise<LocalRun>): Promise<ExampleOutcome> {
  try {
    const run = await start();
    const verdict = checkRun(checks, run);
    return { name, passed: !verdict.problems.length, ...verdict, run };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { name, passed: false, problems: [error.message], unchecked: [], run: null };
  }
}

function completeExample(program: Parameters<typeof completeInputs>[0], { inputs, place }: Example, dir: string) {
  try {
    return completeInputs(program, inputs, dir);
  } catch (error) {
    throw new CommandError(`${place}: ${(error as Error).message}`);
  }
}

/** Each answer is given once, in its order. */
function createExampleResponder(example: Example): LocalResponder {
  const createReplyQueue = (list: unknown[] = []) => {
    let index = 0;
    return () => list[index++];
  };
  const buildReplyQueues = (lists: Record<string, unknown[]>) =>
    new Map(Object.entries(lists).map(([name, list]) => [name, createReplyQueue(list)]));
  const tools = buildReplyQueues({ ...example.tools, model: example.models });
  const calls = buildReplyQueues(example.calls);
  const decisions = [...example.approvals];
  return {
    async decide({ title }) {
      const decision = decisions.shift();
      if (!decision) {
        const remedy = 'add a decision to the example, such as approvals: [{ approve: true }]';
        throw new CommandError(`${example.place}: "${title}" needs approval: ${remedy}`);
      }
      return { approved: decision.approve, by: decision.by, data: decision.data };
    },
    answerTool: (name) => tools.get(name)?.(),
    answerCall: (workerId) => calls.get(workerId)?.(),
  };
}

const formatResult = ({ name, passed, problems, unchecked, run }: ExampleOutcome) =>
  joinLines([
    text`${passed ? green('passed') : red('failed')} ${name}`,
    ...problems.map((problem) => text`  ${problem}`),
    ...(problems.length && run?.error_trace ? [text`  ${dim(run.error_trace)}`] : []),
    ...unchecked.map((kind) => text`  ${yellow(`${kind} checks run only on the platform`)}`),
  ]);
