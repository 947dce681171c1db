import { parentPort, type TransferListItem } from 'node:worker_threads';

export type ThreadMessage<Result> = { ready: true } | { result: Result } | { problem: string };

/**
 * Serves the tasks of a `createThreadPool` in its thread. Call it once everything that tasks need is loaded.
 * @param listTransferables lists the parts of a result to transfer without a copy
 */
export function serveTasks<Task, Result>(
  handle: (task: Task) => Result,
  listTransferables: (result: Result) => TransferListItem[] = () => [],
): void {
  const post = (message: ThreadMessage<Result>, transfer: TransferListItem[] = []) =>
    parentPort?.postMessage(message, transfer);
  parentPort?.on('message', (task: Task) => {
    try {
      const result = handle(task);
      post({ result }, listTransferables(result));
    } catch (err) {
      post({ problem: String((err as Error).stack) });
    }
  });
  post({ ready: true });
}
