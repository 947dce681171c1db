import { type Bus, encode, inspectRequest, listen, runSubjects } from '@gantry/events';
import type { Subscription } from 'nats';
import type { Logger } from 'pino';
import type { Runner } from '../runners/runner';

const QUEUE = 'executors';

/** Answers services' requests to inspect entrypoints. */
export const serveInspections = (deps: { bus: Bus; runner: Pick<Runner, 'inspect'>; log: Logger }): Subscription =>
  listen(
    deps.bus,
    runSubjects.inspect,
    inspectRequest,
    async (request, message) => message.respond(encode(await deps.runner.inspect(request))),
    { queue: QUEUE, log: deps.log },
  );
