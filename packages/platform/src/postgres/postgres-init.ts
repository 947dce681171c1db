/** Making a new database cluster: once for each data directory. */
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { collectOutput } from '../supervise/collect-output';

const execFileAsync = promisify(execFile);

export interface NewCluster {
  initdb: string;
  dataDir: string;
  user: string;
  password: string;
  /** User id that the server will run as; undefined: our own. */
  owner: number | undefined;
}

/** Fills an empty directory; what an interrupted attempt left can't be continued and is removed. */
export async function initialiseCluster(cluster: NewCluster): Promise<void> {
  const { dataDir, owner } = cluster;
  fs.rmSync(dataDir, { recursive: true, force: true });
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const passwordFile = `${dataDir}.password`;
  fs.writeFileSync(passwordFile, cluster.password, { mode: 0o600 });
  // initdb insists on a user that has a name; the server does not.
  const maker = owner === undefined ? undefined : findUnprivilegedUid();
  if (maker !== undefined) {
    for (const file of [dataDir, passwordFile]) fs.chownSync(file, maker, maker);
  }
  try {
    await runInitdb(cluster, passwordFile, maker);
    if (owner !== undefined) await execFileAsync('chown', ['-R', `${owner}:${owner}`, dataDir]);
  } catch (cause) {
    fs.rmSync(dataDir, { recursive: true, force: true });
    throw cause;
  } finally {
    fs.rmSync(passwordFile, { force: true });
  }
}

async function runInitdb(cluster: NewCluster, passwordFile: string, uid: number | undefined): Promise<void> {
  const password = fs.openSync(passwordFile, 'r');
  // Links in /proc lead to the directory and the file past parents that this user may not walk through.
  const [dataDir, pwfile] = uid === undefined ? [cluster.dataDir, passwordFile] : ['/proc/self/cwd', '/proc/self/fd/3'];
  const child = spawn(
    cluster.initdb,
    [
      ['-D', dataDir, '-U', cluster.user, '-E', 'UTF8'],
      ['--locale-provider=builtin', '--locale=C.UTF-8', '--lc-collate=C', '--lc-ctype=C', '--lc-messages=C'],
      ['--lc-monetary=C', '--lc-numeric=C', '--lc-time=C'],
      ['--auth=scram-sha-256', `--pwfile=${pwfile}`, '--no-sync', '--no-instructions'],
    ].flat(),
    {
      cwd: cluster.dataDir,
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH ?? '' },
      uid,
      gid: uid,
      stdio: ['ignore', 'pipe', 'pipe', password],
    },
  );
  const output = collectOutput(child);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`initdb exited with ${code}:\n${addInitdbHint(output())}`)),
      );
    });
  } finally {
    fs.closeSync(password);
  }
}

/** With what to do where the user has no name, as in a container that is started with any number. */
function addInitdbHint(output: string): string {
  const end = output.trim().slice(-4_000);
  if (!end.includes('could not look up effective user ID')) return end;
  return `${end}\nAdd a line for this user to /etc/passwd, or start Gantry as a user that has one.`;
}

function findUnprivilegedUid(): number {
  const entries = fs.readFileSync('/etc/passwd', 'utf8').split('\n');
  const uids = entries.map((line) => Number(line.split(':')[2])).filter((uid) => uid > 0);
  const uid = uids.includes(65_534) ? 65_534 : uids[0];
  if (uid === undefined) throw new Error('PostgreSQL refuses to run as root, and /etc/passwd lists no other user');
  return uid;
}
