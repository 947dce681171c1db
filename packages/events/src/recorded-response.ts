/** Recorded responses to writing requests, which a rehearsal of the run replays instead of writing again: ADR 48. */
import { z } from 'zod';

/** Size of one decoded response. A larger one is not recorded: code could not tell a part from the whole. */
export const RESPONSE_BYTES_MAX = 16 * 1024;
/** Limits per attempt, and per rehearsal. */
export const RESPONSES_MAX = { count: 64, bytes: 256 * 1024 };
export const TARGET_CHARS_MAX = 2_048;

/** In base64 unless the bytes are text. */
const BODY_CHARS_MAX = Math.ceil(RESPONSE_BYTES_MAX / 3) * 4;

/** Stored with the request's event. Masked like all data that leaves an executor. */
export const recordedResponse = z.object({
  /** Path and query of the request; placeholders of credentials stand there as `{name}`. */
  target: z.string().max(TARGET_CHARS_MAX),
  contentType: z.string().max(255).nullable(),
  /** Target of a redirect, or address of the created resource. */
  location: z.string().max(TARGET_CHARS_MAX).optional(),
  body: z.string().max(BODY_CHARS_MAX),
  encoding: z.enum(['text', 'base64']),
});
export type RecordedResponse = z.infer<typeof recordedResponse>;

/** Answers the next writing request of a rehearsal with this method and address. */
export const replayableResponse = recordedResponse.extend({
  /** Sequence number of the event. */
  id: z.int(),
  method: z.string(),
  scheme: z.enum(['http', 'https']),
  host: z.string(),
  port: z.int(),
  status: z.int().min(200).max(599),
});
export type ReplayableResponse = z.infer<typeof replayableResponse>;
