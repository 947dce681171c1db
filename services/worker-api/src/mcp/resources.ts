/** Resources that clients read beside calling tools: each is a read of the HTTP API with the caller's own credential. */
import type { ApiClient, ApiRequest, ApiResponse } from '@gantry/http';
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { Toolset } from './tool';
import { getDetail } from './tool-result';

interface Template {
  toolset: Toolset;
  uriTemplate: string;
  name: string;
  description: string;
  mimeType: string;
  /** Each group is a part of the request's path. */
  pattern: RegExp;
  request: (...parts: string[]) => Pick<ApiRequest, 'surface' | 'path'>;
  /** Takes the text out of the answer. Default: all of it. */
  textOf?: (body: unknown) => string;
}

const SEGMENT_PATTERN = '([A-Za-z0-9._~%-]{1,200})';

const TEMPLATES: readonly Template[] = [
  {
    toolset: 'runs',
    uriTemplate: 'gantry://runs/{run_id}/log',
    name: 'Run log',
    description: 'All log lines as text.',
    mimeType: 'text/plain',
    pattern: new RegExp(`^gantry://runs/${SEGMENT_PATTERN}/log$`),
    request: (runId) => ({ surface: 'worker', path: `/api/runs/${runId}/logs?format=text` }),
  },
  {
    toolset: 'runs',
    uriTemplate: 'gantry://runs/{run_id}/artifacts/{artifact_id}',
    name: 'Run file',
    description: 'A text file created by the run. `get_run` lists the files.',
    mimeType: 'text/plain',
    pattern: new RegExp(`^gantry://runs/${SEGMENT_PATTERN}/artifacts/${SEGMENT_PATTERN}$`),
    request: (runId, artifactId) => ({
      surface: 'worker',
      path: `/api/runs/${runId}/artifacts/${artifactId}/download`,
    }),
  },
  {
    toolset: 'skills',
    uriTemplate: 'gantry://skills/{slug}',
    name: 'Skill',
    description: 'The Markdown text of a skill. Use `search_skills` to find skills.',
    mimeType: 'text/markdown',
    pattern: new RegExp(`^gantry://skills/${SEGMENT_PATTERN}$`),
    request: (slug) => ({ surface: 'skills', path: `/api/v1/skills/${slug}` }),
    textOf: (body) => (body as { body_md: string }).body_md,
  },
];

export interface ReadContext {
  /** Sets that the address names: what is not offered as a tool is not read either. */
  toolsets: readonly string[];
  client: ApiClient;
  signal: AbortSignal;
}

const filterTemplates = ({ toolsets }: Pick<ReadContext, 'toolsets'>): Template[] =>
  TEMPLATES.filter(({ toolset }) => toolsets.includes(toolset));

export const listTemplates = (context: Pick<ReadContext, 'toolsets'>) =>
  filterTemplates(context).map(({ uriTemplate, name, description, mimeType }) => ({
    uriTemplate,
    name,
    description,
    mimeType,
  }));

const LISTED_MAX = 20;

/** Logs of the newest runs that the caller sees. @throws ProtocolError in the words of the API */
export async function listResources({ toolsets, client, signal }: ReadContext): Promise<Resource[]> {
  if (!toolsets.includes('runs')) return [];
  const path = `/api/runs?limit=${LISTED_MAX}`;
  const { status, body } = await client({ surface: 'worker', method: 'GET', path, signal });
  if (status !== 200) throw new ProtocolError(ProtocolErrorCode.InternalError, getDetail(body));
  return (body as { id: string; worker_id: string; status: string }[]).map((run) => ({
    uri: `gantry://runs/${run.id}/log`,
    name: `Log of ${run.id}`,
    description: `Log of a run of worker ${run.worker_id} (run status: ${run.status}).`,
    mimeType: 'text/plain',
  }));
}

/** @throws ResourceNotFoundError; ProtocolError for what is refused or is no text */
export async function readResource(uri: string, context: ReadContext): Promise<ReadResourceResult> {
  for (const { pattern, request, textOf } of filterTemplates(context)) {
    const [, ...parts] = pattern.exec(uri) ?? [];
    if (parts.length === 0) continue;
    const encoded = parts.map(encodeSegment);
    if (encoded.includes(undefined)) break;
    const response = await context.client({
      ...request(...(encoded as string[])),
      method: 'GET',
      signal: context.signal,
    });
    if (response.status === 404) break;
    if (response.status !== 200) throw new ProtocolError(ProtocolErrorCode.InvalidParams, getDetail(response.body));
    const mimeType = textOf ? 'text/markdown' : getMediaType(response);
    return { contents: [{ uri, mimeType, text: textOf ? textOf(response.body) : getText(response) }] };
  }
  throw new ResourceNotFoundError(uri);
}

/** Undefined for a part that would lead to another path. */
function encodeSegment(part: string): string | undefined {
  try {
    const plain = decodeURIComponent(part);
    return plain === '.' || plain === '..' ? undefined : encodeURIComponent(plain);
  } catch {
    return undefined;
  }
}

const getMediaType = ({ headers }: ApiResponse): string => headers.get('content-type')?.split(';')[0] ?? 'text/plain';

function getText(response: ApiResponse): string {
  const { body } = response;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  // Bytes that are no UTF-8 have become this character.
  if (!text.includes('\uFFFD') && !text.includes('\0')) return text;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `this file of type ${getMediaType(response)} can't be read as text; download it instead`,
  );
}
