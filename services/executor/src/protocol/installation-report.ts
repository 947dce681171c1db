import {
  type Bus,
  INSTALLATION_REPORT_MS,
  type InstallationProgress,
  type InstallationReport,
  LOCKED_PACKAGES_MAX,
  MESSAGE_BYTES_MAX,
  type PrepareRequest,
  publishInstallationReport,
} from '@gantry/events';
import { replaceNul } from '../masking/log-lines';
import { type InstallHooks, MESSAGE_CHARS_MAX, NotPreparedError } from '../runners/runner';

/** Counts between two reports are left out. */
const PROGRESS_MS = 1_000;
const FAILED = 'The packages could not be installed on this executor. The next run will try again.';

let lastSequence = 0;
const nextSequence = (): number => {
  lastSequence = Math.max(lastSequence + 1, Date.now());
  return lastSequence;
};

export interface InstallationReporter extends InstallHooks {
  fail(err: unknown): void;
  stop(): void;
}

const NOT_REPORTED: InstallationReporter = { onProgress() {}, onInstalled() {}, fail() {}, stop() {} };

/** Reports an announced installation until it has ended or is stopped; repeats reports, since each may be lost. */
export function startInstallationReport(
  bus: Bus,
  executorId: string,
  installation: PrepareRequest['installation'],
): InstallationReporter {
  if (!installation) return NOT_REPORTED;
  const { source, id } = installation;
  const startedAt = Date.now();
  let progress: InstallationProgress | null = null;
  let reportedAt = 0;
  let isOver = false;

  const publish = (report: InstallationReport) => publishInstallationReport(bus, source, executorId, report);
  const buildFields = () => ({ id, startedAt, sequence: nextSequence() });
  function publishProgress() {
    reportedAt = Date.now();
    publish({ ...buildFields(), status: 'installing', progress });
  }
  function end(report: () => void) {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    report();
  }
  const timer = setInterval(publishProgress, INSTALLATION_REPORT_MS);
  publishProgress();

  return {
    onProgress(next) {
      const isNewPhase = next.phase !== progress?.phase;
      progress = next;
      if (!isOver && (isNewPhase || Date.now() - reportedAt >= PROGRESS_MS)) publishProgress();
    },
    onInstalled: ({ platform, packages }) =>
      end(() => {
        const fitsMessage =
          packages.length <= LOCKED_PACKAGES_MAX && JSON.stringify(packages).length < MESSAGE_BYTES_MAX / 2;
        publish({ ...buildFields(), status: 'installed', platform, ...(fitsMessage && { packages }) });
      }),
    fail: (err) =>
      end(() => {
        const error = err instanceof NotPreparedError ? replaceNul(err.message).slice(0, MESSAGE_CHARS_MAX) : FAILED;
        publish({ ...buildFields(), status: 'failed', error });
      }),
    stop: () => end(() => {}),
  };
}
