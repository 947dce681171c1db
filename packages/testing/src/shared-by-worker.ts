/** Things that take seconds to start, and that the suites of one Jest worker can share, such as a browser. */

// Jest ends a worker that does not exit by itself with SIGTERM, and half a second later with SIGKILL. Playwright's own
// handler closes its browsers first, which takes longer on a busy machine; the handlers of `exit` would then not run.
process.prependOnceListener('SIGTERM', () => process.exit());

/** Modules live as long as the Jest worker: see jest/runtime.cjs. */
const shared = new Map<string, Promise<unknown>>();

/** Sockets and child processes that keep this process alive. */
const getActiveHandles = () =>
  (process as unknown as { _getActiveHandles(): { unref?(): void }[] })._getActiveHandles();

/**
 * Starts a resource at its first use in a Jest worker, and keeps it for the suites that this worker runs later.
 * Its handles keep no worker alive, and are no leak of the suite that happens to start it.
 *
 * @param name identifies the resource among all suites
 * @param kill ends the resource when the process exits; synchronous, since nothing asynchronous runs then
 */
export function createWorkerShared<T>(
  name: string,
  start: () => Promise<T>,
  kill: (value: T) => void,
): () => Promise<T> {
  return () => {
    let value = shared.get(name) as Promise<T> | undefined;
    if (!value) {
      const before = new Set(getActiveHandles());
      value = start();
      shared.set(name, value);
      value.then(
        (started) => {
          for (const handle of getActiveHandles()) if (!before.has(handle)) handle.unref?.();
          process.once('exit', () => kill(started));
        },
        // The next suite tries again.
        () => shared.delete(name),
      );
    }
    return value;
  };
}
