/**
 * Handles requests of a rehearsal: those that only read are forwarded under the rules of the run, and no other reaches
 * a host. If the rehearsed run has made the same request, its response is replayed.
 */
import type { ServerResponse } from 'node:http';
import type { RecordedAnswer } from '@gantry/events';
import type { Exchange } from './network-request';
import { NOT_RECORDED, REHEARSAL_HEADER, Refused } from './refused';

export type AskedWrite = Pick<RecordedAnswer, 'method' | 'scheme' | 'host' | 'port' | 'target'>;

/** Returns the next recorded response to this request; null: none, or none is left. */
export type AnswerTo = (asked: AskedWrite) => RecordedAnswer | null;

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
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
const WRITING = /^(post|put|patch|delete|merge)$/i;
const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

export interface RequestToJudge {
  method: string;
  /** Path and query. */
  target: string;
  /** Names, in any case. */
  headers?: string[];
  /** Undefined: there is no body, or it has no type. */
  contentType?: string | undefined;
}

/** Returns whether a host may do more than read. A form in a reading request may override the method, too. */
export const mayWrite = ({ method, target, headers = [], contentType = '' }: RequestToJudge): boolean =>
  !READING.has(method) ||
  headers.some((name) => OVERRIDES.has(dashed(name))) ||
  overridesMethod(target) ||
  FORM.test(contentType);

const dashed = (name: string): string => name.toLowerCase().replaceAll('_', '-').replace(/^-/, '');

function overridesMethod(target: string): boolean {
  const at = target.indexOf('?');
  if (at < 0) return false;
  return [...new URLSearchParams(target.slice(at))].some(
    ([name, value]) =>
      name.startsWith('_method') || OVERRIDES.has(dashed(name)) || (/method$/i.test(name) && WRITING.test(value)),
  );
}

/** @throws Refused */
export function requireRecord(answerTo: AnswerTo, asked: AskedWrite): RecordedAnswer {
  const record = answerTo(asked);
  if (record) return record;
  const path = asked.target.split('?', 1)[0]?.slice(0, 150);
  throw new Refused(403, `a rehearsal makes no writes, and ${asked.method} ${path} was not recorded`, NOT_RECORDED);
}

/** Creates the error for a tunnel that can't be intercepted. */
export const unreadable = (why: string): Refused =>
  new Refused(403, `a rehearsal opens no tunnel that it can't read: ${why}`, NOT_RECORDED);

/** Parses the name of a header line, in lower case. */
export const nameOf = (line: string): string => line.split(':', 1)[0]?.trim().toLowerCase() ?? '';

/**
 * Checks a plain request, which is forwarded unchanged.
 * @throws Refused if its head could hide another request or a body
 */
export function requireHeadAlone(headers: string[]): void {
  for (const line of headers) {
    const name = nameOf(line);
    const announces = name === 'transfer-encoding' || (name === 'content-length' && line.split(':')[1]?.trim() !== '0');
    if (announces || name === 'upgrade' || name === '' || HIDING.test(line)) {
      throw new Refused(403, 'a rehearsal sends plain requests without a bodyand without upgrades', NOT_RECORDED);
    }
  }
}

/** Lines that a host may parse as several, or as part of the previous one. */
const HIDING = /^\s|[\0\r\n]/;

/** Replaces characters that are invalid in headers: the record is external, and must not end the connection. */
const inHeader = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?');

const headersOf = ({ contentType, location }: RecordedAnswer, body: Buffer): Record<string, string> => ({
  ...(contentType !== null && { 'content-type': inHeader(contentType) }),
  ...(location !== undefined && { location: inHeader(location) }),
  'content-length': String(body.length),
  [REHEARSAL_HEADER]: 'recorded',
});

const bodyOf = ({ body, encoding }: RecordedAnswer): Buffer =>
  Buffer.from(body, encoding === 'base64' ? 'base64' : 'utf8');

/** Sends a recorded response inside an intercepted tunnel. */
export function answerRecorded(response: ServerResponse, record: RecordedAnswer, exchange: Exchange): void {
  exchange.status = record.status;
  exchange.recorded = record.id;
  const body = bodyOf(record);
  response.writeHead(record.status, headersOf(record, body)).end(hasBody(record) ? body : undefined);
}

/** Builds a complete recorded response, as bytes. */
export function plainAnswer(record: RecordedAnswer): Buffer {
  const body = bodyOf(record);
  const lines = Object.entries({ ...headersOf(record, body), connection: 'close' });
  const head = [`HTTP/1.1 ${record.status} recorded`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''];
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), hasBody(record) ? body : Buffer.alloc(0)]);
}

const hasBody = ({ status }: RecordedAnswer): boolean => status !== 204 && status !== 304;
