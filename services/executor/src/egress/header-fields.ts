/** Reads header fields of messages in intercepted tunnels, and drops hop-by-hop ones (RFC 9110, section 7.6.1). */
import { EgressRefusedError, MALFORMED } from './egress-refused-error';

/** Latin1, like Node's headers: a character is a byte. */
export interface Field {
  /** In lower case. */
  name: string;
  value: string;
  /** The name as it was written. */
  as: string;
}

/** Valid for one connection only. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);
/** Allowed in requests: another option could name a field that the host must see, such as Host or Content-Length. */
const REQUEST_OPTIONS = new Set(['close', 'keep-alive', 'upgrade', 'te']);
/** A host can't drop them from its response by naming them: they delimit and describe the message. */
const NEVER_DROPPED = new Set(['content-encoding', 'content-length', 'content-range', 'content-type', 'host']);

/** @param raw names and values in turn, as Node and undici have them */
export function toFields(raw: readonly (string | Buffer)[]): Field[] {
  const texts = raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
  return texts.flatMap((as, i) => (i % 2 ? [] : [{ name: as.toLowerCase(), as, value: texts[i + 1] ?? '' }]));
}

/** Returns every value of one field, joined as a list. */
export function getFieldValue(fields: Field[], name: string): string | undefined {
  const values = fields.filter((field) => field.name === name).map(({ value }) => value);
  return values.length ? values.join(', ') : undefined;
}

const parseConnectionOptions = (fields: Field[]): string[] =>
  (getFieldValue(fields, 'connection') ?? '')
    .toLowerCase()
    .split(',')
    .map((option) => option.trim())
    .filter(Boolean);

/** @throws Refused */
export function assertConnectionOptions(fields: Field[]): void {
  if (parseConnectionOptions(fields).every((option) => REQUEST_OPTIONS.has(option))) return;
  throw new EgressRefusedError(400, 'the Connection header can list only close, keep-alive, upgrade and te', MALFORMED);
}

export function listEndToEnd(fields: Field[]): Field[] {
  const named = new Set(parseConnectionOptions(fields).filter((option) => !NEVER_DROPPED.has(option)));
  return fields.filter(({ name }) => !HOP_BY_HOP.has(name) && !named.has(name));
}
