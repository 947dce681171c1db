/** `generate <directory>` or `generate --kubernetes <namespace> <namespace of runs>`: every secret that is missing. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { completeSecrets, createSpareExecutorCredentials } from '../secrets/installation-secrets';
import { completeKubernetesSecrets } from '../secrets/kubernetes-secrets';
import { fillCredentialPool, readSecretFiles, writeSecretFiles } from '../secrets/secret-files';

/** More than a machine has use for; each start of the command fills it up. */
const CREDENTIAL_POOL_SIZE = 32;

export async function generate(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { kubernetes: { type: 'boolean', default: false } },
  });
  const [first, second] = positionals;
  if (!first || (values.kubernetes && !second)) {
    process.stderr.write('usage: generate <directory> | generate --kubernetes <namespace> <namespace for runs>\n');
    process.exit(64);
  }
  const made = values.kubernetes
    ? await completeKubernetesSecrets({ services: first, runs: second ?? first })
    : writeSecretsToFiles(first);
  process.stdout.write(made.length ? `made ${made.join(', ')}\n` : 'everything already exists\n');
}

function writeSecretsToFiles(dir: string): string[] {
  const secrets = completeSecrets(readSecretFiles(dir));
  const made = writeSecretFiles(dir, secrets);
  const executors = fillCredentialPool(path.join(dir, 'executors'), CREDENTIAL_POOL_SIZE, () =>
    createSpareExecutorCredentials(secrets),
  );
  return executors ? [...made, `credentials for ${executors} executors`] : made;
}
