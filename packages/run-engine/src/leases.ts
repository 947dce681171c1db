/** Keeps the leases of runs that executors hold, and answers their requests for a place to put artifacts. */
import {
  type ArtifactReply,
  type ArtifactRequest,
  artifactRequest,
  type Bus,
  encode,
  type LeaseReply,
  leaseRenewal,
  listen,
  newId,
  type RunSource,
  runSubjects,
} from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

const UPLOAD_SECONDS = 600;

export function keepLeases(deps: {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  objects: ObjectStore;
  leaseMs: number;
  log: Logger;
}): {
  close(): void;
} {
  const { bus, pool, source, objects, leaseMs, log } = deps;

  const leases = listen(
    bus,
    runSubjects.lease(source),
    leaseRenewal,
    async ({ executorId, runs }, message) => {
      const { rows } = await pool.query(
        `UPDATE runs r SET lease_expires_at = now() + make_interval(secs => $4)
         FROM unnest($1::text[], $2::int[]) AS h(run_id, attempt)
         WHERE r.id = h.run_id AND r.attempt = h.attempt AND r.executor_id = $3 AND r.status = 'running'
         RETURNING r.id, r.cancel_requested_at IS NOT NULL AS cancelled`,
        [runs.map((r) => r.runId), runs.map((r) => r.attempt), executorId, leaseMs / 1000],
      );
      const kept = new Set(rows.map((row) => row.id));
      const reply: LeaseReply = {
        cancelled: rows.filter((row) => row.cancelled).map((row) => row.id),
        lost: runs.map((run) => run.runId).filter((id) => !kept.has(id)),
      };
      message.respond(encode(reply));
    },
    { queue: 'leases', log },
  );

  const uploads = listen(
    bus,
    runSubjects.artifact(source),
    artifactRequest,
    async (request, message) => message.respond(encode(await placeArtifact(request))),
    { queue: 'artifacts', log },
  );

  async function placeArtifact(request: ArtifactRequest): Promise<ArtifactReply> {
    const { rows } = await pool.query(
      `SELECT workspace_id, spec FROM runs WHERE id = $1 AND attempt = $2 AND executor_id = $3 AND status = 'running'`,
      [request.runId, request.attempt, request.executorId],
    );
    if (!rows[0]) return { refused: 'this run is not held by this executor' };
    const { workspace_id: workspaceId, spec } = rows[0];
    const sizeMax = request.purpose === 'output' ? spec.limits.outputBytes : spec.limits.artifactBytes;
    if (request.size > sizeMax) return { refused: `${request.size} bytes are more than the limit of ${sizeMax}` };
    const key = `${workspaceId}/runs/${request.runId}/${request.attempt}/${newId('')}`;
    const url = await objects.presignPut(key, {
      sizeMax: request.size,
      contentType: request.contentType,
      expiresSeconds: UPLOAD_SECONDS,
      audience: 'internal',
    });
    return { key, url };
  }

  return {
    close: () => {
      leases.unsubscribe();
      uploads.unsubscribe();
    },
  };
}
