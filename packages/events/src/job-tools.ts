/** Tools that the code of a run may call, and the agent that works in place of code. */
import { z } from 'zod';

/** Kept as it is: a record of zod would leave out a key that is named `__proto__`. */
export const jsonObject = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** A connection whose tools the code may call. */
export const jobTools = z.object({
  /** As the worker declares it: `context.tools[name]`. */
  name: z.string().min(1).max(128),
  /** Names of its tools, as they were known when the job was made; null: unknown. More may be called. */
  tools: z.array(z.string().max(200)).max(1_000).nullable(),
});
export type JobTools = z.infer<typeof jobTools>;

/** Whether a person sees the arguments of an agent's tool before it is called; `destructive`: where the tool may overwrite or remove. */
export const approvalRules = ['always', 'destructive', 'never'] as const;

const approve = z.enum(approvalRules);

/** A model works on a skill instead of code: see the executor's agent.py. */
export const jobAgent = z.object({
  /** Path of the file that says what to do. */
  skill: z.string().min(1).max(1_024),
  /** Null: the operator's default. */
  model: z.string().max(200).nullable(),
  maxTurns: z.int().min(1).max(100),
  tools: z
    .array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.enum(['python', 'http', 'ask_person']), approve }),
        z.object({ kind: z.literal('worker'), worker: z.string().max(200), approve }),
        z.object({ kind: z.literal('context'), context: z.string().max(64), approve }),
        /** Null: all tools of the connection. */
        z.object({
          ...{ kind: z.literal('connection'), connection: jobTools.shape.name },
          ...{ tool: z.string().max(200).nullable(), approve },
        }),
      ]),
    )
    .max(50),
  /** JSON Schema of the result; null: the model's words. */
  output: jsonObject.nullable(),
});
export type JobAgent = z.infer<typeof jobAgent>;

/** Tokens and cost of one call of a model. */
export const modelUsage = z.object({
  model: z.string().max(320),
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  /** In US dollars; null: the model has no price. */
  usd: z.number().min(0).nullable(),
});
export type ModelUsage = z.infer<typeof modelUsage>;
