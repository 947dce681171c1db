import { paginate, unwrap } from '@gantry/sdk';
import { collectItems } from '../collect-items';
import { type GantryCommand, withSession } from '../command';
import { formatDetails, printTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { green, red, type Text, toText, yellow } from '../text';
import { formatTime } from '../time';
import { formatStatus } from './runs';

interface ListOptions extends GlobalOptions {
  tag?: string;
  search?: string;
}

export function registerWorkers(program: GantryCommand): void {
  const workers = program.command('workers').description('List and show workers');
  workers
    .command('list')
    .description('List workers, newest first')
    .option('--tag <tag>', 'Filter by tag')
    .option('--search <text>', 'Filter by name, ID or description')
    .action(withSession<[], ListOptions>(listWorkers));
  workers
    .command('get')
    .description('Show the configuration and health of a worker')
    .argument('<worker>', 'Worker ID')
    .action(withSession<[string], GlobalOptions>(showWorker));
}

async function listWorkers({ output, gantry }: Session, { tag, search }: ListOptions): Promise<void> {
  const query = { limit: 200, ...(tag !== undefined && { tag }), ...(search !== undefined && { q: search }) };
  const workers = await collectItems(paginate(gantry().worker, '/api/workers', { params: { query } }));
  printTable(output, workers, ['id', 'health', 'trigger', 'last run', 'next run', 'name'], (worker) => [
    worker.id,
    worker.status === 'active' ? formatHealth(worker.health) : yellow(worker.status),
    worker.trigger_type,
    worker.last_run_status && formatStatus(worker.last_run_status),
    formatTime(worker.next_run_at),
    worker.name,
  ]);
}

function formatHealth(health: string): Text {
  if (health === 'healthy') return green(health);
  return health === 'ready' ? toText(health) : red(health);
}

async function showWorker({ output, gantry }: Session, workerId: string): Promise<void> {
  const worker = await unwrap(
    gantry().worker.GET('/api/workers/{worker_id}', { params: { path: { worker_id: workerId } } }),
  );
  output.print(worker, () =>
    formatDetails([
      ['Worker', `${worker.name} (${worker.id})`],
      ['Description', worker.description],
      ['Status', worker.status],
      ['Health', formatHealth(worker.health)],
      ['Version', `${worker.version}, ${worker.sha.slice(0, 8)}`],
      ['Inputs', worker.inputs.map(({ name, type, required }) => `${name}: ${type}${required ? '' : '?'}`).join(', ')],
      ['Triggers', worker.triggers.map(({ type }) => type).join(', ') || 'manual'],
      ['Next run', formatTime(worker.next_run_at)],
      ['Last run', worker.last_run_id && `${worker.last_run_id}, ${worker.last_run_status}`],
      ['Secrets', worker.secrets.join(', ')],
      ['Missing', [...worker.missing_secrets, ...(worker.connection_problems ?? [])].join(', ')],
    ]),
  );
}
