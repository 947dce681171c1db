import type { Gantry, Run, RunEvent } from '@gantry/sdk';
import { CommandError, EXIT, SECRET_HINT } from './errors';
import { formatEvent } from './event-format';
import { onInterrupt } from './interrupt';
import type { Session } from './session';
import { bold, dim, type Text, text, toText } from './text';

interface FollowHandlers {
  /** Called for each event, in order. */
  onEvent: (event: RunEvent) => void;
  /** Called on Ctrl-C. @returns whether to go on */
  onStop: () => Promise<boolean>;
}

/** Reads the events of a run to its end; Ctrl-C asks `onStop`. */
async function followRun(
  gantry: Gantry,
  runId: string,
  { onEvent, onStop }: FollowHandlers,
  session: Session,
): Promise<void> {
  let lastEventId: string | undefined;
  for (;;) {
    const controller = new AbortController();
    const release = onInterrupt(() => controller.abort());
    try {
      const events = gantry.runs.events(runId, {
        signal: controller.signal,
        onInterrupted: () => session.output.note(dim('connection lost, reconnecting')),
        ...(lastEventId !== undefined && { lastEventId }),
      });
      for await (const event of events) {
        lastEventId = event.id;
        onEvent(event);
      }
      return;
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      release();
    }
    if (!(await onStop())) throw new CommandError(`stopped following ${runId}`, EXIT.usage, `gantry logs -f ${runId}`);
  }
}

/**
 * Shows the log of a run on stderr until it has ended, and prints its output.
 * @throws CommandError where the person leaves, and with exit code 1 where the run does not complete
 */
export async function waitForOutcome(session: Session, gantry: Gantry, runId: string): Promise<void> {
  let output: unknown;
  let status: unknown;
  await followRun(
    gantry,
    runId,
    {
      onEvent({ id, type, data }) {
        if (type === 'output') output = data.output;
        if (type === 'done') status = data.status;
        const line = formatEvent({ id, type, data });
        if (line) session.output.note(line);
      },
      onStop: () => promptOnInterrupt(session, gantry, runId),
    },
    session,
  );
  // The events hold all that is printed, unless the output is large: this saves a request.
  if (status === 'completed' && output !== undefined && !session.output.isJson) {
    return session.output.print(output, () => formatOutput(output));
  }
  printOutcome(session, await gantry.runs.get(runId));
}

async function promptOnInterrupt({ prompts, output }: Session, gantry: Gantry, runId: string): Promise<boolean> {
  if (!prompts.isInteractive) return false;
  const choice = await prompts
    .select('The run is still in progress. What do you want to do?', [
      { value: 'leave', label: 'Leave it running' },
      { value: 'watch', label: 'Keep watching' },
      { value: 'cancel', label: 'Cancel the run' },
    ])
    // A second Ctrl-C.
    .catch(() => 'leave' as const);
  if (choice === 'cancel') {
    await gantry.runs.cancel(runId);
    output.note(dim('cancelling'));
  }
  return choice !== 'leave';
}

/**
 * Prints log lines on stdout until the run has ended.
 * @param levels of the lines that are printed; absent: all
 */
export async function printLog(
  session: Session,
  gantry: Gantry,
  runId: string,
  levels?: readonly string[],
): Promise<void> {
  const handlers = {
    onEvent({ id, type, data }: RunEvent) {
      if (type === 'log' && levels && !levels.includes(String(data.level))) return;
      if (session.output.isJson) session.output.printItem({ id, type, ...data }, () => toText(''));
      else if (type === 'log') session.output.printItem(data, () => formatEvent({ id, type, data }) ?? toText(''));
    },
    onStop: async () => false,
  };
  await followRun(gantry, runId, handlers, session);
}

function printOutcome({ output }: Session, run: Run): void {
  output.print(run, () => (run.status === 'completed' ? formatOutput(run.output) : toText('')));
  if (run.status === 'completed') return;
  const reason = formatRunError(run);
  throw new CommandError(
    `run ${run.id} ${formatFinalStatus(run.status)}${reason && `: ${reason}`}`,
    EXIT.failed,
    run.error_code === 'missing_secret' ? SECRET_HINT : `Details: gantry runs get ${run.id}`,
  );
}

/** With the class of the exception: the message of a KeyError is the key alone. */
export const formatRunError = ({ error, error_type: type }: Pick<Run, 'error' | 'error_type'>): string =>
  [type, error].filter(Boolean).join(': ');

const formatOutput = (output: unknown): Text => toText(JSON.stringify(output, null, 2));

const formatFinalStatus = (status: string): string =>
  ({ timed_out: 'timed out', failed: 'failed', cancelled: 'was cancelled', rejected: 'was rejected' })[status] ??
  `is ${status}`;

export const formatRunStarted = (run: { run_id: string; status: string }) =>
  text`${bold(run.run_id)} is ${run.status}. Follow it: gantry logs -f ${run.run_id}`;
