/** Waits for the dependencies of a process, and reports the reasons. */
import { setTimeout as sleep } from 'node:timers/promises';

/** @returns a sentence for each problem: what is wrong, and what fixes it */
export type Check = () => Promise<string[]>;

const RETRY_MS = 2_000;

/**
 * Resolves when no check finds a problem.
 * @param onProblems receives all current problems each time they change, and is awaited
 */
export async function waitUntilReady(checks: Check[], onProblems: (problems: string[]) => unknown): Promise<void> {
  for (let lastReported = ''; ; await sleep(RETRY_MS)) {
    const problems = (await Promise.all(checks.map((check) => check()))).flat();
    if (problems.join() !== lastReported) await onProblems(problems);
    if (!problems.length) return;
    lastReported = problems.join();
  }
}
