import { endRun } from './run-dir';
import { recall } from './running-postgres';

export default async function globalTeardown(): Promise<void> {
  // These files are not read again: no checkpoint is needed.
  await recall()?.kill();
  await endRun();
}
