/** Lists of what has no commands of its own; `gantry api` changes them. */
import { type Gantry, paginate, unwrap } from '@gantry/sdk';
import { collectItems } from '../collect-items';
import { type GantryCommand, withSession } from '../command';
import { CommandError } from '../errors';
import { type Cell, printTable } from '../output';
import { green, red, type Text } from '../text';
import { formatTime } from '../time';

interface ListCommand<Item> {
  name: string;
  about: string;
  load: (gantry: Gantry) => AsyncIterable<Item> | Promise<AsyncIterable<Item>>;
  headers: string[];
  toRow: (item: Item) => Cell[];
}

export function registerListCommands(program: GantryCommand): void {
  registerListCommand(program, {
    name: 'automations',
    about: 'List automations',
    load: (gantry) => paginate(gantry.automation, '/api/automations'),
    headers: ['id', 'status', 'last run', 'next run', 'name'],
    toRow: ({ id, status, lastRunStatus, nextRunAt, name }) => [
      ...[id, status, lastRunStatus],
      ...[nextRunAt ? formatTime(new Date(nextRunAt).toISOString()) : '', name],
    ],
  });
  registerListCommand(program, {
    name: 'contexts',
    about: 'List contexts: sets of files that workers read',
    load: (gantry) => paginate(gantry.worker, '/api/contexts'),
    headers: ['name', 'files', 'updated', 'description'],
    toRow: ({ name, file_count, updated_at, description }) => [name, file_count, formatTime(updated_at), description],
  });
  registerListCommand(program, {
    name: 'connections',
    about: 'List connections: accounts of other services',
    load: (gantry) => paginate(gantry.worker, '/api/connections'),
    headers: ['id', 'app', 'status', 'label', 'problem'],
    toRow: ({ id, app, status, label, problem }) => [id, app, formatState(status), label, problem],
  });
  registerListCommand(program, {
    name: 'alerts',
    about: 'List the alerts of the workspace',
    load: (gantry) => paginate(gantry.worker, '/api/alerts'),
    headers: ['id', 'worker', 'on', 'to', 'enabled'],
    toRow: ({ id, worker_id, on, url, email_to, enabled }) => [
      ...[id, worker_id ?? 'all', on.join(' '), url ?? email_to],
      enabled ? 'yes' : 'no',
    ],
  });
  registerListCommand(program, {
    name: 'tokens',
    about: 'List personal tokens',
    load: (gantry) => paginate(gantry.worker, '/auth/tokens'),
    headers: ['id', 'prefix', 'role', 'last used', 'expires', 'name'],
    toRow: ({ id, prefix, role, last_used_at, expires_at, name }) => [
      ...[id, prefix, role, formatTime(last_used_at), formatTime(expires_at), name],
    ],
  });
  registerListCommand(program, {
    name: 'members',
    about: 'List the members of the workspace',
    load: async (gantry) => {
      const { workspace_id: id } = await unwrap(gantry.worker.GET('/auth/me'));
      if (!id) throw new CommandError('this account is not in a workspace');
      const params = { path: { workspace_id: id } };
      return paginate(gantry.worker, '/api/workspaces/{workspace_id}/members', { params });
    },
    headers: ['id', 'role', 'joined', 'email'],
    toRow: ({ user_id, role, joined_at, email }) => [user_id, role, formatTime(joined_at), email],
  });
}

const formatState = (status: string): Text => (status === 'active' ? green(status) : red(status));

function registerListCommand<Item>(
  program: GantryCommand,
  { name, about, load, headers, toRow }: ListCommand<Item>,
): void {
  const command = program.command(name).description(about);
  command
    .command('list', { isDefault: true })
    .description(about)
    .action(
      withSession(async (session) => {
        const items = await collectItems(await load(await session.connectAll()));
        printTable(session.output, items, headers, toRow);
      }),
    );
}
