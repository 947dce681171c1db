import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Gantry, unwrap, type WorkerSchemas } from '@gantry/sdk';
import { openBrowser } from '../browser';
import { type GantryCommand, withSession } from '../command';
import { DEFAULT_URL, getProfileName, parseUrl, readConfig, resolveTarget, writeConfig } from '../config';
import { type Credential, findCredential, getCredentialsFile, removeCredential, storeCredential } from '../credentials';
import { CommandError, EXIT, usageError } from '../errors';
import { formatDetails } from '../output';
import { connectAnonymously, connectWithToken, type GlobalOptions, type Session } from '../session';
import { readStdin } from '../stdin';
import { bold, green, text, yellow } from '../text';

const TOKEN_BYTES_MAX = 4_096;

interface LoginOptions extends GlobalOptions {
  withToken?: boolean;
  browser: boolean;
}

export function registerAccount(program: GantryCommand): void {
  program
    .command('login')
    .description('Sign in through the browser or with a token from stdin')
    .argument('[url]', `Server URL; defaults to the current one, initially ${DEFAULT_URL}`)
    .option('--with-token', 'Read a token from stdin')
    .option('--no-browser', 'Print the URL without opening a browser')
    .action(withSession<[string | undefined], LoginOptions>(login));
  program.command('logout').description('Sign out and revoke the token created by login').action(withSession(logout));
  program
    .command('whoami')
    .description('Show the current account, role and workspace')
    .action(withSession(showAccount));
}

async function login(session: Session, urlArgument: string | undefined, options: LoginOptions): Promise<void> {
  const config = readConfig();
  // A profile that is not there yet is made by signing in.
  const name = getProfileName(config, options);
  // A token is sent to the server of its own profile, whichever is the current one.
  const known = Object.hasOwn(config.profiles, name) ? { profile: name } : {};
  const url = urlArgument === undefined ? resolveTarget(config, known).url : parseUrl(urlArgument);
  const credential = options.withToken ? await readToken(url) : await authorizeDevice(session, url, options.browser);
  const me = await unwrap(connectWithToken(url, credential.token).worker.GET('/auth/me'));
  storeCredential(name, credential);
  const { workspace_id: former } = config.profiles[name] ?? {};
  const isMember = me.workspaces.some(({ id }) => id === former);
  const profile = { url, ...(former !== undefined && isMember && { workspace_id: former }) };
  writeConfig({ current_profile: name, profiles: { ...config.profiles, [name]: profile } });
  session.output.print({ profile: name, url, ...summarize(me) }, () => {
    const workspace = me.workspaces.find(({ id }) => id === me.workspace_id)?.name ?? 'no workspace';
    return text`${green('Signed in')} to ${url} as ${bold(me.email ?? me.name ?? 'workspace token')}, in ${bold(workspace)}`;
  });
}

async function readToken(url: string): Promise<Credential> {
  if (process.stdin.isTTY) throw usageError('--with-token reads from stdin', 'gantry login --with-token < token.txt');
  const token = (await readStdin(TOKEN_BYTES_MAX)).trim();
  if (!/^[!-~]+$/.test(token)) throw usageError('stdin contains no token');
  return { url, token, from: 'pasted' };
}

async function authorizeDevice({ output, prompts }: Session, url: string, browser: boolean): Promise<Credential> {
  const gantry = connectAnonymously({ url });
  const device = await requestDevice(gantry);
  output.note(text`Open ${bold(device.verification_url)} and enter the code ${bold(device.user_code)}`);
  if (browser && prompts.isInteractive) openBrowser(device.verification_url);
  const token = await pollForToken(gantry, device);
  return { url, token, from: 'device' };
}

const requestDevice = ({ worker }: Gantry) =>
  unwrap(worker.POST('/api/cli-auth/devices', { body: { client_name: `gantry on ${os.hostname()}`.slice(0, 100) } }));

/** Polls as often as the server allows. @throws CommandError where the request is denied or expires */
async function pollForToken(gantry: Gantry, device: Awaited<ReturnType<typeof requestDevice>>): Promise<string> {
  const { device_code, user_code } = device;
  const expiresAt = Date.now() + device.expires_in_seconds * 1_000;
  let seconds = device.polling_interval_seconds;
  while (Date.now() < expiresAt) {
    await delay(seconds * 1_000);
    try {
      const { token } = await unwrap(gantry.worker.POST('/auth/cli-exchange', { body: { device_code, user_code } }));
      return token;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 403) throw new CommandError('the request was denied in the browser', EXIT.usage);
      if (error.status === 410) break;
      const isTransient = error.status === 0 || error.status >= 500 || error.status === 428 || error.status === 429;
      if (!isTransient) throw error;
      seconds = Math.max(device.polling_interval_seconds, error.retryAfter ?? 0);
    }
  }
  throw new CommandError('the code has expired', EXIT.failed, 'Get a new one: gantry login');
}

async function logout({ output, target }: Session): Promise<void> {
  const { profile, url } = target();
  const credential = findCredential(profile, url);
  if (!credential) {
    output.print({ signed_out: false, revoked: false, url }, () => text`Not signed in to ${url}`);
    return;
  }
  const isRevoked = credential.from === 'device' && (await revokeToken(credential));
  removeCredential(profile);
  output.print({ signed_out: true, revoked: isRevoked, url }, () => text`Signed out of ${url}`);
  if (credential.from === 'device' && !isRevoked) {
    output.note(yellow('The token was not revoked: revoke it under Tokens in the dashboard'));
  }
}

async function revokeToken({ url, token }: Credential): Promise<boolean> {
  const { worker } = connectWithToken(url, token);
  try {
    const { token_id: id } = await unwrap(worker.GET('/auth/me'));
    if (id) await unwrap(worker.DELETE('/auth/tokens/{token_id}', { params: { path: { token_id: id } } }));
    return true;
  } catch (error) {
    // A token that the server does not know any more needs no revocation.
    return error instanceof ApiError && error.status === 401;
  }
}

async function showAccount({ output, gantry, target }: Session): Promise<void> {
  const me = await unwrap(gantry().worker.GET('/auth/me'));
  const { url, profile } = target();
  output.print({ profile, url, ...summarize(me) }, () =>
    formatDetails([
      ['Account', me.email ?? me.name ?? 'workspace token'],
      ['Role', me.role],
      ['Workspace', me.workspaces.find(({ id }) => id === me.workspace_id)?.name ?? me.workspace_id],
      ['Server', url],
      ['Profile', profile],
      ['Credential', process.env.GANTRY_TOKEN ? 'GANTRY_TOKEN' : getCredentialsFile()],
    ]),
  );
}

const summarize = ({ email, name, role, workspace_id, credential }: WorkerSchemas['Me']) => ({
  email,
  name,
  role,
  workspace_id,
  credential,
});
