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

export function unexpected(message: Record<string, unknown>): never {
  throw new Error(`unexpected ${JSON.stringify(message).slice(0, 200)}`);
}

export const text = (value: unknown, charsMax: number): string =>
  typeof value === 'string' ? value.slice(0, charsMax) : '';

export const optionalText = (value: unknown, charsMax: number): string | null =>
  typeof value === 'string' ? value.slice(0, charsMax) : null;

/** Clamps a number: impossible values would otherwise be stored, summed and charged. */
export const count = (value: unknown, most: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.min(value, most) : 0;

export const fraction = (value: unknown): number => count(value, 1);

export function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    const fields = parseUntrusted(Buffer.from(value));
    return typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? { ...fields } : undefined;
  } catch {
    return { fields: value };
  }
}
