import { unwrap } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { readConfig, writeConfig } from '../config';
import { CommandError, EXIT, usageError } from '../errors';
import { formatTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { bold, green, text } from '../text';

export function registerWorkspace(program: GantryCommand): void {
  const workspace = program.command('workspace').description('List workspaces, and choose one.');
  workspace.command('list').description('List the workspaces of the account.').action(withSession(listWorkspaces));
  workspace
    .command('switch')
    .description('Use another workspace in this profile.')
    .argument('[workspace]', 'Its id or name')
    .action(withSession<[string | undefined], GlobalOptions>(switchWorkspace));
}

const loadAccount = (session: Session) => unwrap(session.connectAccount().worker.GET('/auth/me'));

async function listWorkspaces(session: Session): Promise<void> {
  const { workspaces, workspace_id: initial } = await loadAccount(session);
  const current = session.target().workspaceId ?? initial;
  session.output.print(workspaces, () =>
    formatTable(
      ['', 'id', 'role', 'name'],
      workspaces.map(({ id, role, name }) => [id === current ? green('*') : '', id, role, name]),
    ),
  );
}

async function switchWorkspace(session: Session, workspaceArgument: string | undefined): Promise<void> {
  if (process.env.GANTRY_WORKSPACE) throw usageError('GANTRY_WORKSPACE is set, and wins over the profile');
  const config = readConfig();
  const { profile, url } = session.target();
  const known = config.profiles[profile];
  // The token of the profile would be sent to the other server from then on.
  if (known && known.url !== url) {
    throw usageError(`GANTRY_URL is set, and is not the server of the profile ${profile}`, 'Set GANTRY_WORKSPACE too');
  }
  const { workspaces } = await loadAccount(session);
  const id =
    workspaceArgument ??
    (await session.prompts.select(
      'Which workspace?',
      workspaces.map(({ id: value, name }) => ({ value, label: name })),
    ));
  const matches = workspaces.filter((one) => one.id === id || one.name === id);
  if (matches.length > 1) throw usageError(`several workspaces are called ${id}`, 'Use the id: gantry workspace list');
  const [chosen] = matches;
  if (!chosen) throw new CommandError(`no workspace ${id}`, EXIT.failed, 'See: gantry workspace list');
  writeConfig({ ...config, profiles: { ...config.profiles, [profile]: { url, workspace_id: chosen.id } } });
  session.output.print({ id: chosen.id, name: chosen.name }, () => text`Now in ${bold(chosen.name)}`);
}
