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
import { type InstallationReporter, startInstallationReport } from './installation-report';

/** Queued announcements; further ones are left to their first run. */
const QUEUED_MAX = 100;
const QUEUED_OF_WORKSPACE_MAX = 20;
/** Also the delay until a worker that has become standby gets its process. */
const STANDBY_EVERY_MS = 5 * 60_000;
const STANDBY_RETRY_MS = 15_000;
const STANDBY_REPLY_MS = 5_000;

interface Announcement extends PrepareRequest {
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
  /** The latest announcement of each worker or installation, and other sets of packages. In order of first arrival. */
  const queue = new Map<string, Announcement>();
  let currentKey: string | undefined;
  let currentReport: InstallationReporter | undefined;
  let lastWorkspaceId: string | undefined;
  /** The latest announcement of the worker that is being prepared. */
  let superseding: PrepareRequest | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function dequeue(): [string, Announcement] | undefined {
    const entries = [...queue];
    const next = entries.find(([, { subject }]) => subject?.workspaceId !== lastWorkspaceId) ?? entries[0];
    if (next) queue.delete(next[0]);
    return next;
  }

  async function processQueue() {
    if (currentKey !== undefined) return;
    for (let next = dequeue(); next; next = dequeue()) {
      const [key, { isStandby, ...announcement }] = next;
      const { dependencies, subject } = announcement;
      currentKey = key;
      lastWorkspaceId = subject?.workspaceId;
      const report = startInstallationReport(bus, executorId, announcement.installation);
      currentReport = report;
      try {
        await runner.prepareAhead(announcement, isStandby, report);
        log.debug({ dependencies, subjectId: subject?.subjectId, digest: subject?.program?.code.digest }, 'prepared');
      } catch (err) {
        report.fail(err);
        log.info({ dependencies, reason: (err as Error).message }, 'could not be prepared');
      } finally {
        report.stop();
      }
      if (superseding) runner.endOutdated(superseding);
      superseding = undefined;
    }
    currentKey = undefined;
  }

  function enqueue(announcement: Announcement): void {
    const { dependencies, subject, installation } = announcement;
    const key = subject?.subjectId ?? installation?.id ?? JSON.stringify([...dependencies].sort());
    // A list may be older than an announcement.
    if (announcement.isStandby && queue.has(key)) return;
    if (subject && !announcement.isStandby) {
      runner.endOutdated(announcement);
      if (key === currentKey) superseding = announcement;
    }
    if (!dependencies.length && !subject?.program) {
      queue.delete(key);
      return;
    }
    // Keeps its place, so that a version that is announced again while it waits is not overtaken each time.
    if (queue.has(key)) {
      queue.set(key, announcement);
      return;
    }
    const workspaceCount = [...queue.values()].filter(
      (one) => one.subject?.workspaceId === subject?.workspaceId,
    ).length;
    if (queue.size >= QUEUED_MAX || (subject && workspaceCount >= QUEUED_OF_WORKSPACE_MAX)) return;
    queue.set(key, announcement);
    void processQueue();
  }

  async function loadStandby(): Promise<void> {
    let waitMs = STANDBY_EVERY_MS;
    try {
      const { versions } = await request(
        bus,
        runSubjects.standby('worker', executorId),
        {},
        standbyReply,
        STANDBY_REPLY_MS,
      );
      for (const version of versions) enqueue({ ...version, isStandby: true });
    } catch (err) {
      log.debug({ err }, 'standby versions could not be loaded');
      waitMs = STANDBY_RETRY_MS;
    }
    if (!stopped) timer = setTimeout(loadStandby, waitMs);
  }

  const subscription = listen(
    bus,
    runSubjects.prepare,
    prepareRequest,
    (announcement) => enqueue({ ...announcement, isStandby: false }),
    { log },
  );
  if (sources.includes('worker')) void loadStandby();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      subscription.unsubscribe();
      queue.clear();
      // An installation that is interrupted has not failed: it is announced again.
      currentReport?.stop();
    },
  };
}
