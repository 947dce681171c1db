/**
 * Combines signals with a time limit. In Node.js 20, a combined signal refers to its sources weakly: the next garbage
 * collection would take a timeout that has no listener of its own, and the limit would never end anything.
 */
export function addTimeLimit(ms: number, ...signals: AbortSignal[]): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  timeout.addEventListener('abort', () => {});
  return AbortSignal.any([timeout, ...signals]);
}
