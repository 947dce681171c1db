import type { Gantry, RunItem } from '@gantry/sdk';
import { type GantryCommand, parseCount, withSession } from '../command';
import { CommandError, describeFailure, EXIT, usageError } from '../errors';
import { onInterrupt } from '../interrupt';
import { createApprovalPrompt } from '../local-run/approval-prompt';
import { completeInputs } from '../local-run/local-inputs';
import { loadProgram } from '../local-run/local-program';
import { runLocally } from '../local-run/local-run';
import { type LocalOptions, showEvents, withLocalRuntime } from '../local-run/local-runtime';
import { describeOutcome } from '../local-run/watch-run';
import { findWorker } from '../remote-worker';
import type { GlobalOptions, Session } from '../session';
import { bold, dim, formatCount, green, red, text } from '../text';
import { formatDuration, formatTime } from '../time';
import { followWebhookRuns } from '../webhook-runs';

interface ListenOptions extends GlobalOptions, LocalOptions {
  forwardTo?: string;
  count?: number;
}

export function registerListen(program: GantryCommand): void {
  program
    .command('listen')
    .description('Forward the webhooks of a worker to local code or a URL')
    .argument('<worker>', 'Worker ID; its webhook remains unchanged')
    .argument('[folder]', 'Worker folder to run for each webhook', '.')
    .option('--forward-to <url>', 'URL to POST to, such as http://localhost:3000/hook')
    .option('--count <count>', 'Stop after this many; exit with 1 if any is not delivered', parseCount)
    .option('--no-sandbox', 'Run the code unsandboxed, with your permissions')
    .option('--artifacts <folder>', 'Folder for artifacts (default: .gantry/artifacts)')
    .addHelpText(
      'after',
      `
The worker still runs on the platform. This machine receives a copy of the
inputs of each run, and the result of your code or program is discarded. Your
role must be allowed to read the runs of the worker. Secrets never leave the
platform: those that the code needs are read from the environment or from .env.`,
    )
    .action(withSession<[string, string], ListenOptions>(listenForWebhooks));
}

/** The outcome of one webhook on this machine. */
interface Delivery {
  run_id: string;
  /** When the request reached the platform. */
  received_at: string;
  method: 'POST';
  delivered: boolean;
  /** The HTTP status, or that of the local run; null where there is none. */
  status: string | null;
  duration_ms: number;
  error: string | null;
}

type Deliver = (
  inputs: Record<string, unknown>,
  runId: string,
  signal: AbortSignal,
) => Promise<{ status: string; error: string | null }>;

async function listenForWebhooks(
  session: Session,
  workerId: string,
  dir: string,
  options: ListenOptions,
): Promise<void> {
  const { forwardTo } = options;
  const gantry = session.gantry();
  const worker = await findWorker(gantry, workerId);
  if (!worker) throw new CommandError(`worker ${workerId} not found`, EXIT.failed, 'See: gantry workers list');
  if (!worker.triggers.some(({ type }) => type === 'webhook')) {
    throw new CommandError(
      `${workerId} has no webhook`,
      EXIT.failed,
      'Add one to triggers in worker.yaml: { type: webhook }',
    );
  }
  if (forwardTo !== undefined) {
    return followDeliveries(session, gantry, workerId, createForwarder(forwardTo), options.count);
  }
  // Reports a problem of the folder before the first request comes.
  await loadProgram(dir);
  await withLocalRuntime(session, dir, options, (means) => {
    const runInFolder: Deliver = async (inputs, _runId, signal) => {
      const program = await loadProgram(dir);
      const completed = completeInputs(program, inputs, process.cwd(), { allowsOthers: true });
      const environment = { ...means, answers: createApprovalPrompt(session), onEvent: showEvents(session), signal };
      const run = await runLocally(program, completed, environment);
      if (run.error_trace) session.output.note(dim(run.error_trace.trimEnd()));
      return { status: run.status, error: run.status === 'completed' ? null : describeOutcome(run) };
    };
    return followDeliveries(session, gantry, workerId, runInFolder, options.count);
  });
}

/** @throws CommandError for an address that is none */
function createForwarder(url: string): Deliver {
  const target = URL.canParse(url) ? new URL(url) : null;
  if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password) {
    throw usageError(`--forward-to ${url}: expected a URL such as http://localhost:3000/hook`);
  }
  return async (inputs, runId, signal) => {
    const timeout = AbortSignal.timeout(FORWARD_TIMEOUT_MS);
    // Without a listener, Node.js 20 collects a timeout that only a combined signal refers to.
    timeout.addEventListener('abort', () => {});
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': 'gantry-listen', 'Gantry-Run-Id': runId },
      body: JSON.stringify(inputs),
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    }).catch((error: Error) => {
      const reason = error.name === 'TimeoutError' ? `no response within ${FORWARD_TIMEOUT_MS / 1_000} s` : undefined;
      throw new CommandError(reason ?? ((error.cause as Error | undefined)?.message || error.message));
    });
    await response.body?.cancel();
    return {
      status: String(response.status),
      error: response.ok ? null : `${target.host} responded with ${response.status}`,
    };
  };
}

const FORWARD_TIMEOUT_MS = 30_000;

/** Delivers one after the other, in the order in which they came, until Ctrl-C or the last of `count`. */
async function followDeliveries(
  { output }: Session,
  gantry: Gantry,
  workerId: string,
  deliver: Deliver,
  count = Number.POSITIVE_INFINITY,
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const release = onInterrupt(() => controller.abort());
  let delivered = 0;
  let failed = 0;
  try {
    const found = followWebhookRuns(gantry, workerId, {
      onListening: () => output.note(dim(`waiting for webhooks of ${workerId}; press Ctrl-C to stop`)),
      onInterrupted: () => output.note(dim('connection lost, reconnecting')),
      signal,
    });
    for await (const { runs, skipped } of found) {
      if (skipped) {
        failed += skipped;
        output.note(red(`not delivered: ${formatCount(skipped, 'older webhook')}, because more arrived than are kept`));
      }
      for (const run of runs) {
        if (signal.aborted) break;
        const delivery = await attemptDelivery(gantry, run, deliver, signal);
        if (delivery.delivered) delivered++;
        else failed++;
        output.printItem(delivery, () => formatDelivery(delivery));
        if (delivered + failed >= count) controller.abort();
      }
    }
  } finally {
    release();
    controller.abort();
  }
  output.note(dim(`${delivered} delivered, ${failed} not delivered`));
  if (failed && Number.isFinite(count)) throw new CommandError(`${formatCount(failed, 'webhook')} not delivered`);
}

async function attemptDelivery(gantry: Gantry, run: RunItem, deliver: Deliver, signal: AbortSignal): Promise<Delivery> {
  const began = performance.now();
  const end = (outcome: Pick<Delivery, 'delivered' | 'status' | 'error'>): Delivery => ({
    run_id: run.id,
    received_at: run.created_at,
    method: 'POST',
    ...outcome,
    duration_ms: Math.round(performance.now() - began),
  });
  try {
    // A list has no large inputs.
    const inputs = run.input ?? (await gantry.runs.get(run.id, { signal })).input;
    return end({ delivered: true, ...(await deliver(inputs, run.id, signal)) });
  } catch (error) {
    return end({
      delivered: false,
      status: null,
      error: signal.aborted ? 'stopped before delivery' : describeFailure(error).message,
    });
  }
}

function formatDelivery({
  run_id: runId,
  received_at: at,
  method,
  delivered,
  status,
  duration_ms: ms,
  error,
}: Delivery) {
  const failure = delivered ? error : text`not delivered: ${error}`;
  const outcome = failure === null ? green(status) : red(failure);
  return text`${dim(formatTime(at))} ${method} ${bold(runId)} ${outcome} ${dim(formatDuration(ms))}`;
}
