/** Defines the tools of a repair. All but `propose_change` only read, and that one writes only a candidate. */
import { AppError, sayIssues } from '@gantry/http';
import { maskTexts, type Redactor } from '@gantry/masking';
import { type Run, readLinesBackwards } from '@gantry/run-engine';
import { z } from 'zod';
import { shortened, shownJson } from '../candidates/compare-outputs';
import { type FileTree, textOf } from '../file-trees/file-tree';
import { parseOutput } from '../runs/output-object';
import type { Definition } from '../workers/definition';
import { toApiStatus } from '../workers/run-status';
import type { RepairDeps } from './repair-deps';

export interface ReadingFrom {
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

const runId = z.string().min(1).max(64);
const path = z.string().min(1).max(1_024);

const readFile = z.strictObject({ path });
const readLog = z.strictObject({ run_id: runId.optional() });
const readRun = z.strictObject({ run_id: runId });
const listRuns = z.strictObject({});
const items = z.array(z.union([z.string(), z.record(z.string(), z.unknown())])).max(100);

export const proposal = z.strictObject({
  explanation: z
    .string()
    .trim()
    .min(1)
    .max(4_000)
    .describe('The cause of the failure, and what the change does. Markdown, for a person'),
  files: z
    .array(
      z.strictObject({
        path,
        content: z.string().max(400_000).optional().describe('The whole new text of the file'),
        delete: z.literal(true).optional(),
      }),
    )
    .max(50)
    .default([]),
  definition: z
    .strictObject({
      python_dependencies: z.array(z.string()).max(50),
      inputs: items,
      outputs: items,
      limits: z.strictObject({ timeout_seconds: z.int(), memory_mb: z.int() }).partial(),
    })
    .partial()
    .optional(),
});

export type Proposal = z.output<typeof proposal>;

export const PROPOSE = 'propose_change';

/** Describes the tools to the model. */
export const TOOLS = {
  read_file: { schema: readFile, description: 'Reads a file of the worker, as it is now.' },
  read_log: {
    schema: readLog,
    description: `Reads the last ${LOG_LINES_MAX} log lines of the failed run, or of another run or rehearsal of the worker.`,
  },
  list_runs: {
    schema: listRuns,
    description: `Lists the last ${RUNS_MAX} runs of the worker with how they ended, newest first.`,
  },
  read_run: { schema: readRun, description: 'Reads inputs, output and error of a run or rehearsal of the worker.' },
  [PROPOSE]: {
    schema: proposal,
    description:
      'Proposes a changed version of the worker. It is rehearsed on the failed run and on the last runs that completed, and you are told what became of them.',
  },
} as const;

export const isReading = (name: string): name is Exclude<keyof typeof TOOLS, typeof PROPOSE> =>
  Object.hasOwn(TOOLS, name) && name !== PROPOSE;

/** @returns untrusted text for the model, to be delimited as data. Never throws for the arguments of the model */
export async function callReadingTool(
  from: ReadingFrom,
  name: Exclude<keyof typeof TOOLS, typeof PROPOSE>,
  input: unknown,
): Promise<string> {
  const parsed = TOOLS[name].schema.safeParse(input);
  if (!parsed.success) return `The arguments are wrong: ${sayProblems(parsed.error)}`;
  const given = parsed.data as { path?: string; run_id?: string };
  switch (name) {
    case 'read_file':
      return fileText(from, given.path ?? '');
    case 'read_log':
      return ofRun(from, given.run_id, (run) => logText(from, run, LOG_LINES_MAX));
    case 'read_run':
      return ofRun(from, given.run_id, (run) => runText(from, run));
    case 'list_runs':
      return runsText(from);
  }
}

export const sayProblems = (error: z.ZodError): string =>
  sayIssues(error)
    .map(({ path, message }) => `${path}: ${message}`)
    .join('; ');

export function fileText({ tree, masked }: ReadingFrom, path: string): string {
  const file = tree.find((one) => one.path === path);
  if (!file)
    return `There is no file "${path.slice(0, 200)}". There are: ${tree
      .map((one) => one.path)
      .join(', ')
      .slice(0, 2_000)}`;
  const text = textOf(file.content);
  return text === null ? 'This file is not text.' : shortened(masked(text), FILE_CHARS_MAX);
}

/** Reads a run of this worker only; another worker's run is treated as missing. */
async function ofRun(
  { deps, run }: ReadingFrom,
  id: string | undefined,
  read: (run: Run) => Promise<string>,
): Promise<string> {
  if (id === undefined || id === run.id) return read(run);
  const found = await deps.engine.get(run.workspaceId, id).catch((err) => {
    if (err instanceof AppError) return null;
    throw err;
  });
  return found?.subjectId === run.subjectId ? read(found) : `There is no run "${id}" of this worker.`;
}

/** Formats the last lines, oldest first. Masks before shortening: half a secret would not be recognized. */
export async function logText({ deps, masked }: ReadingFrom, run: Run, linesMax: number): Promise<string> {
  const lines: string[] = [];
  let chars = 0;
  for await (const { data } of readLinesBackwards(deps.pool, run.id, Number.MAX_SAFE_INTEGER)) {
    const line = shortened(masked(`${data.level} ${data.text}`), VALUE_CHARS_MAX);
    chars += line.length;
    if (lines.length >= linesMax || chars > TEXT_CHARS_MAX) break;
    // Bounded: 300 lines (LOG_LINES_MAX).
    lines.unshift(line);
  }
  return lines.join('\n') || '(nothing was logged)';
}

export async function runText(from: ReadingFrom, run: Run): Promise<string> {
  const { deps, redactor } = from;
  const shorten = (text: string) => shortened(text, VALUE_CHARS_MAX);
  const output = run.status === 'completed' ? await readableOutput(deps, run) : undefined;
  const said = {
    ...{ id: run.id, status: toApiStatus(run.status), version: run.version, trigger: run.trigger },
    inputs: await maskTexts(redactor, run.inputs, shorten),
    ...(output !== undefined && { output: await maskTexts(redactor, output, shorten) }),
    ...(run.error && { error: errorOf(from, run) }),
  };
  return shownJson(said, TEXT_CHARS_MAX);
}

/** Returns the beginning of the JSON of an output that takes long to parse. */
async function readableOutput({ engine }: RepairDeps, run: Run): Promise<unknown> {
  const stored = await engine.storedOutput(run);
  if (!('json' in stored) || stored.json.byteLength <= PARSED_BYTES_MAX) return parseOutput(stored);
  return Buffer.from(stored.json.subarray(0, PARSED_BYTES_MAX)).toString();
}

export const errorOf = ({ masked }: Pick<ReadingFrom, 'masked'>, { error }: Run) =>
  error && {
    code: error.code,
    type: error.type ?? null,
    message: shortened(masked(error.message), VALUE_CHARS_MAX),
    trace: error.trace ? shortened(masked(error.trace), 8_000) : null,
  };

export async function runsText({ deps, run, masked }: ReadingFrom): Promise<string> {
  const { workspaceId, subjectId } = run;
  const runs = await deps.engine.list(workspaceId, { subjectId, kind: 'run', limit: RUNS_MAX });
  return runs
    .map(({ id, status, version, createdAt, error }) => {
      const why = error ? ` ${error.code}: ${shortened(masked(error.message), 200)}` : '';
      return `${id} version ${version} ${createdAt.toISOString()} ${toApiStatus(status)}${why}`;
    })
    .join('\n');
}
