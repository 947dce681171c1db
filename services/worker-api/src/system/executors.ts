/** Executors as they announce themselves every few seconds; this process remembers them, and nothing else does. */

import { type Bus, type ExecutorStatus, executorStatus, listen, parseExecutorId, runSubjects } from '@gantry/events';
import { toApiFields } from '@gantry/http';
import type { Logger } from 'pino';

export interface KnownExecutor extends ExecutorStatus {
  executorId: string;
  lastSeenAt: Date;
}

export type Executors = ReturnType<typeof createExecutorTracker>;

/** Several announcements fit into it, so that one that was lost does not make an executor vanish. */
const EXECUTOR_TTL_MS = 120_000;
/** A platform has a few; the bound is for an executor that restarts all the time. */
const EXECUTORS_MAX = 1_000;

export function createExecutorTracker({ bus, log, now }: { bus: Bus; log: Logger; now: () => Date }) {
  const known = new Map<string, KnownExecutor>();
  const subscription = listen(
    bus,
    runSubjects.executorStatus('*'),
    executorStatus,
    (status, { subject }) => {
      const executorId = parseExecutorId(subject);
      known.delete(executorId);
      if (status.state !== 'stopped') known.set(executorId, { ...status, executorId, lastSeenAt: now() });
      if (known.size > EXECUTORS_MAX) known.delete(known.keys().next().value as string);
    },
    { log },
  );
  return {
    /** Executors that were heard of in the last minutes, the longest-lived first. */
    list: (): KnownExecutor[] => {
      const oldest = now().getTime() - EXECUTOR_TTL_MS;
      for (const [id, { lastSeenAt }] of known) if (lastSeenAt.getTime() < oldest) known.delete(id);
      return [...known.values()].sort((a, b) => a.startedAt - b.startedAt);
    },
    stop: () => subscription.unsubscribe(),
  };
}

export const executorToApi = (executor: KnownExecutor) => ({
  id: executor.executorId,
  ...toApiFields(executor, 'state', 'slots', 'busy', 'isolation', 'python', 'lastSeenAt'),
  started_at: new Date(executor.startedAt).toISOString(),
});
