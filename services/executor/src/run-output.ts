import { type ArtifactReply, type ArtifactRequest, INLINE_BYTES_MAX, type Job } from '@gantry/events';
import type { NewRunEvent } from './event-publisher';
import { printableJson } from './log-lines';
import { putBytes } from './object-transfer';
import type { Redactor } from './redact';

/** Asks the service that owns a run where to put something. */
export interface RunUploads {
  place(job: Job, wanted: Pick<ArtifactRequest, 'purpose' | 'name' | 'contentType' | 'size'>): Promise<ArtifactReply>;
}

type Ending = Omit<Extract<NewRunEvent, { type: 'finished' }>, 'type' | 'usage'>;

/**
 * The terminal event of a run that returned: its output masked, inside the event or in the object store.
 * @param warn hears that the output is not what the manifest declares: worth saying, no reason to lose a result
 */
export function outputEvent(
  job: Job,
  json: Buffer,
  redactor: Redactor,
  uploads: RunUploads,
  warn: (text: string) => void,
): Ending | Promise<Ending> {
  let output: unknown;
  try {
    output = JSON.parse(json.toString());
  } catch {
    return { status: 'failed', error: { code: 'sandbox', message: 'The run gave no result: its output is not JSON.' } };
  }
  const problem = outputProblem(job, output);
  if (problem) warn(problem);
  output = redactor.json(output);
  if (json.includes('\\u0000')) output = printableJson(output);
  if (json.length <= INLINE_BYTES_MAX) return { status: 'completed', output };
  return storeOutput(job, Buffer.from(JSON.stringify(output)), uploads);
}

async function storeOutput(job: Job, text: Buffer, uploads: RunUploads): Promise<Ending> {
  const contentType = 'application/json';
  try {
    const place = await uploads.place(job, { purpose: 'output', name: 'output.json', contentType, size: text.length });
    if ('refused' in place) throw new Error(place.refused);
    await putBytes(place.url, contentType, text);
    return { status: 'completed', outputKey: place.key };
  } catch (err) {
    return {
      status: 'failed',
      error: { code: 'sandbox', message: `The output could not be stored: ${(err as Error).message}` },
    };
  }
}

/** Declared outputs are names of an object. Where there is one, a bare value is shown under it by whoever shows it. */
function outputProblem(job: Job, output: unknown): string | null {
  if (!job.outputs?.length) return null;
  const names = job.outputs.map(({ name }) => name);
  if (typeof output !== 'object' || output === null || Array.isArray(output)) {
    if (names.length === 1) return null;
    return `run() returned ${describe(output)}; the manifest declares the outputs ${names.join(', ')}`;
  }
  const missing = names.filter((name) => !Object.hasOwn(output, name));
  return missing.length ? `run() returned no ${missing.join(', ')}, which the manifest declares` : null;
}

const describe = (value: unknown) => (value === null ? 'None' : Array.isArray(value) ? 'a list' : `a ${typeof value}`);
