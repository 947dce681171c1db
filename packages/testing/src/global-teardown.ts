import { removeRunDir } from './run-dir';
import { findRunningPostgres } from './running-postgres';

export default async function globalTeardown(): Promise<void> {
  // These files are not read again: no checkpoint is needed.
  await findRunningPostgres()?.kill();
  await removeRunDir();
}
