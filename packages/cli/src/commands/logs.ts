import { type Gantry, paginate } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { CommandError, EXIT } from '../errors';
import { formatLogLine } from '../event-format';
import { printLog } from '../follow-run';
import type { GlobalOptions, Session } from '../session';
import { dim, text } from '../text';
import { formatTime } from '../time';

type Level = 'debug' | 'info' | 'warning' | 'error';

interface LogOptions extends GlobalOptions {
  follow?: boolean;
  level?: string;
}

export function registerLogs(program: GantryCommand): void {
  program
    .command('logs')
    .description('Print the log of a run.')
    .argument('<run>', 'Its id, or that of a worker: its latest run')
    .option('-f, --follow', 'Go on until the run ends; with --json all events')
    .option('--level <level>', 'Only this level and above, such as warning')
    .action(withSession<[string], LogOptions>(showLog));
}

async function showLog(session: Session, id: string, { follow, level }: LogOptions): Promise<void> {
  const gantry = session.gantry();
  const runId = await resolveRun(session, gantry, id);
  if (follow) return printLog(session, gantry, runId);
  const lines = paginate(gantry.worker, '/api/runs/{run_id}/logs', {
    params: {
      path: { run_id: runId },
      // The server names the levels that there are.
      query: { limit: 1_000, ...(level !== undefined && { level: level as Level }) },
    },
  });
  for await (const line of lines) {
    session.output.printItem(
      line,
      () => text`${dim(formatTime(line.at))} ${formatLogLine(line.level, line.text, line.fields)}`,
    );
  }
}

async function resolveRun({ output }: Session, gantry: Gantry, id: string): Promise<string> {
  if (id.startsWith('run_')) return id;
  for await (const run of gantry.runs.list({ worker_id: id, limit: 1 })) {
    output.note(dim(`latest run of ${id}: ${run.id}`));
    return run.id;
  }
  throw new CommandError(`${id} has no runs`, EXIT.failed, `Start one: gantry run ${id}`);
}
