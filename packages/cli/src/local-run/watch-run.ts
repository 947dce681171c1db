/** Runs a folder once, or again after each save, and prints what came of it. */
import path from 'node:path';
import { CommandError, describeFailure, EXIT } from '../errors';
import { onInterrupt } from '../interrupt';
import type { Session } from '../session';
import { dim, green, joinLines, red, text, toText } from '../text';
import type { LocalRun } from './local-run';
import { watchFolder } from './watch-folder';

/** @throws CommandError where the only run does not complete */
export async function runOnceOrWatch(
  session: Session,
  dir: string,
  once: boolean | undefined,
  run: (signal: AbortSignal) => Promise<LocalRun>,
): Promise<void> {
  const { output } = session;
  if (once) {
    const ended = await run(new AbortController().signal);
    output.print(ended, () => formatRun(ended));
    if (ended.status !== 'completed') {
      throw new CommandError(describeOutcome(ended), EXIT.failed, ended.error_trace ?? undefined);
    }
    return;
  }
  await runOnSave(session, dir, async (signal) => {
    try {
      const ended = await run(signal);
      if (signal.aborted) return;
      output.printItem(ended, () => formatRun(ended));
      output.note(ended.status === 'completed' ? green('completed') : red(describeOutcome(ended)));
      if (ended.error_trace) output.note(dim(ended.error_trace));
    } catch (error) {
      const { message, hint } = describeFailure(error);
      output.note(joinLines([text`${red('error:')} ${message}`, ...(hint ? [hint] : [])]));
    }
  });
}

const formatRun = (run: LocalRun) =>
  joinLines([
    ...(run.output ? [toText(JSON.stringify(run.output, null, 2))] : []),
    ...run.artifacts.map((file) => dim(`file ${file.path}`)),
  ]);

export const describeOutcome = ({ status, error, error_type: type }: LocalRun): string =>
  [`run ${status}`, type, error].filter((part) => part !== null).join(': ');

/** Calls `run` at first and after each save, which ends a call under way, until Ctrl-C. */
async function runOnSave({ output }: Session, dir: string, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  let current = new AbortController();
  let isStopped = false;
  let onChange = (): void => {};
  const unwatch = watchFolder(dir, () => {
    current.abort();
    onChange();
  });
  const release = onInterrupt(() => {
    isStopped = true;
    current.abort();
    onChange();
  });
  try {
    while (!isStopped) {
      current = new AbortController();
      const changed = new Promise<void>((resolve) => {
        onChange = resolve;
      });
      await run(current.signal);
      if (!current.signal.aborted)
        output.note(dim(`waiting for changes in ${path.resolve(dir)}; press Ctrl-C to stop`));
      await changed;
    }
  } finally {
    release();
    unwatch();
  }
}
