import type { RunStatus } from '@gantry/sdk';
import { collectItems } from '../collect-items';
import { type GantryCommand, parseCount, withSession } from '../command';
import { formatRunError, formatRunStarted, waitForOutcome } from '../follow-run';
import { formatDetails, printTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { dim, green, joinLines, red, type Text, text, toText, yellow } from '../text';
import { formatDuration, formatTime } from '../time';

interface ListOptions extends GlobalOptions {
  worker?: string;
  status?: string;
  limit: number;
}

interface ReplayOptions extends GlobalOptions {
  same?: boolean;
  wait?: boolean;
}

export function registerRuns(program: GantryCommand): void {
  const runs = program.command('runs').description('List, show, cancel and replay runs');
  runs
    .command('list')
    .description('List runs, newest first')
    .option('--worker <id>', 'Filter by worker')
    .option('--status <status>', 'Filter by status, such as failed')
    .option('--limit <count>', 'Maximum number of runs', parseCount, 20)
    .action(withSession<[], ListOptions>(listRuns));
  runs
    .command('get')
    .description('Show a run with its output or error')
    .argument('<run>', 'Run ID')
    .action(withSession<[string], GlobalOptions>(showRun));
  runs
    .command('cancel')
    .description('Cancel a run')
    .argument('<run>', 'Run ID')
    .action(withSession<[string], GlobalOptions>(cancelRun));
  runs
    .command('replay')
    .description('Replay a run with the same inputs')
    .argument('<run>', 'Run ID')
    .option('--same', 'Use the version of that run, not the current one')
    .option('-w, --wait', 'Follow the log to the end; exit with 1 if the run fails')
    .action(withSession<[string], ReplayOptions>(replayRun));
}

async function listRuns({ output, gantry }: Session, { worker, status, limit }: ListOptions): Promise<void> {
  const filters = {
    limit: Math.min(limit, 200),
    ...(worker !== undefined && { worker_id: worker }),
    // The server names the states that there are.
    ...(status !== undefined && { status: status as RunStatus }),
  };
  const runs = await collectItems(gantry().runs.list(filters), limit);
  printTable(output, runs, ['id', 'worker', 'status', 'trigger', 'created', 'duration'], (run) => [
    ...[run.id, run.worker_id],
    formatStatus(run.status),
    ...[run.trigger, formatTime(run.created_at), formatDuration(run.duration_ms)],
  ]);
}

export function formatStatus(status: string): Text {
  if (status === 'completed') return green(status);
  if (status === 'failed' || status === 'timed_out' || status === 'rejected') return red(status);
  return status === 'cancelled' ? dim(status) : yellow(status);
}

async function showRun({ output, gantry }: Session, runId: string): Promise<void> {
  const run = await gantry().runs.get(runId);
  output.print(run, () => {
    const details = formatDetails([
      ['Run', run.id],
      ['Worker', `${run.worker_id}, ${run.worker_version === null ? 'draft' : `version ${run.worker_version}`}`],
      ['Status', formatStatus(run.status)],
      ['Trigger', run.trigger],
      ['Created', formatTime(run.created_at)],
      ['Duration', formatDuration(run.duration_ms)],
      ['Cost', run.total_cost_usd ? `$${run.total_cost_usd.toFixed(4)}` : ''],
      ['Waiting for', run.approvals.find(({ status }) => status === 'pending')?.title ?? run.waiting_for?.kind],
      ['Inputs', JSON.stringify(run.input)],
      ['Output', run.output && JSON.stringify(run.output)],
      ['Files', run.artifacts.map(({ name }) => name).join(', ')],
      ['Error', formatRunError(run)],
    ]);
    return run.error_trace ? joinLines([details, dim(run.error_trace.trimEnd())]) : details;
  });
}

async function cancelRun({ output, gantry }: Session, runId: string): Promise<void> {
  const run = await gantry().runs.cancel(runId);
  output.print(run, () =>
    run.cancel_requested ? toText(`${run.id} is being cancelled`) : text`${run.id} is ${run.status}`,
  );
}

async function replayRun(session: Session, runId: string, { same, wait }: ReplayOptions): Promise<void> {
  const gantry = session.gantry();
  const started = await gantry.runs.replay(runId, { version: same ? 'same' : 'current' });
  if (!wait) return session.output.print(started, () => formatRunStarted(started));
  await waitForOutcome(session, gantry, started.run_id);
}
