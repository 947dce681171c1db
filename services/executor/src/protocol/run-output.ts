import {
  type ArtifactReply,
  type ArtifactRequest,
  type AttachmentReply,
  INLINE_BYTES_MAX,
  type Job,
  type RunError,
} from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import { replaceNulInJson } from '../masking/log-lines';
import { putBytes } from '../transfer/object-transfer';
import { canExceedSize, InvalidJsonError, parseUntrusted } from '../untrusted/untrusted-json';
import type { FinishedPayload } from './settlement';

/** Asks the service that owns a run for an upload location. */
export interface RunUploads {
  place(job: Job, upload: Pick<ArtifactRequest, 'purpose' | 'name' | 'contentType' | 'size'>): Promise<ArtifactReply>;
  /** Requests an upload location for a file in a model call; its name is its SHA-256. */
  attach(job: Job, upload: Pick<ArtifactRequest, 'name' | 'contentType' | 'size'>): Promise<AttachmentReply>;
}

/**
 * Builds the terminal event of a run that returned: its output masked, inside the event or in the object store.
 * @param warn called if the output does not match the manifest, which must not discard the result
 */
export function buildOutputEvent(
  job: Job,
  json: Buffer,
  redactor: Redactor,
  uploads: RunUploads,
  warn: (text: string) => void,
): FinishedPayload | Promise<FinishedPayload> {
  let output: unknown;
  try {
    output = parseUntrusted(json);
  } catch (err) {
    if (err instanceof InvalidJsonError) return { status: 'failed', error: toRefusedError(err) };
    throw err;
  }
  const problem = findOutputProblem(job, output);
  if (problem) warn(problem);
  output = redactor.json(output);
  if (json.includes('\\u0000')) output = replaceNulInJson(output);
  const { outputBytes } = job.limits;
  if (!canExceedSize(json.length, Math.min(INLINE_BYTES_MAX, outputBytes))) return { status: 'completed', output };
  // The limits apply to the sent and stored form, which may be larger than the run's own output.
  const text = Buffer.from(JSON.stringify(output));
  if (text.length > outputBytes) {
    const message = `The return value is ${text.length} bytes of JSON when stored; the limit is ${outputBytes}.`;
    return { status: 'failed', error: { code: 'output_too_large', message } };
  }
  return text.length <= INLINE_BYTES_MAX ? { status: 'completed', output } : storeOutput(job, text, uploads);
}

function toRefusedError({ problem, message }: InvalidJsonError): RunError {
  if (problem === 'malformed') {
    return { code: 'sandbox', message: `The run produced no result: its output ${message}.` };
  }
  return {
    code: problem === 'too_large' ? 'output_too_large' : 'exception',
    message: `The return value ${message}.`,
  };
}

async function storeOutput(job: Job, text: Buffer, uploads: RunUploads): Promise<FinishedPayload> {
  const contentType = 'application/json';
  try {
    const location = await uploads.place(job, {
      purpose: 'output',
      name: 'output.json',
      contentType,
      size: text.length,
    });
    if ('refused' in location) throw new Error(location.refused);
    await putBytes(location.url, contentType, text);
    return { status: 'completed', outputKey: location.key };
  } catch (err) {
    return {
      status: 'failed',
      error: { code: 'sandbox', message: `The output could not be stored: ${(err as Error).message}` },
    };
  }
}

/**
 * Checks that declared outputs are keys of the output. If there is only one, clients show a bare value under its name.
 */
function findOutputProblem(job: Job, output: unknown): string | null {
  if (!job.outputs?.length) return null;
  const names = job.outputs.map(({ name }) => name);
  if (typeof output !== 'object' || output === null || Array.isArray(output)) {
    if (names.length === 1) return null;
    return `run() returned ${describeType(output)}; the manifest declares the outputs ${names.join(', ')}`;
  }
  const missing = names.filter((name) => !Object.hasOwn(output, name));
  return missing.length ? `run() did not return ${missing.join(', ')}, which the manifest declares` : null;
}

const describeType = (value: unknown) =>
  value === null ? 'None' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
