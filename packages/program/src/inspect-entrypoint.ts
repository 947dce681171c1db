import { type Bus, type InspectReply, type InspectRequest, inspectReply, request, runSubjects } from '@gantry/events';
import { AppError } from '@gantry/http';
import type { InputItem } from './items';

const TIMEOUT_MS = 10_000;

/** Parameters by which code takes all inputs as one dict, or the context: contract.md, The Python side. */
const DICT_PARAMETERS = new Set(['inputs', 'input', 'data', 'event', 'payload', 'params']);
const CONTEXT_PARAMETERS = new Set(['context', 'ctx']);

/**
 * Has an executor parse the entrypoint; nothing of it is executed, and nothing of it is parsed in this process.
 * @returns the names of run()'s parameters. @throws AppError 400 `no_run`, `syntax_error`; 503 with no executor to ask
 */
export async function inspectEntrypoint(bus: Bus, question: InspectRequest): Promise<string[]> {
  const reply = await ask(bus, question);
  if (reply.ok) return reply.parameters ?? [];
  const { code, message } = reply.problem ?? { code: 'unavailable' as const, message: 'the executor said nothing' };
  if (code === 'unavailable') throw noExecutor(new Error(message));
  throw new AppError('invalid', code, `entrypoint: ${message}`, { fields: [{ path: 'entrypoint', message }] });
}

async function ask(bus: Bus, question: InspectRequest): Promise<InspectReply> {
  try {
    return await request(bus, runSubjects.inspect, question, inspectReply, TIMEOUT_MS);
  } catch (cause) {
    throw noExecutor(cause);
  }
}

const noExecutor = (cause: unknown) =>
  new AppError('unavailable', 'no_executor', 'no executor is connected that could look for run(); try again shortly', {
    cause,
    retryAfterSeconds: 5,
  });

/** Parameters that no input fills: perhaps they have a default, perhaps somebody mistyped. */
export function parameterWarnings(parameters: string[], inputs: InputItem[]): string[] {
  const own = parameters.filter((name) => !CONTEXT_PARAMETERS.has(name) && !name.startsWith('*'));
  if (own.length === 1 && DICT_PARAMETERS.has(own[0] as string)) return [];
  const known = new Set(inputs.map(({ name }) => name));
  return own
    .filter((name) => !known.has(name))
    .map((name) => `run() has a parameter "${name}" that is no input of the manifest`);
}
