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

const identityOf = ({ runId, attempt, token }: Attempt) => ({ runId, attempt, token });

export function askForUploads(bus: Bus, executorId: string): RunUploads {
  const subjectOf = ({ source }: Attempt) => runSubjects.artifact(source, executorId);
  return {
    place: (job, wanted) =>
      request(bus, subjectOf(job), { ...identityOf(job), ...wanted }, artifactReply, ARTIFACT_REPLY_MS),
    attach: (job, wanted) => {
      const asked = { ...identityOf(job), ...wanted, purpose: 'attachment' };
      return request(bus, subjectOf(job), asked, attachmentReply, ARTIFACT_REPLY_MS);
    },
  };
}

export const askToRecordSteps = (bus: Bus, executorId: string): StepRecords => ({
  record: (job, step) =>
    request(bus, runSubjects.step(job.source, executorId), { ...identityOf(job), ...step }, stepReply, STEP_REPLY_MS),
});

export const askToCallTools = (bus: Bus, executorId: string): ToolCalls => ({
  call: (job, asked) =>
    request(bus, runSubjects.tool(job.source, executorId), { ...identityOf(job), ...asked }, toolReply, TOOL_REPLY_MS),
});
