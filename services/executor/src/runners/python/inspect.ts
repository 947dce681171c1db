import { BadArchiveError } from '@gantry/archive';
import type { InspectReply, InspectRequest } from '@gantry/events';
import { z } from 'zod';
import type { Isolation, Sandbox } from '../../sandbox/sandbox';
import { type SandboxSpec, TMP_BYTES_DEFAULT } from '../../sandbox/settings';
import type { CodeStore } from '../../store/code-store';
import { parseUntrusted } from '../../untrusted/untrusted-json';
import { runInChild } from './run-in-child';

const LIMITS = { wallMs: 10_000, memoryBytes: 256 << 20, processes: 4 };
const ANSWER_BYTES_MAX = 256 * 1024;

type Problem = NonNullable<InspectReply['problem']>;
type Draft = NonNullable<InspectRequest['draft']>;
type Toml = NonNullable<InspectRequest['toml']>;
const problemCodes = ['syntax_error', 'no_run', 'unreadable'] as const satisfies Problem['code'][];

const nameList = z.array(z.string().max(200)).max(50);
const position = { line: z.int().min(1).nullable(), column: z.int().min(1).nullable() };

/** The reply of inspection.py. */
const inspectionReply = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), parameters: z.array(z.string()), imports: nameList, secrets: nameList }),
  z.object({ ok: z.literal(false), code: z.enum(problemCodes), message: z.string() }),
]);

const kinds = ['parameter', 'import', 'secret'] as const;
const draftReply = z.object({
  parameters: nameList,
  imports: nameList,
  secrets: nameList,
  problems: z
    .array(
      z.object({
        code: z.enum(problemCodes),
        path: z.string().max(1_024),
        ...position,
        message: z.string().max(1_000),
      }),
    )
    .max(100),
  places: z.array(z.object({ kind: z.enum(kinds), name: z.string().max(200), ...position })).max(150),
});

const tomlReply = z.union([
  z.object({ dependencies: z.array(z.string().max(1_000)).max(1_000).nullable() }),
  z.object({ problem: z.string().max(1_000), line: z.int().min(1).nullable() }),
]);

export interface InspectDeps {
  code: CodeStore;
  sandbox: Sandbox;
  isolation: Isolation;
}

/** Inspects an entrypoint without executing it. Leaves stored code unpacked for the first run. */
export async function inspect(deps: InspectDeps, request: InspectRequest): Promise<InspectReply> {
  const { entrypoint, code, draft, toml } = request;
  if (draft) return inspectDraft(deps, entrypoint, draft);
  if (toml) return inspectToml(deps, toml);
  if (!code) return buildUnreadableReply(entrypoint);
  try {
    await deps.code.pin(code);
  } catch (err) {
    const reason = err instanceof BadArchiveError ? 'unreadable' : 'unavailable';
    return { ok: false, problem: { code: reason, message: (err as Error).message } };
  }
  try {
    const json = await parseInSandbox(deps, code.digest, { entrypoint });
    const answer = json && parseReply(json, inspectionReply);
    if (answer?.ok) return answer;
    return answer
      ? { ok: false, problem: { code: answer.code, message: answer.message } }
      : buildUnreadableReply(entrypoint);
  } finally {
    deps.code.unpin(code);
  }
}

async function inspectDraft(deps: InspectDeps, entrypoint: string, draft: Draft): Promise<InspectReply> {
  const json = await parseInSandbox(deps, null, { entrypoint, draft });
  const answer = json && parseReply(json, draftReply);
  return answer ? { ok: answer.problems.length === 0, ...answer } : buildUnreadableReply(entrypoint);
}

async function inspectToml(deps: InspectDeps, toml: Toml): Promise<InspectReply> {
  const json = await parseInSandbox(deps, null, { entrypoint: '', toml });
  const answer = json && parseReply(json, tomlReply);
  return answer ? { ok: !('problem' in answer), toml: answer } : buildUnreadableReply('the document');
}

const buildUnreadableReply = (entrypoint: string): InspectReply => ({
  ok: false,
  problem: { code: 'unreadable', message: `${entrypoint} could not be parsed` },
});

/**
 * A parser is attack surface too: it runs in the same sandbox as runs, without network, and its result is validated.
 */
async function parseInSandbox(
  { sandbox, isolation }: InspectDeps,
  code: string | null,
  source: { entrypoint: string; draft?: Draft; toml?: Toml },
): Promise<Buffer | undefined> {
  const spec: SandboxSpec = {
    code,
    deps: null,
    egress: false,
    tmpBytes: TMP_BYTES_DEFAULT,
    cpuSeconds: 5,
    limits: { DATA: LIMITS.memoryBytes, NPROC: LIMITS.processes, FSIZE: TMP_BYTES_DEFAULT },
  };
  const child = await sandbox.acquire(isolation, spec);
  const { outcome } = await runInChild(
    child,
    {
      spec,
      limits: LIMITS,
      job: { op: 'inspect', ...source, inputs: {}, outputBytes: ANSWER_BYTES_MAX },
    },
    {
      onStream: () => {},
      onLog: () => {},
      onProgress: () => {},
      onCost: () => {},
      openArtifact: async () => ({ refused: 'code is not executed during inspection' }),
    },
  );
  return outcome.kind === 'returned' ? outcome.json : undefined;
}

function parseReply<Answer extends z.ZodType>(json: Buffer, answer: Answer): z.infer<Answer> | undefined {
  try {
    return answer.parse(parseUntrusted(json));
  } catch {
    return undefined;
  }
}
