/** Reports of executors about packages that they install ahead of a version's first run. See ADR 65. */
import { z } from 'zod';
import { type Bus, encode, publishIfOpen } from './bus';
import { lockedPackages, lockPlatform } from './dependency-lock';
import { type RunSource, runSubjects } from './run-protocol';

/** Executors repeat the report of an installation in progress this often; without one it counts as interrupted. */
export const INSTALLATION_REPORT_MS = 5_000;

/** `done` of `total` wheels, where their number is known. */
export const installationProgress = z.object({
  phase: z.enum(['resolving', 'downloading', 'installing']),
  done: z.int().min(0).max(1_000).nullable(),
  total: z.int().min(0).max(1_000).nullable(),
});
export type InstallationProgress = z.infer<typeof installationProgress>;

const reportFields = {
  /** As announced: an executor reports on nothing that was not announced to it. */
  id: z.string().max(64),
  /** Increases with each report of an executor, also beyond its restart: an older report changes nothing. */
  sequence: z.int().min(1),
  /** Epoch milliseconds. */
  startedAt: z.int().min(0),
};

export const installationReport = z.discriminatedUnion('status', [
  z.object({ ...reportFields, status: z.literal('installing'), progress: installationProgress.nullable() }),
  z.object({
    ...reportFields,
    status: z.literal('installed'),
    platform: lockPlatform,
    /** Absent: they do not fit into a message. */
    packages: lockedPackages.optional(),
  }),
  /** `error`: worded for the owner of the code, like the error of a run. */
  z.object({ ...reportFields, status: z.literal('failed'), error: z.string().max(4_000) }),
]);
export type InstallationReport = z.infer<typeof installationReport>;

/** Best effort: the next report, or the expiry of the installation, makes up for a lost one. */
export function publishInstallationReport(
  bus: Pick<Bus, 'nc'>,
  source: RunSource,
  executorId: string,
  report: InstallationReport,
): void {
  publishIfOpen(bus, runSubjects.installation(source, executorId), encode(report));
}
