/** Sends requests about a run to the service that owns it, each authenticated by the run's token. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  artifactReply,
  attachmentReply,
  type Bus,
  type Job,
  type LockedPackage,
  lockReply,
  request,
  runSubjects,
  stepReply,
  TOOL_HOLD_MS,
  toolReply,
} from '@gantry/events';
import { NotStartedError } from '../runners/runner';
import type { Attempt } from './attempt';
import type { RunUploads } from './run-output';
import type { StepRecords } from './steps';
import type { ToolCalls } from './tool-calls';

export interface LockClient {
  /** @throws NotStartedError if the run is no longer held here */
  agree(job: Job, platform: string, proposed: LockedPackage[] | null): Promise<LockedPackage[] | null>;
}

const ARTIFACT_REPLY_MS = 5_000;
const STEP_REPLY_MS = 5_000;
const TOOL_REPLY_MS = TOOL_HOLD_MS + 5_000;

const toIdentity = ({ runId, attempt, token }: Attempt) => ({ runId, attempt, token });

export function createUploadClient(bus: Bus, executorId: string): RunUploads {
  const getSubject = ({ source }: Attempt) => runSubjects.artifact(source, executorId);
  return {
    place: (job, upload) =>
      request(bus, getSubject(job), { ...toIdentity(job), ...upload }, artifactReply, ARTIFACT_REPLY_MS),
    attach: (job, upload) => {
      const message = { ...toIdentity(job), ...upload, purpose: 'attachment' };
      return request(bus, getSubject(job), message, attachmentReply, ARTIFACT_REPLY_MS);
    },
  };
}

export const createStepClient = (bus: Bus, executorId: string): StepRecords => ({
  record: (job, step) =>
    request(bus, runSubjects.step(job.source, executorId), { ...toIdentity(job), ...step }, stepReply, STEP_REPLY_MS),
});

const LOCK_REPLY_MS = 5_000;
const LOCK_RETRY_MS = 1_000;
const LOCK_TRIES = 30;

/** Repeats requests while the service is away; a repeated proposal changes nothing. */
export const createLockClient = (bus: Bus, executorId: string): LockClient => ({
  async agree(job, platform, packages) {
    const message = { ...toIdentity(job), platform, ...(packages && { packages }) };
    for (let left = LOCK_TRIES; ; left--) {
      try {
        const reply = await request(bus, runSubjects.lock(job.source, executorId), message, lockReply, LOCK_REPLY_MS);
        if ('refused' in reply) throw new NotStartedError(reply.refused);
        return reply.packages;
      } catch (err) {
        if (left <= 1 || err instanceof NotStartedError) throw err;
        await delay(LOCK_RETRY_MS);
      }
    }
  },
});

export const createToolClient = (bus: Bus, executorId: string): ToolCalls => ({
  call: (job, message) =>
    request(
      bus,
      runSubjects.tool(job.source, executorId),
      { ...toIdentity(job), ...message },
      toolReply,
      TOOL_REPLY_MS,
    ),
});
