/**
 * Embeds stored JSON in a response without parsing it. To parse and serialize 8 MB, the largest output of a run, blocks
 * the event loop for 0.15 s; copying takes 5 ms. It is valid JSON because the executor serialized it from a parsed
 * value.
 */
import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';

/** Set while a response is serialized, which is synchronous. */
let storedTexts: Buffer[] | undefined;
/** Random, so that a text in a response cannot contain it. */
const MARKER = `stored-json-${randomUUID()}-`;

export class StoredJson {
  constructor(private readonly text: Buffer) {}

  /** Returns itself if it is an object, otherwise an object with it under this name. */
  asObject(name: string): Record<string, unknown> {
    const isObject = this.text.subarray(0, SPACE_BYTES_MAX).toString().trimStart().startsWith('{');
    return isObject ? (this as object as Record<string, unknown>) : { [name]: this };
  }

  /** Parses it unless a response is serialized. */
  toJSON(): unknown {
    return storedTexts ? `${MARKER}${storedTexts.push(this.text) - 1}` : JSON.parse(this.text.toString());
  }
}

/** Before the first character of a value; JSON.stringify writes no space there. */
const SPACE_BYTES_MAX = 16;

/** Makes `res.json` accept bodies with stored JSON. */
export const sendStoredJson: RequestHandler = (_req, res, next) => {
  res.json = (body) => {
    if (!res.get('Content-Type')) res.type('json');
    return res.send(encodeJson(body));
  };
  next();
};

/** @param indent spaces for each level; stored JSON stays as it is */
export function encodeJson(body: unknown, indent?: number): string | Buffer {
  const stored: Buffer[] = [];
  storedTexts = stored;
  let text: string;
  try {
    text = JSON.stringify(body, null, indent);
  } finally {
    storedTexts = undefined;
  }
  if (!stored.length) return text;
  const pieces: Buffer[] = [];
  let rest = text;
  for (const [at, json] of stored.entries()) {
    const mark = JSON.stringify(`${MARKER}${at}`);
    // Bounded: each search begins behind the value before.
    const place = rest.indexOf(mark);
    pieces.push(Buffer.from(rest.slice(0, place)), json);
    rest = rest.slice(place + mark.length);
  }
  return Buffer.concat([...pieces, Buffer.from(rest)]);
}
