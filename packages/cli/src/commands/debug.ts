import path from 'node:path';
import { type Gantry, paginate, type WorkerSchemas } from '@gantry/sdk';
import { collectItems } from '../collect-items';
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
    .description('Debug a run locally with its code, inputs and recorded steps')
    .argument('<run>', 'Run ID')
    .argument('[folder]', 'Folder for the code (default: the run ID)')
    .option('-i, --value <name=value>', 'Override an input; for a file input, its path', collectValues, [])
    .option('-d, --data <json>', 'Override inputs; @file reads a file, @- stdin')
    .option('--steps <count>', 'Use only the first recorded steps, up to this many', parseCount)
    .option('--once', 'Run once; exit with 1 if the run fails')
    .option('--no-sandbox', 'Run the code unsandboxed, with your permissions')
    .option('--artifacts <folder>', 'Folder for artifacts (default: .gantry/artifacts)')
    .addHelpText(
      'after',
      `
Recorded steps are not executed again; everything after them is executed for
real, and each save reruns the code. breakpoint() opens pdb in this terminal,
and there is no timeout. Secret values never leave the platform: they are read
from the environment or from .env, or prompted for.`,
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
      ? text`running the existing ${bold(path.resolve(dir))} unchanged`
      : text`wrote version ${run.worker_version} of ${run.worker_id} to ${bold(path.resolve(dir))}`,
  );
  for (const note of notes) output.note(yellow(note));
  output.note(dim(`using ${formatCount(recorded.length, 'recorded step')} of ${run.id}`));
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
  const params = { path: { run_id: runId } };
  return (await collectItems(paginate(gantry.worker, '/api/runs/{run_id}/steps', { params }))).map(toRecord);
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
