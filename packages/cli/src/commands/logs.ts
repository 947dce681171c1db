import { type Gantry, paginate } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { CommandError, EXIT, usageError } from '../errors';
import { formatLogLine } from '../event-format';
import { printLog } from '../follow-run';
import type { GlobalOptions, Session } from '../session';
import { dim, text } from '../text';
import { formatTime } from '../time';

const LEVELS = ['debug', 'info', 'warning', 'error'] as const;
type Level = (typeof LEVELS)[number];

interface LogOptions extends GlobalOptions {
  follow?: boolean;
  level?: Level;
}

export function registerLogs(program: GantryCommand): void {
  program
    .command('logs')
    .description('Print the log of a run')
    .argument('<run>', 'Run ID, or a worker ID for its latest run')
    .option('-f, --follow', 'Follow until the run ends; with --json, all events')
    .option('--level <level>', 'Minimum level, such as warning', parseLevel)
    .action(withSession<[string], LogOptions>(showLog));
}

async function showLog(session: Session, id: string, { follow, level }: LogOptions): Promise<void> {
  const gantry = session.gantry();
  const runId = await resolveRun(session, gantry, id);
  if (follow) return printLog(session, gantry, runId, level && LEVELS.slice(LEVELS.indexOf(level)));
  const lines = paginate(gantry.worker, '/api/runs/{run_id}/logs', {
    params: {
      path: { run_id: runId },
      query: { limit: 1_000, ...(level !== undefined && { level }) },
    },
  });
  for await (const line of lines) {
    session.output.printItem(
      line,
      () => text`${dim(formatTime(line.at))} ${formatLogLine(line.level, line.text, line.fields)}`,
    );
  }
}

function parseLevel(value: string): Level {
  const level = LEVELS.find((one) => one === value);
  if (!level) throw usageError(`unknown level ${value}`, `Levels: ${LEVELS.join(', ')}`);
  return level;
}

async function resolveRun({ output }: Session, gantry: Gantry, id: string): Promise<string> {
  if (id.startsWith('run_')) return id;
  for await (const run of gantry.runs.list({ worker_id: id, limit: 1 })) {
    output.note(dim(`latest run of ${id}: ${run.id}`));
    return run.id;
  }
  throw new CommandError(`${id} has no runs`, EXIT.failed, `Start one: gantry run ${id}`);
}
