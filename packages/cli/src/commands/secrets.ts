import { paginate, unwrap } from '@gantry/sdk';
import { collectItems } from '../collect-items';
import { collectValues, type GantryCommand, withSession } from '../command';
import { usageError } from '../errors';
import { printTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { readStdin } from '../stdin';
import { joinLines, text, yellow } from '../text';
import { formatTime } from '../time';

const VALUE_BYTES_MAX = 128 * 1024;

interface SetOptions extends GlobalOptions {
  host: string[];
}

interface DeleteOptions extends GlobalOptions {
  force?: boolean;
}

export function registerSecrets(program: GantryCommand): void {
  const secrets = program.command('secrets').description('Set, list and delete secrets of workers');
  secrets
    .command('set')
    .description('Set a secret from a prompt or stdin')
    .argument('<name>', 'Secret name, such as CRM_TOKEN')
    .option('--host <host>', 'Send the value only to this host', collectValues, [])
    .addHelpText('after', '\nIn a script:  gantry secrets set CRM_TOKEN < token.txt')
    .action(withSession<[string], SetOptions>(setSecret));
  secrets
    .command('list')
    .description('List secrets and their usage; values are never shown')
    .action(withSession(listSecrets));
  secrets
    .command('delete')
    .description('Delete a secret')
    .argument('<name>', 'Secret name')
    .option('--force', 'Delete it even if workers declare it')
    .action(withSession<[string], DeleteOptions>(deleteSecret));
}

async function setSecret(session: Session, name: string, { host }: SetOptions): Promise<void> {
  // A value beside the name would be part of the address, which servers log.
  if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(name)) {
    throw usageError(
      'the name of a secret must be uppercase, such as CRM_TOKEN',
      'gantry secrets set CRM_TOKEN < file',
    );
  }
  const gantry = session.gantry();
  const value = await readValue(session, name);
  const secret = await unwrap(
    gantry.worker.PUT('/api/secrets/{name}', {
      params: { path: { name } },
      body: { value, ...(host.length > 0 && { hosts: host }) },
    }),
  );
  session.output.print(secret, () =>
    joinLines([text`Set ${secret.name}`, ...(secret.warnings ?? []).map((warning) => yellow(warning))]),
  );
}

/** Never an argument, which other users of the machine and the history of the shell would see. */
async function readValue({ prompts }: Session, name: string): Promise<string> {
  const value = process.stdin.isTTY
    ? await prompts.password(`Value of ${name}:`)
    : (await readStdin(VALUE_BYTES_MAX)).replace(/\r?\n$/, '');
  if (!value) throw usageError(`no value for ${name}`, `gantry secrets set ${name} < file`);
  return value;
}

async function listSecrets({ output, gantry }: Session): Promise<void> {
  const secrets = await collectItems(paginate(gantry().worker, '/api/secrets'));
  printTable(output, secrets, ['name', 'updated', 'last used', 'hosts', 'workers'], (secret) => [
    ...[secret.name, formatTime(secret.updated_at), formatTime(secret.last_used_at), secret.hosts.join(' ')],
    secret.used_by.map(({ id }) => id).join(' '),
  ]);
}

async function deleteSecret(
  { output, gantry, prompts }: Session,
  name: string,
  { force }: DeleteOptions,
): Promise<void> {
  const { worker } = gantry();
  await prompts.confirm(`Delete ${name}?`);
  const params = { path: { name }, ...(force && { query: { force } }) };
  await unwrap(worker.DELETE('/api/secrets/{name}', { params }));
  output.print({ name, deleted: true }, () => text`Deleted ${name}`);
}
