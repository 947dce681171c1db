/** Validates the question that a run's code asks a model. */
import { isModelFile, isModelImage, MODEL_FILES_MAX, reasoningEfforts } from '@gantry/events';
import { isDigest } from '@gantry/run-engine';
import type { FilePart, ImagePart, ModelMessage, TextPart, ToolSet } from 'ai';
import { z } from 'zod';

/** The names of tools that providers accept. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const name = z.string().regex(NAME, 'must be 1 to 64 letters, digits, hyphens or underscores');
const id = z.string().min(1).max(200);
/** The size of all is bounded by the protocol. */
const text = z.string();
const object = z.record(z.string(), z.unknown());
const MEDIA_TYPES = 'image/png, image/jpeg, image/gif, image/webp, application/pdf and text/*';

/** The code has handed it over before, see message-files.ts. */
const file = z
  .strictObject({
    type: z.enum(['image', 'file']),
    sha256: z.string().refine(isDigest, 'must be a SHA-256 digest in hexadecimal'),
    media_type: z.string().refine(isModelFile, `must be one of ${MEDIA_TYPES}`),
    name: z.string().max(255).optional(),
  })
  .refine((one) => one.type === 'file' || isModelImage(one.media_type), {
    message: 'is not an image type',
    path: ['media_type'],
  });
export type MessageFile = z.infer<typeof file>;

const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([
      text,
      z
        .array(z.union([z.strictObject({ type: z.literal('text'), text }), file]))
        .min(1)
        .max(50),
    ]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: text,
    tool_calls: z
      .array(z.strictObject({ id, name, arguments: z.unknown() }))
      .max(100)
      .optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: id, content: text }),
]);

export const modelCallRequest = z
  .strictObject({
    system: text.optional(),
    messages: z.array(message).min(1).max(500),
    schema: object.optional(),
    tools: z
      .array(
        z.union([
          z.strictObject({ name, description: text.optional(), parameters: object.optional() }),
          z.strictObject({ connection: id, tool: id.nullish() }),
          z.strictObject({ worker: id }),
        ]),
      )
      .max(64)
      .optional(),
    max_output_tokens: z.int().min(1).max(128_000).optional(),
    temperature: z.number().min(0).max(2).optional(),
    reasoning: z.enum(reasoningEfforts).optional(),
    /** `auto`, `none`, `required`, or a tool as it was named or described. */
    tool_choice: z.string().min(1).max(310).optional(),
  })
  .superRefine(({ messages }, context) => {
    const files = listFiles(messages).length;
    if (files > MODEL_FILES_MAX) {
      const says = `a model call can have at most ${MODEL_FILES_MAX} images and files, but this one has ${files}`;
      context.addIssue({ code: 'custom', path: ['messages'], message: says });
    }
    const known = new Set<string>();
    for (const [index, one] of messages.entries()) {
      for (const call of (one.role === 'assistant' && one.tool_calls) || []) known.add(call.id);
      if (one.role !== 'tool' || known.has(one.tool_call_id)) continue;
      const says = 'matches no tool call in an earlier message; send the response’s `message` before the tool results';
      context.addIssue({ code: 'custom', path: ['messages', index, 'tool_call_id'], message: says });
    }
  });
export type ModelCallRequest = z.infer<typeof modelCallRequest>;

export function listFiles(messages: z.infer<typeof message>[]): MessageFile[] {
  return messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'text' ? [] : [part])),
  );
}

/** Whom the calls of a tool go to. `destructive`: it may overwrite or remove something. */
export type ServedTool =
  | { connection: string; tool: string; destructive: boolean }
  | { worker: string; destructive: boolean };

/** As a model is told of it. */
export interface OfferedTool {
  name: string;
  description?: string | undefined;
  parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Absent: the code that asked carries it out. */
  serves?: ServedTool;
}

/** A model may make up names that providers do not accept. */
export const toProviderToolName = (name: string): string => (NAME.test(name) ? name : 'unknown_tool');

export type ToPart = (file: MessageFile) => TextPart | ImagePart | FilePart;

/** As the AI SDK has them. */
export function toModelMessages(messages: ModelCallRequest['messages'], toPart: ToPart): ModelMessage[] {
  const names = new Map<string, string>();
  return messages.map((one): ModelMessage => {
    if (one.role === 'user') {
      const { role, content } = one;
      if (typeof content === 'string') return { role, content };
      return { role, content: content.map((part) => (part.type === 'text' ? part : toPart(part))) };
    }
    if (one.role === 'tool') {
      const { tool_call_id: toolCallId, content: value } = one;
      const result = { type: 'tool-result' as const, toolCallId, toolName: names.get(toolCallId) ?? 'unknown_tool' };
      return { role: 'tool', content: [{ ...result, output: { type: 'text', value } }] };
    }
    for (const call of one.tool_calls ?? []) names.set(call.id, call.name);
    const calls = (one.tool_calls ?? []).map(({ id: toolCallId, name: toolName, arguments: input }) => ({
      type: 'tool-call' as const,
      toolCallId,
      toolName,
      input,
    }));
    return {
      role: 'assistant',
      content: [...(one.content ? [{ type: 'text' as const, text: one.content }] : []), ...calls],
    };
  });
}

export async function buildToolSet(tools: OfferedTool[]): Promise<ToolSet> {
  const { jsonSchema } = await import('ai');
  return Object.fromEntries(
    tools.map(({ name: own, description, parameters }): [string, ToolSet[string]] => {
      const schema = { type: 'object', properties: {}, ...parameters } as Parameters<typeof jsonSchema>[0];
      return [own, { ...(description !== undefined && { description }), inputSchema: jsonSchema(schema) }];
    }),
  );
}
