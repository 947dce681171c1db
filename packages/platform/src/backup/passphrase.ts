import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

const VARIABLE = 'GANTRY_BACKUP_PASSPHRASE';
const LENGTH_MIN = 12;

/** Reads it from GANTRY_BACKUP_PASSPHRASE, else from the terminal, where it is not shown. */
export async function readPassphrase(env: NodeJS.ProcessEnv): Promise<string> {
  if (env[VARIABLE]) return env[VARIABLE];
  if (!process.stdin.isTTY) throw new Error(`there is no terminal for entering the passphrase: set ${VARIABLE}`);
  return promptHidden('Backup passphrase: ');
}

/** A new passphrase must be long enough and typed twice: a slip would show only when the backup is needed. */
export async function readNewPassphrase(env: NodeJS.ProcessEnv): Promise<string> {
  const passphrase = await readPassphrase(env);
  if (passphrase.length < LENGTH_MIN) throw new Error(`the passphrase must have at least ${LENGTH_MIN} characters`);
  if (!env[VARIABLE] && (await promptHidden('Once more: ')) !== passphrase)
    throw new Error('the passphrases do not match');
  return passphrase;
}

async function promptHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: unseen, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      terminal.once('line', resolve).once('close', () => reject(new Error('no passphrase was entered')));
      terminal.once('SIGINT', () => terminal.close());
    });
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
