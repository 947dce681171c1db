/**
 * Handles requests of a rehearsal: those that only read are forwarded under the rules of the run, unless no person has
 * read the code, and no other reaches a host. If the rehearsed run has made the same request, its response is replayed.
 */
import type { ServerResponse } from 'node:http';
import type { ReplayableResponse } from '@gantry/events';
import { EgressRefusedError, NOT_RECORDED, REHEARSAL_HEADER } from './egress-refused-error';
import type { Exchange } from './network-request';

export type WriteRequest = Pick<ReplayableResponse, 'method' | 'scheme' | 'host' | 'port' | 'target'>;

/** Returns the next recorded response to this request; null: none, or none is left. */
export type FindRecordedResponse = (request: WriteRequest) => ReplayableResponse | null;

const READ_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/**
 * Headers and parameters that override the method at some hosts. CGI reads `_` as `-`, and some frameworks lead with
 * one.
 */
const OVERRIDES = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'http-method',
  'method-override',
]);
const WRITE_METHOD = /^(post|put|patch|delete|merge)$/i;
const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const JSON_TYPE = /\bjson\b/i;
/** Behind spaces and a byte order mark. */
const JSON_START = /^[^\x21-\x7e]*[{[]/;
const OVERRIDE_NAME = /_method|http[-_]method|method[-_]override/i;

export interface WriteCandidate {
  method: string;
  /** Path and query. */
  target: string;
  /** Names, in any case. */
  headers?: string[];
  /** Undefined: there is no body, or it has no type. */
  contentType?: string | undefined;
  /** Undefined: there is none, or it has not been read yet. Null: it can't be read. */
  body?: Buffer | null | undefined;
}

/**
 * Returns whether a host may do more than read. The body of a reading request may override the method, too: a host need
 * not heed its type.
 */
export const isWriteRequest = ({ method, target, headers = [], contentType = '', body }: WriteCandidate): boolean =>
  !READ_METHODS.has(method) ||
  headers.some((name) => OVERRIDES.has(normalizeName(name))) ||
  overridesMethodInQuery(target) ||
  FORM.test(contentType) ||
  (body !== undefined && overridesMethodInBody(body, contentType));

const normalizeName = (name: string): string => name.toLowerCase().replaceAll('_', '-').replace(/^-/, '');

const isOverride = (name: string, value: unknown): boolean =>
  name.startsWith('_method') ||
  OVERRIDES.has(normalizeName(name)) ||
  (/method$/i.test(name) && typeof value === 'string' && WRITE_METHOD.test(value));

function overridesMethodInQuery(target: string): boolean {
  const at = target.indexOf('?');
  if (at < 0) return false;
  // Rack 2 and some CGI parsers separate parameters by semicolons, too.
  return [...new URLSearchParams(target.slice(at).replaceAll(';', '&'))].some(([name, value]) =>
    isOverride(name, value),
  );
}

/** A body that can't be read counts as an override. */
function overridesMethodInBody(body: Buffer | null, contentType: string): boolean {
  if (body === null) return true;
  if (body.length === 0) return false;
  // ASCII in UTF-16 has them between its letters.
  const text = String(body).replaceAll('\0', '');
  if (JSON_TYPE.test(contentType) || JSON_START.test(text)) return overridesMethodInJson(text);
  return OVERRIDE_NAME.test(text) || overridesMethodInQuery(`?${text}`);
}

/** Searches the fields of JSON and those one level below. A text that can't be parsed counts as an override. */
function overridesMethodInJson(text: string): boolean {
  try {
    const fields = listEntries(JSON.parse(text));
    return [...fields, ...fields.flatMap(([, value]) => listEntries(value))].some(([name, value]) =>
      isOverride(name, value),
    );
  } catch {
    return true;
  }
}

const listEntries = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/** @throws Refused */
export function getRecordedResponse(
  findRecordedResponse: FindRecordedResponse,
  request: WriteRequest,
  isSealed = false,
): ReplayableResponse {
  const record = findRecordedResponse(request);
  if (record) return record;
  const path = request.target.split('?', 1)[0]?.slice(0, 150);
  const rule = isSealed ? "code that no person has read can't send requests" : "a rehearsal can't write data";
  throw new EgressRefusedError(403, `${rule}, and ${request.method} ${path} was not recorded`, NOT_RECORDED);
}

/** Creates the error for a tunnel that can't be intercepted. */
export const toUnreadableTunnelError = (reason: string): EgressRefusedError =>
  new EgressRefusedError(403, `a rehearsal can't open a tunnel whose traffic it can't read: ${reason}`, NOT_RECORDED);

/** Parses the name of a header line, in lower case. */
export const parseFieldName = (line: string): string => line.split(':', 1)[0]?.trim().toLowerCase() ?? '';

/**
 * Checks a plain request, which is forwarded unchanged.
 * @throws Refused if its head could hide another request or a body
 */
export function assertBodylessHead(headers: string[]): void {
  for (const line of headers) {
    const name = parseFieldName(line);
    const announces = name === 'transfer-encoding' || (name === 'content-length' && line.split(':')[1]?.trim() !== '0');
    if (announces || name === 'upgrade' || name === '' || SMUGGLED_LINE.test(line)) {
      throw new EgressRefusedError(
        403,
        'a rehearsal can send only plain requests without a body or an upgrade',
        NOT_RECORDED,
      );
    }
  }
}

/** Lines that a host may parse as several, or as part of the previous one. */
const SMUGGLED_LINE = /^\s|[\0\r\n]/;

/** Replaces characters that are invalid in headers: the record is external, and must not end the connection. */
const toHeaderText = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?');

const buildHeaders = ({ contentType, location }: ReplayableResponse, body: Buffer): Record<string, string> => ({
  ...(contentType !== null && { 'content-type': toHeaderText(contentType) }),
  ...(location !== undefined && { location: toHeaderText(location) }),
  'content-length': String(body.length),
  [REHEARSAL_HEADER]: 'recorded',
});

const decodeBody = ({ body, encoding }: ReplayableResponse): Buffer =>
  Buffer.from(body, encoding === 'base64' ? 'base64' : 'utf8');

/** Sends a recorded response inside an intercepted tunnel. */
export function sendRecorded(response: ServerResponse, record: ReplayableResponse, exchange: Exchange): void {
  exchange.status = record.status;
  exchange.recorded = record.id;
  const body = decodeBody(record);
  response.writeHead(record.status, buildHeaders(record, body)).end(hasBody(record) ? body : undefined);
}

/** Builds a complete recorded response, as bytes. */
export function buildPlainResponse(record: ReplayableResponse): Buffer {
  const body = decodeBody(record);
  const lines = Object.entries({ ...buildHeaders(record, body), connection: 'close' });
  const head = [`HTTP/1.1 ${record.status} recorded`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''];
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), hasBody(record) ? body : Buffer.alloc(0)]);
}

const hasBody = ({ status }: ReplayableResponse): boolean => status !== 204 && status !== 304;
