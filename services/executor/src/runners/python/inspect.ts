import { BadArchive } from '@gantry/archive';
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
const problemCodes = ['syntax_error', 'no_run', 'unreadable'] as const satisfies Problem['code'][];

const names = z.array(z.string().max(200)).max(50);

/** The reply of inspection.py. */
const inspectionAnswer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), parameters: z.array(z.string()), imports: names, secrets: names }),
  z.object({ ok: z.literal(false), code: z.enum(problemCodes), message: z.string() }),
]);

export interface InspectDeps {
  code: CodeStore;
  sandbox: Sandbox;
  isolation: Isolation;
}

/** Inspects an entrypoint without executing it, and leaves its code unpacked for the first run. */
export async function inspect(deps: InspectDeps, request: InspectRequest): Promise<InspectReply> {
  try {
    await deps.code.pin(request.code);
  } catch (err) {
    const code = err instanceof BadArchive ? 'unreadable' : 'unavailable';
    return { ok: false, problem: { code, message: (err as Error).message } };
  }
  try {
    return await parseInSandbox(deps, request);
  } finally {
    deps.code.unpin(request.code);
  }
}

/** A parser is attack surface too: it runs in the same sandbox as runs, without network, and its result is validated. */
async function parseInSandbox({ sandbox, isolation }: InspectDeps, request: InspectRequest): Promise<InspectReply> {
  const spec: SandboxSpec = {
    code: request.code.digest,
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
      job: { op: 'inspect', entrypoint: request.entrypoint, inputs: {}, outputBytes: ANSWER_BYTES_MAX },
    },
    {
      onStream: () => {},
      onLog: () => {},
      onProgress: () => {},
      onCost: () => {},
      openArtifact: async () => ({ refused: 'nothing is executed here' }),
    },
  );
  const answer = outcome.kind === 'returned' ? answerIn(outcome.json) : undefined;
  if (answer?.ok) return answer;
  const problem = answer ?? { code: 'unreadable' as const, message: `${request.entrypoint} could not be parsed` };
  return { ok: false, problem: { code: problem.code, message: problem.message } };
}

function answerIn(json: Buffer): z.infer<typeof inspectionAnswer> | undefined {
  try {
    return inspectionAnswer.parse(parseUntrusted(json));
  } catch {
    return undefined;
  }
}
