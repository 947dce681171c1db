import type { WorkerSchemas } from '@gantry/sdk';
import { useEffect, useState } from 'react';
import type { Draft } from '../../code/use-draft';
import { api, hasErrorStatus, type Worker } from '../../shell/api';

export type DraftProblem = WorkerSchemas['DraftProblem'];

/** The delay after the last keystroke. */
const DEBOUNCE_MS = 450;

interface Inspection {
  problems: DraftProblem[];
  /** The reason why the list may be incomplete. */
  incompleteReason: string | null;
  isStale: boolean;
}

/** Lists the problems that a save would reject or warn about, while the user types. */
export function useInspection(worker: Worker, { baseSha, changes }: Draft, isEnabled: boolean): Inspection {
  const [inspection, setInspection] = useState<Inspection>({ problems: [], incompleteReason: null, isStale: false });
  useEffect(() => {
    if (!isEnabled) return;
    const controller = new AbortController();
    setInspection((before) => ({ ...before, isStale: true }));
    const timer = setTimeout(async () => {
      try {
        const draft = { base_sha: baseSha, ...(changes.length && { files: changes }) };
        const body = { worker_id: worker.id, draft };
        const { signal } = controller;
        const { problems } = await api.worker.POST('/api/workers/inspect', { body, signal });
        setInspection({ problems, incompleteReason: null, isStale: false });
      } catch (error) {
        if (!controller.signal.aborted)
          setInspection({ problems: [], incompleteReason: describeInspectionError(error), isStale: false });
      }
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [isEnabled, worker.id, baseSha, changes]);
  return inspection;
}

function describeInspectionError(error: unknown): string {
  if (hasErrorStatus(error, 503)) return 'Can’t check for problems because no executor is connected.';
  if (hasErrorStatus(error, 413)) return 'Your changes exceed 1 MB and can’t be checked. Save some of them first.';
  return error instanceof Error ? error.message : String(error);
}
