/**
 * Creates an executor's NATS user, in a separate process that runs before it: the required key can create
 * executors, so the process that runs user code must never have it.
 */
import { readEnrolEnv } from './env';
import { dropPrivileges } from './host/drop-privileges';
import { enrol } from './host/identity';
import { ensureDirectory } from './sandbox/layout';

function main() {
  const env = readEnrolEnv();
  const key = JSON.parse(env.NATS_EXECUTOR_SEED);
  const owner = { uid: env.EXECUTOR_UID, gid: env.EXECUTOR_GID ?? env.EXECUTOR_UID };
  const dropping = process.getuid?.() === 0 && env.EXECUTOR_ALLOW_ROOT === undefined;
  ensureDirectory(env.EXECUTOR_DIR, process.getuid?.() === 0 ? owner : null);
  // The directory may contain files planted through a compromised executor: root does not write there.
  if (dropping) dropPrivileges(owner.uid, owner.gid);
  if (enrol(env.EXECUTOR_DIR, key)) process.stdout.write('a new executor was enrolled\n');
}

try {
  main();
} catch (err) {
  process.stderr.write(`The executor could not be enrolled: ${(err as Error).message}\n`);
  process.exit(1);
}
