/** Converts a run's messages to events, and to requests for the service that owns it. */
import type { Job, RecordedStep } from '@gantry/events';
import type { Logger } from 'pino';
import { printable, type RunLog } from '../masking/log-lines';
import type { Redactor } from '../masking/redact';
import type { RunHooks, RunProcess } from '../runners/runner';
import { getStream } from '../transfer/object-transfer';
import { artifactsOf } from './artifacts';
import { changedContextsOf } from './changed-contexts';
import type { LiveReport } from './live-report';
import type { RunUploads } from './run-output';
import type { Settlement } from './settlement';
import { type StepRecords, stepsOf } from './steps';
import type { ToolCalls } from './tool-calls';

export function hooksOf(run: {
  job: Job;
  /** Steps recorded by earlier attempts. */
  recorded: RecordedStep[];
  redactor: Redactor;
  runLog: RunLog;
  live: LiveReport;
  settlement: Settlement;
  process(): RunProcess | undefined;
  uploads: RunUploads;
  steps: StepRecords;
  tools: ToolCalls;
  log: Logger;
}): RunHooks {
  const { job, recorded, redactor, runLog, live, settlement, uploads } = run;
  const { emit } = settlement;
  const shown = (text: string | null) => (text === null ? null : printable(redactor.text(text)));
  return {
    onStream: runLog.write,
    onLog: runLog.record,
    onProgress: (fraction, message) => live.progress(fraction, shown(message)),
    onCost: (usd, label) => live.cost(usd, shown(label)),
    openArtifact: artifactsOf(job, uploads, redactor, emit),
    openContext: changedContextsOf(job, uploads, emit),
    ...stepsOf({
      ...{ job, recorded, redactor, emit },
      records: run.steps,
      tools: run.tools,
      isOver: () => settlement.isOver() || run.process()?.isDead() === true,
      onRetry: (err) => run.log.warn({ runId: job.runId, err }, 'step or tool call not answered yet: asking again'),
    }),
    openFile: async (index) => getStream(job.files[index]?.url ?? ''),
  };
}
