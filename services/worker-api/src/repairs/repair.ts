/** Maps repairs to the API. */
import { toApiFields } from '@gantry/http';
import type { SurfaceSchemas } from '@gantry/openapi';
import type { Repair as RepairRow } from '../generated/prisma/client';
import type { ResponsePart } from '../models/read-model-response';
import { truncateText } from '../rehearsals/compare-outputs';

export type RepairStatus = 'working' | 'rehearsing' | 'waiting' | 'approved' | 'rejected' | 'failed' | 'stopped';

export interface Repair extends Omit<RepairRow, 'fingerprint' | 'leasedBy' | 'leasedUntil'> {
  status: RepairStatus;
}

/** A response of the model, or the results of its tool calls. The first message describes the failed run. */
export type Message =
  | { role: 'user'; content: { text: string } }
  | { role: 'assistant'; content: ResponsePart[] }
  | { role: 'tool'; content: ToolResult[] };

export interface ToolResult {
  /** The model's own name for the call. */
  modelCallId: string;
  name: string;
  text: string;
}

export const repairToApi = (
  repair: Repair,
  workerId: string,
  messages: Message[],
  usage: SurfaceSchemas<'worker'>['Repair']['usage'],
) => ({
  ...toApiFields(repair, 'id', 'runId', 'status', 'proven', 'model', 'instructions', 'explanation', 'error'),
  ...toApiFields(repair, 'candidateId', 'approvalId', 'createdBy', 'createdAt', 'endedAt'),
  worker_id: workerId,
  steps: listSteps(messages),
  usage,
});

const STEPS_MAX = 100;
const STEP_CHARS_MAX = 200;

const listSteps = (messages: Message[]): string[] =>
  messages
    .flatMap(({ role, content }) => (role === 'assistant' ? content : []))
    .flatMap((part) =>
      part.type === 'tool-call' ? [truncateText(describeStep(part.toolName, part.input), STEP_CHARS_MAX)] : [],
    )
    .slice(0, STEPS_MAX);

function describeStep(name: string, input: unknown): string {
  const {
    path,
    run_id: runId,
    files,
  } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
  switch (name) {
    case 'read_file':
      return `Read ${path}`;
    case 'read_log':
      return runId === undefined ? 'Read the log' : `Read the log of ${runId}`;
    case 'list_runs':
      return 'Looked at recent runs';
    case 'read_run':
      return `Read run ${runId}`;
    case 'propose_change':
      return `Proposed a change${formatPaths(files)}`;
    default:
      return 'Requested a tool that is not available';
  }
}

function formatPaths(files: unknown): string {
  const paths = Array.isArray(files) ? files.map((file) => (file as { path?: unknown } | null)?.path) : [];
  return paths.length ? ` of ${paths.join(', ')}` : '';
}
