import { unwrap } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { readConfig, writeConfig } from '../config';
import { CommandError, EXIT, usageError } from '../errors';
import { printTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { bold, green, text } from '../text';

export function registerWorkspace(program: GantryCommand): void {
  const workspace = program.command('workspace').description('List and switch workspaces');
  workspace.command('list').description('List the workspaces of the account').action(withSession(listWorkspaces));
  workspace
    .command('switch')
    .description('Switch the profile to another workspace')
    .argument('[workspace]', 'Workspace ID or name')
    .action(withSession<[string | undefined], GlobalOptions>(switchWorkspace));
}

const loadAccount = (session: Session) => unwrap(session.connectAccount().worker.GET('/auth/me'));

async function listWorkspaces(session: Session): Promise<void> {
  const { workspaces, workspace_id: initial } = await loadAccount(session);
  const current = session.target().workspaceId ?? initial;
  printTable(session.output, workspaces, ['', 'id', 'role', 'name'], ({ id, role, name }) => [
    id === current ? green('*') : '',
    id,
    role,
    name,
  ]);
}

async function switchWorkspace(session: Session, workspaceArgument: string | undefined): Promise<void> {
  if (process.env.GANTRY_WORKSPACE) throw usageError('GANTRY_WORKSPACE is set and overrides the profile');
  const config = readConfig();
  const { profile, url } = session.target();
  const known = config.profiles[profile];
  // The token of the profile would be sent to the other server from then on.
  if (known && known.url !== url) {
    throw usageError(
      `GANTRY_URL is set and differs from the server of profile ${profile}`,
      'Set GANTRY_WORKSPACE as well',
    );
  }
  const { workspaces } = await loadAccount(session);
  const id =
    workspaceArgument ??
    (await session.prompts.select(
      'Which workspace?',
      workspaces.map(({ id: value, name }) => ({ value, label: name })),
    ));
  const matches = workspaces.filter((one) => one.id === id || one.name === id);
  if (matches.length > 1) throw usageError(`several workspaces are named ${id}`, 'Use an ID: gantry workspace list');
  const [chosen] = matches;
  if (!chosen) throw new CommandError(`workspace ${id} not found`, EXIT.failed, 'See: gantry workspace list');
  writeConfig({ ...config, profiles: { ...config.profiles, [profile]: { url, workspace_id: chosen.id } } });
  session.output.print({ id: chosen.id, name: chosen.name }, () => text`Switched to ${bold(chosen.name)}`);
}
