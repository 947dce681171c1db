import { endRun } from './run-dir';
import { recall } from './running-postgres';

export default async function globalTeardown(): Promise<void> {
  // Nobody will read these files again: no checkpoint is owed.
  await recall()?.kill();
  await endRun();
}
