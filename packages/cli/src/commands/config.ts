import { type GantryCommand, withSession } from '../command';
import { getConfigFile, parseUrl, readConfig, writeConfig } from '../config';
import { findCredential, getCredentialsFile } from '../credentials';
import { usageError } from '../errors';
import { formatDetails, printTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { green, text } from '../text';

export function registerConfig(program: GantryCommand): void {
  const config = program.command('config').description('Show and change the server and workspace in use');
  config
    .command('show', { isDefault: true })
    .description('Show the server, workspace and files in use')
    .action(withSession(async (session) => showConfig(session)));
  config
    .command('profiles')
    .description('List profiles and their servers')
    .action(withSession(async (session) => listProfiles(session)));
  config
    .command('use')
    .description('Switch to another profile')
    .argument('<profile>', 'Profile name')
    .action(withSession<[string], GlobalOptions>(async (session, name) => selectProfile(session, name)));
  config
    .command('set')
    .description('Set the server URL or workspace of the profile')
    .argument('<key>', 'url or workspace')
    .argument('<value>', 'Server URL or workspace ID')
    .action(withSession<[string, string], GlobalOptions>(async (session, key, value) => setValue(session, key, value)));
}

function showConfig({ output, target }: Session): void {
  const { profile, url, workspaceId, urlFrom } = target();
  const isSignedIn = Boolean(process.env.GANTRY_TOKEN || findCredential(profile, url));
  const files = { config: getConfigFile(), credentials: getCredentialsFile() };
  const data = { profile, url, url_from: urlFrom, workspace_id: workspaceId ?? null, signed_in: isSignedIn, files };
  output.print(data, () =>
    formatDetails([
      ['Profile', profile],
      ['Server', `${url} (${urlFrom})`],
      ['Workspace', workspaceId ?? 'account default'],
      ['Signed in', isSignedIn ? 'yes' : 'no'],
      ['Config', files.config],
      ['Credentials', files.credentials],
    ]),
  );
}

function listProfiles({ output, target }: Session): void {
  const { profiles } = readConfig();
  const current = target().profile;
  const rows = Object.entries(profiles).map(([name, { url, workspace_id }]) => ({
    name,
    current: name === current,
    url,
    workspace_id: workspace_id ?? null,
  }));
  printTable(output, rows, ['', 'name', 'url', 'workspace'], (row) => [
    row.current ? green('*') : '',
    row.name,
    row.url,
    row.workspace_id,
  ]);
}

function selectProfile({ output }: Session, name: string): void {
  const config = readConfig();
  if (!Object.hasOwn(config.profiles, name)) {
    throw usageError(`profile ${name} not found`, `To create it: gantry login --profile ${name}`);
  }
  writeConfig({ ...config, current_profile: name });
  output.print({ profile: name }, () => text`Switched to profile ${name}`);
}

function setValue({ output, target }: Session, key: string, value: string): void {
  const config = readConfig();
  const { profile, url } = target();
  const before = config.profiles[profile] ?? { url };
  const changes = { url: () => ({ url: parseUrl(value) }), workspace: () => ({ ...before, workspace_id: value }) };
  if (key !== 'url' && key !== 'workspace') throw usageError(`unknown setting ${key}`, 'Settings: url, workspace');
  const changed = changes[key]();
  writeConfig({ ...config, profiles: { ...config.profiles, [profile]: changed } });
  output.print({ profile, ...changed }, () => text`Set ${key} of profile ${profile} to ${value}`);
}
