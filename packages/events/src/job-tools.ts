/** Tools that the code of a run may call, and the agent that runs in place of code. */
import { z } from 'zod';

/** Passes the object unchanged: zod's record would drop a key that is named `__proto__`. */
export const jsonObject = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** A connection whose tools the code may call. */
export const jobTools = z.object({
  /** As the worker declares it: `context.tools[name]`. */
  name: z.string().min(1).max(128),
  /** Names of its tools when the job was created; null: unknown. More may be called. */
  tools: z.array(z.string().max(200)).max(1_000).nullable(),
});
export type JobTools = z.infer<typeof jobTools>;

/**
 * Which tool calls of an agent wait for an approval of their arguments; `destructive`: only tools that may overwrite or
 * remove.
 */
export const approvalRules = ['always', 'destructive', 'never'] as const;

/** Reasoning effort of a model, where its provider supports it. */
export const reasoningEfforts = ['low', 'medium', 'high'] as const;

const approve = z.enum(approvalRules);

/** A model works on a skill instead of code: see the executor's agent.py. */
export const jobAgent = z.object({
  /** Path of the file with the instructions. */
  skill: z.string().min(1).max(1_024),
  /** Skills that it loads when it needs them. Absent: none. */
  skills: z
    .array(
      z.object({ name: z.string().min(1).max(64), description: z.string().max(1_024), folder: z.string().max(1_024) }),
    )
    .max(20)
    .optional(),
  /** Null: the operator's default. */
  model: z.string().max(200).nullable(),
  maxTurns: z.int().min(1).max(100),
  /** For each model call; absent: the provider's default. */
  temperature: z.number().min(0).max(2).optional(),
  reasoning: z.enum(reasoningEfforts).optional(),
  /** For the first call. */
  toolChoice: z.string().max(310).optional(),
  tools: z
    .array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.enum(['python', 'http', 'ask_person']), approve }),
        z.object({ kind: z.literal('worker'), worker: z.string().max(200), approve }),
        z.object({ kind: z.literal('context'), context: z.string().max(64), approve }),
        /** Null: all tools of the connection. */
        z.object({
          kind: z.literal('connection'),
          connection: jobTools.shape.name,
          tool: z.string().max(200).nullable(),
          approve,
        }),
      ]),
    )
    .max(50),
  /** JSON Schema of the result; null: the model's text. */
  output: jsonObject.nullable(),
  /** Earlier messages of a conversation whose latest is the input `message`. Absent: the run belongs to none. */
  conversation: z
    .object({
      messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string().max(9_000) })).max(80),
      /** Number of older messages that the agent is not given. */
      leftOut: z.int().min(0),
    })
    .optional(),
});
export type JobConversation = NonNullable<z.infer<typeof jobAgent>['conversation']>;
export type JobAgent = z.infer<typeof jobAgent>;

/** Calls per approval. */
export const PENDING_CALLS_MAX = 20;

/** A tool call of an agent that waits for an approval. */
export const pendingCall = z.object({
  /** Id in the stream and the transcript of its run. */
  id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** The called tool or worker; null: the agent's program executes the call. */
  serves: z
    .union([
      z.object({ connection: jobTools.shape.name, tool: z.string().max(200) }),
      z.object({ worker: z.string().max(200) }),
    ])
    .nullable(),
  /** JSON Schema of the arguments of a tool that the agent's program executes. */
  parameters: jsonObject.nullable(),
});
export type PendingCall = z.infer<typeof pendingCall>;

/** Tokens and cost of one call of a model. */
export const modelUsage = z.object({
  model: z.string().max(320),
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  /** In US dollars; null: the model has no price. */
  usd: z.number().min(0).nullable(),
});
export type ModelUsage = z.infer<typeof modelUsage>;
