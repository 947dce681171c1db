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
import type { z } from 'zod';
import { NotStartedError } from '../runners/runner';
import type { Attempt } from './attempt';
import type { RunUploads } from './run-output';
import type { StepRecords } from './steps';
import type { ToolCalls } from './tool-calls';

export interface ServiceRequests {
  uploads: RunUploads;
  steps: StepRecords;
  tools: ToolCalls;
  locks: {
    /** @throws NotStartedError if the run is no longer held here */
    agree(job: Job, platform: string, proposed: LockedPackage[] | null): Promise<LockedPackage[] | null>;
  };
}

const REPLY_MS = 5_000;
const TOOL_REPLY_MS = TOOL_HOLD_MS + 5_000;
/** Tries while a service is away: it restarts in less time, and a run keeps its lease meanwhile. */
const TRIES = 30;
const RETRY_MS = 1_000;

export function createServiceRequests(bus: Bus, executorId: string): ServiceRequests {
  const ask = <T extends z.ZodType>(
    kind: 'artifact' | 'step' | 'tool' | 'lock',
    { runId, attempt, token, source }: Attempt,
    message: object,
    reply: T,
    replyMs = REPLY_MS,
  ) => request(bus, runSubjects[kind](source, executorId), { runId, attempt, token, ...message }, reply, replyMs);

  return {
    uploads: {
      place: (job, upload) => retry(() => ask('artifact', job, upload, artifactReply)),
      attach: (job, upload) => retry(() => ask('artifact', job, { ...upload, purpose: 'attachment' }, attachmentReply)),
    },
    steps: { record: (job, step) => ask('step', job, step, stepReply) },
    tools: { call: (job, message) => ask('tool', job, message, toolReply, TOOL_REPLY_MS) },
    locks: {
      async agree(job, platform, packages) {
        const reply = await retry(() => ask('lock', job, { platform, ...(packages && { packages }) }, lockReply));
        if ('refused' in reply) throw new NotStartedError(reply.refused);
        return reply.packages;
      },
    },
  };
}

/** Repeats a request while the service is away. Only for requests that change nothing when they are repeated. */
async function retry<Reply>(send: () => Promise<Reply>): Promise<Reply> {
  for (let left = TRIES; ; left--) {
    try {
      return await send();
    } catch (err) {
      if (left <= 1) throw err;
      await delay(RETRY_MS);
    }
  }
}
