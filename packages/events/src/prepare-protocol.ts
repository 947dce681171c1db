/** Announces the packages and code of upcoming runs, so that executors have them before the first run starts. */
import { z } from 'zod';
import { type Bus, encode, publishIfOpen } from './bus';
import { lockedPackages, lockPlatform } from './dependency-lock';
import { job, MESSAGE_BYTES_MAX, runSources, runSubjects } from './run-protocol';

/** Code that can be imported before its runs: the fields of a job, with names of secrets in place of values. */
const preparableProgram = job
  .pick({ code: true, entrypoint: true, limits: true, network: true, isolation: true, fresh: true })
  .extend({ secretNames: z.array(z.string().max(300)).max(1_000) });

export const prepareRequest = z.object({
  /** Packages to install. */
  dependencies: z.array(z.string().max(300)).max(100),
  /** The version's locks by platform, as far as they exist and fit into a message. */
  locks: z.record(lockPlatform, lockedPackages).optional(),
  /** Where executors report on the installation of the packages. Absent: it is not reported. */
  installation: z.object({ source: z.enum(runSources), id: z.string().max(64) }).optional(),
  /**
   * The worker's current state: processes with other code of it end. Absent: only packages are announced.
   * `program`: its current version. Absent: its code is not imported before its runs.
   */
  subject: z
    .object({ workspaceId: z.string(), subjectId: z.string(), program: preparableProgram.optional() })
    .optional(),
});
export type PrepareRequest = z.infer<typeof prepareRequest>;

/** Versions to keep imported at all times, the most important first. */
export const standbyReply = z.object({ versions: z.array(prepareRequest) });

/** Best effort: an unprepared run installs its packages and imports its code itself. */
export function requestPreparation(bus: Pick<Bus, 'nc'>, request: PrepareRequest): void {
  if (!(request.dependencies.length || request.subject)) return;
  publishIfOpen(bus, runSubjects.prepare, encode(request));
}

/** Encodes as many versions as fit into one message. */
export function encodeStandby(versions: PrepareRequest[]): Uint8Array {
  let bytes = 0;
  const fittingVersions = versions.filter((version) => {
    bytes += encode(version).length + 1;
    return bytes < MESSAGE_BYTES_MAX - 1_024;
  });
  return encode({ versions: fittingVersions });
}
