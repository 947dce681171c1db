/** Renews the leases of runs that executors hold, and presigns their uploads. */
import {
  type ArtifactReply,
  type ArtifactRequest,
  type AttachmentReply,
  artifactRequest,
  type Bus,
  encode,
  type LeaseRenewal,
  type LeaseReply,
  leaseRenewal,
  listen,
  MODEL_FILE_BYTES_MAX,
  newId,
  parseExecutorId,
  type RunLimits,
  type RunSource,
  runSubjects,
} from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { handleHeldRunRequests } from '../held-run-requests';
import { buildAttachmentKey, buildRunFolder, isDigest } from '../object-keys';
import { NOT_HELD, type RunTokens } from '../run-tokens';

const UPLOAD_SECONDS = 600;

function getMaxSize(purpose: ArtifactRequest['purpose'], limits: RunLimits): number {
  if (purpose === 'attachment') return MODEL_FILE_BYTES_MAX;
  return purpose === 'output' ? limits.outputBytes : limits.artifactBytes;
}

export function startLeaseService(deps: {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  tokens: RunTokens;
  objects: ObjectStore;
  leaseMs: number;
  log: Logger;
}): {
  close(): void;
} {
  const { bus, pool, source, tokens, objects, leaseMs, log } = deps;

  const leases = listen(
    bus,
    runSubjects.lease(source, '*'),
    leaseRenewal,
    async ({ runs }, message) => {
      const executorId = parseExecutorId(message.subject);
      const acceptedRuns = runs.filter((run) => tokens.isValid({ ...run, executorId }));
      const { rows } = acceptedRuns.length ? await renewLeases(executorId, acceptedRuns) : { rows: [] };
      const renewedIds = new Set(rows.map((row) => row.id));
      const reply: LeaseReply = {
        cancelled: rows.filter((row) => row.cancelled).map((row) => row.id),
        lost: runs.map((run) => run.runId).filter((id) => !renewedIds.has(id)),
      };
      message.respond(encode(reply));
    },
    { queue: 'leases', log },
  );

  const subject = runSubjects.artifact(source, '*');
  const uploads = handleHeldRunRequests(deps, { subject, schema: artifactRequest, queue: 'artifacts' }, createUpload);

  const renewLeases = (executorId: string, runs: LeaseRenewal['runs']) =>
    pool.query(
      `UPDATE runs r SET lease_expires_at = now() + make_interval(secs => $4)
       FROM unnest($1::text[], $2::int[]) AS h(run_id, attempt)
       WHERE r.id = h.run_id AND r.attempt = h.attempt AND r.executor_id = $3 AND r.status = 'running'
       RETURNING r.id, r.cancel_requested_at IS NOT NULL AS cancelled`,
      [runs.map((r) => r.runId), runs.map((r) => r.attempt), executorId, leaseMs / 1000],
    );

  async function createUpload({
    executorId,
    ...request
  }: ArtifactRequest & { executorId: string }): Promise<ArtifactReply | AttachmentReply> {
    const { rows } = await pool.query(
      `SELECT workspace_id, spec FROM runs WHERE id = $1 AND attempt = $2 AND executor_id = $3 AND status = 'running'`,
      [request.runId, request.attempt, executorId],
    );
    if (!rows[0]) return NOT_HELD;
    const { workspace_id: workspaceId, spec } = rows[0];
    const { purpose, name, size } = request;
    const sizeMax = getMaxSize(purpose, spec.limits);
    if (size > sizeMax) return { refused: `the size of ${size} bytes exceeds the limit of ${sizeMax} bytes` };
    const isAttachment = purpose === 'attachment';
    if (isAttachment && !isDigest(name)) return { refused: 'a file for a model must have its SHA-256 as its name' };
    const key = isAttachment
      ? buildAttachmentKey(workspaceId, request.runId, name)
      : `${buildRunFolder(workspaceId, request.runId)}/${request.attempt}/${newId('')}`;
    if (isAttachment && (await objects.head(key))?.size === size) return { known: true };
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
      uploads.close();
    },
  };
}
