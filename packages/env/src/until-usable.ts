/** What a process needs before it can work, asked until it is there. */
import { setTimeout as sleep } from 'node:timers/promises';

/** @returns a sentence for each problem: what is wrong, and what mends it */
export type Check = () => Promise<string[]>;

const RETRY_MS = 2_000;

/**
 * Resolves when no check finds a problem.
 * @param tell hears all present problems each time they change
 */
export async function untilUsable(checks: Check[], tell: (problems: string[]) => void): Promise<void> {
  for (let said = ''; ; await sleep(RETRY_MS)) {
    const problems = (await Promise.all(checks.map((check) => check()))).flat();
    if (problems.join() !== said) tell(problems);
    if (!problems.length) return;
    said = problems.join();
  }
}
