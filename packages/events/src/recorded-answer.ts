/** Answers to writing requests, kept so that a rehearsal of the run gets them in place of writing again: ADR 48. */
import { z } from 'zod';

/** Of one answer, decoded. A longer one is not kept: code could not tell a part from the whole. */
export const ANSWER_BYTES_MAX = 16 * 1024;
/** Of one attempt, and of what a rehearsal is given. */
export const ANSWERS_MAX = { count: 64, bytes: 256 * 1024 };
export const TARGET_CHARS_MAX = 2_048;

/** In base64 unless the bytes are text. */
const BODY_CHARS_MAX = Math.ceil(ANSWER_BYTES_MAX / 3) * 4;

/** On the event of the request. Masked like all that leaves an executor. */
export const keptAnswer = z.object({
  /** Path and query of the request; placeholders of credentials stand there as `{name}`. */
  target: z.string().max(TARGET_CHARS_MAX),
  contentType: z.string().max(255).nullable(),
  /** Of a redirect, or of what was made. */
  location: z.string().max(TARGET_CHARS_MAX).optional(),
  body: z.string().max(BODY_CHARS_MAX),
  encoding: z.enum(['text', 'base64']),
});
export type KeptAnswer = z.infer<typeof keptAnswer>;

/** Answers the next writing request of a rehearsal with this method and address. */
export const recordedAnswer = keptAnswer.extend({
  /** Number of the event. */
  id: z.int(),
  method: z.string(),
  scheme: z.enum(['http', 'https']),
  host: z.string(),
  port: z.int(),
  status: z.int().min(200).max(599),
});
export type RecordedAnswer = z.infer<typeof recordedAnswer>;
