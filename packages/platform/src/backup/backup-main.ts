/** `npm run backup -- <file>` and `npm run restore -- <file>`, with GANTRY_DATA_DIR as for `npm start`. */
import path from 'node:path';
import { createProgress } from '../launch/progress';
import { readSettings } from '../launch/settings';
import { backUp } from './backup';
import { readNewPassphrase, readPassphrase } from './passphrase';
import { restore } from './restore';

const [command, ...files] = process.argv.slice(2);

async function main(): Promise<void> {
  const { env } = process;
  const { dataDir, externalDatabases } = readSettings(env);
  if (env.OBJECT_STORE || Object.keys(externalDatabases).length) {
    throw new Error(
      'this command works only for an installation that keeps all its data in its own directory: if OBJECT_STORE or DATABASE_URL_* is set, use the tools of the object store or database server instead (docs/running.md)',
    );
  }
  const [name] = files;
  if (!name || files.length > 1 || name.startsWith('-')) throw new Error(`usage: npm run ${command} -- <file>`);
  // npm changes to the checkout; the name is relative to where it was called.
  const file = path.resolve(env.INIT_CWD || '.', name);
  const progress = createProgress(Number(env.GANTRY_STARTED_AT) || Date.now(), (text) => process.stdout.write(text));
  if (command === 'backup') await backUp({ dataDir, file, progress, passphrase: () => readNewPassphrase(env) });
  else await restore({ dataDir, file, progress, passphrase: () => readPassphrase(env) });
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
main().then(
  () => process.exit(0),
  (err) => {
    process.stderr.write(`\n${command}: ${err.message}\n`);
    process.exit(1);
  },
);
