/** Sends requests about a run to the service that owns it, each authenticated by the run's token. */
import {
  artifactReply,
  attachmentReply,
  type Bus,
  request,
  runSubjects,
  stepReply,
  TOOL_HOLD_MS,
  toolReply,
} from '@gantry/events';
import type { Attempt } from './attempt';
import type { RunUploads } from './run-output';
import type { StepRecords } from './steps';
import type { ToolCalls } from './tool-calls';

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
