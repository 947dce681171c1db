import fs from 'node:fs';
import { ApiError, unwrap } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { getConfigFile, readConfig } from '../config';
import { findCredential, getCredentialsFile, readCredentials } from '../credentials';
import { CommandError, describeFailure } from '../errors';
import { findPython, findSandboxProblem } from '../local-run/interpreter';
import { formatTable } from '../output';
import { connectAnonymously, type Session } from '../session';
import { dim, green, joinLines, red, text, yellow } from '../text';

export function registerDoctor(program: GantryCommand): void {
  program.command('doctor').description('Check the setup and suggest fixes').action(withSession(runChecks));
}

interface Finding {
  check: string;
  /** `warning`: it works, with less. */
  status: 'ok' | 'warning' | 'problem';
  found: string;
  /** Null where it is ok. */
  remedy: string | null;
}

type Check = [name: string, look: (session: Session) => Promise<Omit<Finding, 'check'>> | Omit<Finding, 'check'>];

const createOkFinding = (message: string) => ({ status: 'ok' as const, found: message, remedy: null });
const createWarningFinding = (found: string, remedy: string) => ({ status: 'warning' as const, found, remedy });
const createProblemFinding = (found: string, remedy: string) => ({ status: 'problem' as const, found, remedy });

const CHECKS: Check[] = [
  ['configuration', checkConfiguration],
  ['credentials', checkCredentials],
  ['server', checkServer],
  ['sign-in', checkSignIn],
  ['python', checkPython],
  ['sandbox', checkSandbox],
];

async function runChecks(session: Session): Promise<void> {
  const findings: Finding[] = [];
  for (const [check, look] of CHECKS) {
    // A check that cannot be made is a finding like another.
    const finding = await Promise.resolve(session)
      .then(look)
      .catch((error: unknown) => {
        const { message, hint } = describeFailure(error);
        return createProblemFinding(message, hint ?? 'See: gantry config');
      });
    findings.push({ check, ...finding });
  }
  const problems = findings.filter(({ status }) => status === 'problem');
  const signs = { ok: green('ok'), warning: yellow('warning'), problem: red('problem') };
  session.output.print({ ok: !problems.length, checks: findings }, () =>
    joinLines([
      formatTable(
        ['check', '', 'result'],
        findings.map(({ check, status, found }) => [check, signs[status], found]),
      ),
      ...findings.flatMap(({ check, remedy }) => (remedy ? [text`${dim(check)}: ${remedy}`] : [])),
    ]),
  );
  if (problems.length) {
    throw new CommandError(`failed checks: ${problems.map(({ check }) => check).join(', ')}`);
  }
}

function checkConfiguration({ target }: Session) {
  readConfig();
  const { profile, url, urlFrom, workspaceId } = target();
  const where = workspaceId === undefined ? '' : `, workspace ${workspaceId}`;
  const file = fs.existsSync(getConfigFile()) ? getConfigFile() : `${getConfigFile()} does not exist`;
  return createOkFinding(`profile ${profile}: ${url} (${urlFrom})${where}; ${file}`);
}

function checkCredentials() {
  const file = getCredentialsFile();
  if (process.env.GANTRY_TOKEN) return createOkFinding('token from GANTRY_TOKEN');
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (!found) return createProblemFinding(`${file} does not exist`, 'Sign in: gantry login');
  // Windows has no such modes.
  const mode = found.mode & 0o777;
  if (process.platform !== 'win32' && mode & 0o077) {
    return createProblemFinding(`${file} is readable by other users (mode ${mode.toString(8)})`, `chmod 600 ${file}`);
  }
  readCredentials();
  return createOkFinding(`${file}, readable only by you`);
}

async function checkServer({ target }: Session) {
  const { url } = target();
  const { version } = await unwrap(connectAnonymously({ url }).worker.GET('/api/system/info'));
  if (typeof version !== 'string')
    return createProblemFinding(`${url} is not a Gantry API`, 'Check the URL: gantry config');
  const own = process.env.GANTRY_CLI_VERSION ?? '0';
  const isSameVersion = version.split('.').slice(0, 2).join('.') === own.split('.').slice(0, 2).join('.');
  const found = `${url}, version ${version}; this CLI has version ${own}`;
  return isSameVersion
    ? createOkFinding(found)
    : createWarningFinding(found, 'Use the CLI that matches the server: npm start in its checkout');
}

async function checkSignIn({ target, gantry }: Session) {
  const { profile, url } = target();
  if (!process.env.GANTRY_TOKEN && !findCredential(profile, url)) {
    return createProblemFinding(`no token for ${url} in profile ${profile}`, 'Sign in: gantry login');
  }
  try {
    const me = await unwrap(gantry().worker.GET('/auth/me'));
    const name = me.email ?? me.name ?? 'a workspace token';
    if (!me.workspace_id)
      return createProblemFinding(`${name} is not in a workspace`, 'Choose one: gantry workspace list');
    return createOkFinding(
      `${name}, ${me.role} in ${me.workspaces.find(({ id }) => id === me.workspace_id)?.name ?? me.workspace_id}`,
    );
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return createProblemFinding('the token is invalid or has expired', 'Sign in: gantry login');
  }
}

async function checkPython() {
  const { executable, version } = await findPython();
  return createOkFinding(`${executable}, Python ${version}, for gantry dev and gantry test`);
}

async function checkSandbox() {
  const reason = await findSandboxProblem(await findPython());
  if (reason === null) return createOkFinding('bubblewrap, for gantry dev and gantry test');
  return createWarningFinding(
    reason,
    'Without it, gantry dev runs code with your permissions: it can read and change everything you can',
  );
}
