import path from 'node:path';
import { type Gantry, paginate, type WorkerSchemas } from '@gantry/sdk';
import { collectValues, type GantryCommand, parseCount, withSession } from '../command';
import type { InputOptions } from '../inputs';
import { createApprovalPrompt } from '../local-run/approval-prompt';
import { writeDebugFolder } from '../local-run/debug-folder';
import { type RecordedStep, STEP_FAILED } from '../local-run/execution';
import { readLocalInputs } from '../local-run/local-inputs';
import { loadProgram, type PromptSecret } from '../local-run/local-program';
import { runLocally } from '../local-run/local-run';
import { type LocalOptions, printDifferences, showEvents, withLocalRuntime } from '../local-run/local-runtime';
import { runOnceOrWatch } from '../local-run/watch-run';
import type { GlobalOptions, Session } from '../session';
import { bold, dim, formatCount, text, yellow } from '../text';

interface DebugOptions extends GlobalOptions, InputOptions, LocalOptions {
  steps?: number;
  once?: boolean;
}

export function registerDebug(program: GantryCommand): void {
  program
    .command('debug')
    .description('Run a run again on this machine: its code, inputs and records.')
    .argument('<run>', 'Its id')
    .argument('[folder]', 'Where its code is written; absent: the id')
    .option('-i, --value <name=value>', 'Another input; the value of a file is its path', collectValues, [])
    .option('-d, --data <json>', 'Other inputs as JSON; @file reads it, @- reads stdin')
    .option('--steps <count>', 'Take only the first ones from the record', parseCount)
    .option('--once', 'Run once, and exit with 1 if it fails')
    .option('--no-sandbox', 'Run the code with your rights')
    .option('--artifacts <folder>', 'Where files of the run go; absent: .gantry/artifacts')
    .addHelpText(
      'after',
      `
Steps that the run has recorded are not done again; what the code does after
them is done for real. breakpoint() opens pdb at this terminal, there is no
timeout, and each save runs it again. Values of secrets never leave the
platform: they are read from the environment or from .env, or asked for.`,
    )
    .action(withSession<[string, string | undefined], DebugOptions>(debugRun));
}

async function debugRun(session: Session, runId: string, root = runId, options: DebugOptions): Promise<void> {
  const { output } = session;
  const gantry = session.gantry();
  const run = await gantry.runs.get(runId);
  const recorded = (await loadRecordedSteps(gantry, runId)).slice(0, options.steps);
  const { dir, isKept, notes } = await writeDebugFolder(gantry, run, root);
  output.note(
    isKept
      ? text`${bold(path.resolve(dir))} is run as it is: it was there already`
      : text`version ${run.worker_version} of ${run.worker_id} is in ${bold(path.resolve(dir))}`,
  );
  for (const note of notes) output.note(yellow(note));
  output.note(
    dim(
      `${formatCount(recorded.length, 'step')} ${recorded.length === 1 ? 'is' : 'are'} answered from the record of ${run.id}`,
    ),
  );
  const askSecret = createSecretPrompt(session);
  await withLocalRuntime(session, dir, options, (means) =>
    runOnceOrWatch(session, dir, options.once, async (signal) => {
      const program = await loadProgram(dir, askSecret);
      const inputs = await readLocalInputs(program, options, run.input);
      printDifferences(session, program, means.hasSandbox);
      const environment = { ...means, answers: createApprovalPrompt(session), onEvent: showEvents(session), signal };
      return runLocally(program, inputs, { ...environment, recorded, hasTimeout: false });
    }),
  );
}

async function loadRecordedSteps(gantry: Gantry, runId: string): Promise<RecordedStep[]> {
  const steps: RecordedStep[] = [];
  const listed = paginate(gantry.worker, '/api/runs/{run_id}/steps', { params: { path: { run_id: runId } } });
  for await (const step of listed) steps.push(toRecord(step));
  return steps;
}

/** As the harness reads it. */
function toRecord({ ordinal, kind, name, result, failure }: WorkerSchemas['RecordedStep']): RecordedStep {
  return { ordinal, kind, name, result: failure ? { [STEP_FAILED]: failure } : result };
}

/** Asks for each secret once. Undefined without a terminal. */
function createSecretPrompt({ prompts }: Session): PromptSecret | undefined {
  if (!prompts.isInteractive) return undefined;
  const values = new Map<string, string>();
  return async (name) => {
    const value = values.get(name) ?? (await prompts.password(`Value of ${name} for this run:`));
    values.set(name, value);
    return value;
  };
}
