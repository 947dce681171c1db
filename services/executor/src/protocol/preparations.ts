/** Installs and imports announced versions before their first run needs them. */
import {
  type Bus,
  listen,
  type PrepareRequest,
  prepareRequest,
  type RunSource,
  request,
  runSubjects,
  standbyReply,
} from '@gantry/events';
import type { Logger } from 'pino';
import type { Runner } from '../runners/runner';

/** Queued announcements; further ones are left to their first run. */
const QUEUED_MAX = 100;
const QUEUED_OF_WORKSPACE_MAX = 20;
/** Also the delay until a worker that has become standby gets its process. */
const STANDBY_EVERY_MS = 5 * 60_000;
const STANDBY_RETRY_MS = 15_000;
const STANDBY_REPLY_MS = 5_000;

interface Announced extends PrepareRequest {
  /** The version has a process at all times, not only after a save. */
  isStandby: boolean;
}

/** Handles one announcement at a time, so that they never take more than one core from runs; workspaces take turns. */
export function listenForPreparations({
  bus,
  executorId,
  runner,
  sources,
  log,
}: {
  bus: Bus;
  executorId: string;
  runner: Pick<Runner, 'prepareAhead' | 'endOutdated'>;
  sources: RunSource[];
  log: Logger;
}) {
  /** The latest announcement of each worker, and each set of packages without one. In order of arrival. */
  const queue = new Map<string, Announced>();
  let underWay: string | undefined;
  let lastWorkspaceId: string | undefined;
  /** The latest announcement of the worker that is being prepared. */
  let changed: PrepareRequest | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function takeNext(): [string, Announced] | undefined {
    const entries = [...queue];
    const next = entries.find(([, { subject }]) => subject?.workspaceId !== lastWorkspaceId) ?? entries[0];
    if (next) queue.delete(next[0]);
    return next;
  }

  async function work() {
    if (underWay !== undefined) return;
    for (let next = takeNext(); next; next = takeNext()) {
      const [key, { isStandby, ...announced }] = next;
      const { dependencies, subject } = announced;
      underWay = key;
      lastWorkspaceId = subject?.workspaceId;
      try {
        await runner.prepareAhead(announced, isStandby);
        log.debug({ dependencies, subjectId: subject?.subjectId, digest: subject?.program?.code.digest }, 'prepared');
      } catch (err) {
        // Its first run reports the reason to the owner.
        log.info({ dependencies, reason: (err as Error).message }, 'could not be prepared');
      }
      if (changed) runner.endOutdated(changed);
      changed = undefined;
    }
    underWay = undefined;
  }

  function add(announced: Announced): void {
    const { dependencies, subject } = announced;
    const key = subject ? subject.subjectId : JSON.stringify([...dependencies].sort());
    // A list may be older than an announcement.
    if (announced.isStandby && queue.has(key)) return;
    if (subject && !announced.isStandby) {
      runner.endOutdated(announced);
      if (key === underWay) changed = announced;
      queue.delete(key);
    }
    if (!dependencies.length && !subject?.program) return;
    const ofWorkspace = [...queue.values()].filter((one) => one.subject?.workspaceId === subject?.workspaceId).length;
    if (queue.size >= QUEUED_MAX || (subject && ofWorkspace >= QUEUED_OF_WORKSPACE_MAX)) return;
    queue.set(key, announced);
    void work();
  }

  async function askForStandby(): Promise<void> {
    let waitMs = STANDBY_EVERY_MS;
    try {
      const { versions } = await request(
        bus,
        runSubjects.standby('worker', executorId),
        {},
        standbyReply,
        STANDBY_REPLY_MS,
      );
      for (const version of versions) add({ ...version, isStandby: true });
    } catch (err) {
      log.debug({ err }, 'standby versions could not be loaded');
      waitMs = STANDBY_RETRY_MS;
    }
    if (!stopped) timer = setTimeout(askForStandby, waitMs);
  }

  const subscription = listen(
    bus,
    runSubjects.prepare,
    prepareRequest,
    (announced) => add({ ...announced, isStandby: false }),
    { log },
  );
  if (sources.includes('worker')) void askForStandby();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      subscription.unsubscribe();
      queue.clear();
    },
  };
}
