import { type Bus, encode, listen, parseExecutorId } from '@gantry/events';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { NOT_HELD, type RunAssignment, type RunTokens } from './run-tokens';

type HeldRunRequest = Omit<RunAssignment, 'executorId'> & { token: string };

/** Answers executors' requests about runs that they hold; a request without a valid token gets `NOT_HELD`. */
export function handleHeldRunRequests<Schema extends z.ZodType<HeldRunRequest>>(
  { bus, tokens, log }: { bus: Bus; tokens: RunTokens; log: Logger },
  { subject, schema, queue }: { subject: string; schema: Schema; queue: string },
  handle: (request: z.infer<Schema> & { executorId: string }) => Promise<unknown>,
): { close(): void } {
  const subscription = listen(
    bus,
    subject,
    schema,
    async (payload, message) => {
      const request = { ...payload, executorId: parseExecutorId(message.subject) };
      message.respond(encode(tokens.isValid(request) ? await handle(request) : NOT_HELD));
    },
    { queue, log },
  );
  return { close: () => subscription.unsubscribe() };
}
