/** Converts a run's messages to events, and to requests to the service that owns it. */
import { AGENT_TEXT_CHARS_MAX, agentParts, type Job, type RecordedStep } from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import type { Logger } from 'pino';
import { maskText, type RunLog } from '../masking/log-lines';
import type { RunHooks, RunProcess } from '../runners/runner';
import { getStream } from '../transfer/object-transfer';
import { createArtifactUploader } from './artifacts';
import { createAttachmentUploader } from './attachments';
import { createContextUploader } from './changed-contexts';
import type { LiveReport } from './live-report';
import type { ServiceRequests } from './service-requests';
import type { Settlement } from './settlement';
import { createStepHooks } from './steps';
import type { StreamedText } from './streamed-text';

/** Limit per attempt. An agent takes at most a hundred turns. */
const AGENT_EVENTS_MAX = 2_000;
/** The limits at which the harness truncates. */
const [PROGRESS_CHARS_MAX, NAME_CHARS_MAX] = [1_000, 200];

interface RunHookOptions extends Omit<ServiceRequests, 'locks'> {
  job: Job;
  /** Steps recorded by earlier attempts. */
  recorded: RecordedStep[];
  redactor: Redactor;
  runLog: RunLog;
  live: LiveReport;
  settlement: Settlement;
  process(): RunProcess | undefined;
  streamedText: StreamedText;
  log: Logger;
}

export function createRunHooks(options: RunHookOptions): RunHooks {
  const { job, recorded, redactor, runLog, live, settlement, uploads } = options;
  const { emit } = settlement;
  const maskOptional = (text: string | null, charsMax: number) =>
    text === null ? null : maskText(redactor, text, charsMax);
  let agentEvents = 0;
  return {
    onStream: runLog.write,
    onLog: runLog.record,
    onProgress: (fraction, message) => live.progress(fraction, maskOptional(message, PROGRESS_CHARS_MAX)),
    onCost: (usd, label) => live.cost(usd, maskOptional(label, NAME_CHARS_MAX)),
    onAgent(partName, { name, text, call }) {
      const part = agentParts.find((candidate) => candidate === partName);
      if (!part || ++agentEvents > AGENT_EVENTS_MAX) return;
      const callId = maskOptional(call, NAME_CHARS_MAX);
      emit({
        type: 'agent',
        part,
        name: maskOptional(name, NAME_CHARS_MAX),
        text: maskText(redactor, text, AGENT_TEXT_CHARS_MAX),
        ...(callId && { callId }),
      });
    },
    openArtifact: createArtifactUploader(job, uploads, redactor, emit),
    openContext: createContextUploader(job, uploads, emit),
    openAttachment: createAttachmentUploader(job, uploads),
    ...createStepHooks({
      job,
      recorded,
      redactor,
      emit,
      records: options.steps,
      tools: options.tools,
      spoken: options.streamedText,
      isOver: () => settlement.isOver() || options.process()?.isDead() === true,
      onRetry: (err) => options.log.warn({ runId: job.runId, err }, 'no reply to a step or tool call yet: retrying'),
    }),
    openFile: async (index) => getStream(job.files[index]?.url ?? ''),
  };
}
