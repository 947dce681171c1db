/** Parses messages from inside a sandbox, whose values may be of any type. */
import { DEPTH_MAX, parseUntrusted } from './untrusted-json';

/** A suspension nests its payload two levels down. */
const MESSAGE_DEPTH_MAX = DEPTH_MAX + 2;

/** Parses a frame. @throws if it is not an object, or nested too deeply */
export function parseMessage(body: Buffer, depthMax = MESSAGE_DEPTH_MAX): Record<string, unknown> {
  let message: unknown;
  try {
    message = parseUntrusted(body, depthMax);
  } catch (err) {
    throw new Error(`a frame ${(err as Error).message}`);
  }
  if (typeof message !== 'object' || message === null) throw new Error('a frame is not an object');
  return message as Record<string, unknown>;
}

export function throwUnexpected(message: Record<string, unknown>): never {
  throw new Error(`unexpected ${JSON.stringify(message).slice(0, 200)}`);
}

export const parseText = (value: unknown, charsMax: number): string =>
  typeof value === 'string' ? value.slice(0, charsMax) : '';

export const parseOptionalText = (value: unknown, charsMax: number): string | null =>
  typeof value === 'string' ? value.slice(0, charsMax) : null;

/** Clamps a number: impossible values would otherwise be stored, summed and charged. */
export const clampCount = (value: unknown, max: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.min(value, max) : 0;

export const clampFraction = (value: unknown): number => clampCount(value, 1);

export function parseFields(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    const fields = parseUntrusted(Buffer.from(value));
    return typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? { ...fields } : undefined;
  } catch {
    return { fields: value };
  }
}
