import { unwrap } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { formatDetails, formatTable } from '../output';
import { connectAnonymously, type Session } from '../session';
import { joinLines, toText } from '../text';
import { formatTime } from '../time';

export function registerStatus(program: GantryCommand): void {
  program
    .command('status')
    .description('Show the status of the server and the workspace')
    .action(withSession(showStatus));
}

async function showStatus({ output, target, gantry }: Session): Promise<void> {
  const { url } = target();
  const server = await unwrap(connectAnonymously({ url }).worker.GET('/api/system/info'));
  const overview = await unwrap(gantry().worker.GET('/api/system/overview'));
  const { workers, runs, executors, approvals_pending: approvals, upcoming } = overview;
  const data = { url, version: server.version, cli_version: process.env.GANTRY_CLI_VERSION ?? null, ...overview };
  output.print(data, () =>
    joinLines([
      formatDetails([
        ['Server', `${url}, version ${server.version}`],
        ['Executors', `${executors.length} (${executors.reduce((sum, { slots }) => sum + slots, 0)} slots)`],
        ['Workers', `${workers.active} active, ${workers.paused} paused, ${workers.failing.length} failing`],
        ['Runs', `${runs.running} running, ${runs.queued} queued`],
        ['Last 24 hours', `${runs.last_24h.completed} completed, ${runs.last_24h.failed} failed`],
        ['Approvals', `${approvals} pending`],
      ]),
      ...(upcoming.length
        ? [
            toText(''),
            formatTable(
              ['next run', 'worker'],
              upcoming.map(({ at, id }) => [formatTime(at), id]),
            ),
          ]
        : []),
    ]),
  );
}
