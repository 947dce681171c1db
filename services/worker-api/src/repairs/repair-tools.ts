/** Defines the tools of a repair. All but `propose_change` only read, and that one writes only a candidate. */
import { formatIssues } from '@gantry/errors';
import { maskStrings, type Redactor } from '@gantry/masking';
import { findRun, type Run, streamLogLinesBackwards } from '@gantry/run-engine';
import { z } from 'zod';
import { decodeText, type FileTree } from '../file-trees/file-tree';
import { formatJson, truncateText } from '../rehearsals/compare-outputs';
import { parseOutput } from '../runs/output-object';
import type { Definition } from '../workers/definition';
import { toApiStatus } from '../workers/run-status';
import type { RepairDeps } from './repair-deps';

export interface ToolContext {
  deps: RepairDeps;
  run: Run;
  definition: Definition;
  tree: FileTree;
  redactor: Redactor;
  masked: Redactor['text'];
}

const FILE_CHARS_MAX = 60_000;
const LOG_LINES_MAX = 300;
const TEXT_CHARS_MAX = 16_000;
const RUNS_MAX = 20;
const VALUE_CHARS_MAX = 2_000;
/** Takes under a millisecond to parse, and exceeds what is shown: no secret is cut within the shown part. */
const PARSED_BYTES_MAX = 128 * 1024;

const runIdSchema = z.string().min(1).max(64);
const pathSchema = z.string().min(1).max(1_024);

const itemsSchema = z.array(z.union([z.string(), z.record(z.string(), z.unknown())])).max(100);

export const proposalSchema = z.strictObject({
  explanation: z
    .string()
    .trim()
    .min(1)
    .max(4_000)
    .describe('The cause of the failure and what the change does, in Markdown for a person to read'),
  files: z
    .array(
      z.strictObject({
        path: pathSchema,
        content: z.string().max(400_000).optional().describe('The complete new content of the file'),
        delete: z.literal(true).optional(),
      }),
    )
    .max(50)
    .default([]),
  definition: z
    .strictObject({
      python_dependencies: z.array(z.string()).max(50),
      inputs: itemsSchema,
      outputs: itemsSchema,
      limits: z.strictObject({ timeout_seconds: z.int(), memory_mb: z.int() }).partial(),
    })
    .partial()
    .optional(),
});

export type Proposal = z.output<typeof proposalSchema>;

export const PROPOSE_TOOL = 'propose_change';

/** Describes the tools to the model. */
export const TOOLS = {
  read_file: {
    schema: z.strictObject({ path: pathSchema }),
    description: 'Reads the current content of a file in the worker.',
  },
  read_log: {
    schema: z.strictObject({ run_id: runIdSchema.optional() }),
    description: `Reads the last ${LOG_LINES_MAX} log lines of the failed run, or of another run or rehearsal of this worker.`,
  },
  list_runs: {
    schema: z.strictObject({}),
    description: `Lists the worker's last ${RUNS_MAX} runs and how they ended, newest first.`,
  },
  read_run: {
    schema: z.strictObject({ run_id: runIdSchema }),
    description: "Reads the inputs, output and error of one of the worker's runs or rehearsals.",
  },
  [PROPOSE_TOOL]: {
    schema: proposalSchema,
    description:
      'Proposes a changed version of the worker. The platform rehearses it on the failed run and the most recent completed runs, and tells you the outcomes.',
  },
} as const;

export const isReadTool = (name: string): name is Exclude<keyof typeof TOOLS, typeof PROPOSE_TOOL> =>
  Object.hasOwn(TOOLS, name) && name !== PROPOSE_TOOL;

/** @returns untrusted text for the model, to be delimited as data. Never throws for the arguments of the model */
export async function callReadTool(
  context: ToolContext,
  name: Exclude<keyof typeof TOOLS, typeof PROPOSE_TOOL>,
  input: unknown,
): Promise<string> {
  const parsed = TOOLS[name].schema.safeParse(input);
  if (!parsed.success) return `The arguments are invalid: ${formatProblems(parsed.error)}`;
  const arguments_ = parsed.data as { path?: string; run_id?: string };
  switch (name) {
    case 'read_file':
      return formatFile(context, arguments_.path ?? '');
    case 'read_log':
      return readWorkerRun(context, arguments_.run_id, (run) => formatLog(context, run, LOG_LINES_MAX));
    case 'read_run':
      return readWorkerRun(context, arguments_.run_id, (run) => formatRun(context, run));
    case 'list_runs':
      return formatRuns(context);
  }
}

export const formatProblems = (error: z.ZodError): string =>
  formatIssues(error)
    .map(({ path, message }) => `${path}: ${message}`)
    .join('; ');

export function formatFile({ tree, masked }: ToolContext, path: string): string {
  const file = tree.find((one) => one.path === path);
  if (!file)
    return `There is no file "${path.slice(0, 200)}". The files are: ${tree
      .map((one) => one.path)
      .join(', ')
      .slice(0, 2_000)}`;
  const text = decodeText(file.content);
  return text === null ? 'This is not a text file.' : truncateText(masked(text), FILE_CHARS_MAX);
}

/** Reads a run of this worker only; another worker's run is treated as missing. */
async function readWorkerRun(
  { deps, run }: ToolContext,
  id: string | undefined,
  read: (run: Run) => Promise<string>,
): Promise<string> {
  if (id === undefined || id === run.id) return read(run);
  const found = await findRun(deps.pool, run.workspaceId, id);
  return found?.subjectId === run.subjectId ? read(found) : `This worker has no run "${id}".`;
}

/** Formats the last lines, oldest first. Masks before shortening: half a secret would not be recognized. */
export async function formatLog({ deps, masked }: ToolContext, run: Run, linesMax: number): Promise<string> {
  const lines: string[] = [];
  let chars = 0;
  for await (const { data } of streamLogLinesBackwards(deps.pool, run.id, Number.MAX_SAFE_INTEGER)) {
    const line = truncateText(masked(`${data.level} ${data.text}`), VALUE_CHARS_MAX);
    chars += line.length;
    if (lines.length >= linesMax || chars > TEXT_CHARS_MAX) break;
    // Bounded: 300 lines (LOG_LINES_MAX).
    lines.unshift(line);
  }
  return lines.join('\n') || '(nothing was logged)';
}

export async function formatRun(context: ToolContext, run: Run): Promise<string> {
  const { deps, redactor } = context;
  const truncateValue = (text: string) => truncateText(text, VALUE_CHARS_MAX);
  const output = run.status === 'completed' ? await loadOutput(deps, run) : undefined;
  const summary = {
    id: run.id,
    status: toApiStatus(run.status),
    version: run.version,
    trigger: run.trigger,
    inputs: await maskStrings(redactor, run.inputs, truncateValue),
    ...(output !== undefined && { output: await maskStrings(redactor, output, truncateValue) }),
    ...(run.error && { error: formatRunError(context, run) }),
  };
  return formatJson(summary, TEXT_CHARS_MAX);
}

/** Returns the beginning of the JSON of an output that takes long to parse. */
async function loadOutput({ engine }: RepairDeps, run: Run): Promise<unknown> {
  const stored = await engine.loadStoredOutput(run);
  if (!('json' in stored) || stored.json.byteLength <= PARSED_BYTES_MAX) return parseOutput(stored);
  return Buffer.from(stored.json.subarray(0, PARSED_BYTES_MAX)).toString();
}

export const formatRunError = ({ masked }: Pick<ToolContext, 'masked'>, { error }: Run) =>
  error && {
    code: error.code,
    type: error.type ?? null,
    message: truncateText(masked(error.message), VALUE_CHARS_MAX),
    trace: error.trace ? truncateText(masked(error.trace), 8_000) : null,
  };

export async function formatRuns({ deps, run, masked }: ToolContext): Promise<string> {
  const { workspaceId, subjectId } = run;
  const runs = await deps.engine.list(workspaceId, { subjectId, kind: 'run', limit: RUNS_MAX });
  return runs
    .map(({ id, status, version, createdAt, error }) => {
      const why = error ? ` ${error.code}: ${truncateText(masked(error.message), 200)}` : '';
      return `${id} version ${version} ${createdAt.toISOString()} ${toApiStatus(status)}${why}`;
    })
    .join('\n');
}
