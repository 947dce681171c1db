/** Announcements of what runs will need, so that executors have it before the first one waits for it. */
import { z } from 'zod';
import { type Bus, encode } from './bus';
import { job, MESSAGE_BYTES_MAX, runSubjects } from './run-protocol';

/** Code that can be imported before its runs: what their jobs say of it, with the names of secrets in place of values. */
const preparedProgram = job
  .pick({ code: true, entrypoint: true, limits: true, network: true, isolation: true, fresh: true })
  .extend({ secretNames: z.array(z.string().max(300)).max(1_000) });

export const prepareRequest = z.object({
  /** Packages to install. */
  dependencies: z.array(z.string().max(300)).max(100),
  /**
   * A worker as it is now: processes that hold other code of it end. Absent: only packages are announced.
   * `program`: its current version. Absent: nothing of it is imported before its runs.
   */
  subject: z.object({ workspaceId: z.string(), subjectId: z.string(), program: preparedProgram.optional() }).optional(),
});
export type PrepareRequest = z.infer<typeof prepareRequest>;

/** Versions that are to be imported at all times, the most important first. */
export const standbyReply = z.object({ versions: z.array(prepareRequest) });

/** Best effort: a run that nothing was prepared for installs and imports itself. */
export function requestPreparation({ nc }: Pick<Bus, 'nc'>, request: PrepareRequest): void {
  if (!(request.dependencies.length || request.subject) || nc.isClosed() || nc.isDraining()) return;
  nc.publish(runSubjects.prepare, encode(request));
}

/** As many as one message holds. */
export function encodeStandby(versions: PrepareRequest[]): Uint8Array {
  let bytes = 0;
  const fitting = versions.filter((version) => {
    bytes += encode(version).length + 1;
    return bytes < MESSAGE_BYTES_MAX - 1_024;
  });
  return encode({ versions: fitting });
}
