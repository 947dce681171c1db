import { collectValues, type GantryCommand, withSession } from '../command';
import { usageError } from '../errors';
import { formatRunStarted, waitForOutcome } from '../follow-run';
import { type InputOptions, readInputs } from '../inputs';
import type { GlobalOptions, Session } from '../session';
import { dim } from '../text';

interface RunOptions extends GlobalOptions, InputOptions {
  wait?: boolean;
  priority?: string;
  idempotencyKey?: string;
}

export function registerRun(program: GantryCommand): void {
  program
    .command('run')
    .description('Run a worker')
    .argument('<worker>', 'Worker ID')
    .option('-i, --value <name=value>', 'Input value; for a file input, its path', collectValues, [])
    .option('-d, --data <json>', 'All inputs as JSON; @file reads a file, @- stdin')
    .option('-w, --wait', 'Follow the log to the end; exit with 1 if the run fails')
    .option('--priority <number>', 'Priority from -100 to 100; higher runs first')
    .option('--idempotency-key <key>', 'Start no second run for the same key')
    .action(withSession<[string], RunOptions>(startRun));
}

async function startRun(session: Session, workerId: string, options: RunOptions): Promise<void> {
  const gantry = session.gantry();
  const inputs = await readInputs(gantry, workerId, options);
  const started = await gantry.runs.start(workerId, inputs, {
    ...(options.priority !== undefined && { priority: parsePriority(options.priority) }),
    ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
  });
  if (!options.wait) return session.output.print(started, () => formatRunStarted(started));
  session.output.note(dim(`started ${started.run_id}`));
  await waitForOutcome(session, gantry, started.run_id);
}

function parsePriority(value: string): number {
  const priority = Number(value);
  if (!Number.isInteger(priority)) throw usageError(`--priority ${value}: expected a whole number`);
  return priority;
}
