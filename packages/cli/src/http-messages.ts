/**
 * The parts of fetch's Headers and Request that this program and the typed client use. The first use of Node's own
 * loads its whole fetch client, which costs a short command more than its own code does: build.mjs puts these in
 * their place.
 */

type HeadersInit = Headers | Iterable<readonly [string, string]> | Record<string, string>;

const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

class Headers {
  private readonly values = new Map<string, string>();

  constructor(init: HeadersInit = []) {
    for (const [name, value] of Symbol.iterator in init ? init : Object.entries(init)) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${String(value).trim()}`);
  }

  /** @throws TypeError, without the value, for what cannot be part of a header */
  set(name: string, value: string): void {
    const normalized = String(value).trim();
    if (!NAME.test(name) || NOT_IN_VALUE.test(normalized)) throw new TypeError(`${name} is not a valid header`);
    this.values.set(name.toLowerCase(), normalized);
  }

  get(name: string): string | null {
    return this.values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.values.delete(name.toLowerCase());
  }

  forEach(visit: (value: string, name: string) => void): void {
    this.values.forEach(visit);
  }

  entries(): MapIterator<[string, string]> {
    return this.values.entries();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries();
  }
}

/** A body whose way to the server is reported. */
export class Upload {
  constructor(
    readonly bytes: Uint8Array,
    /** Called with the number of bytes that were sent; again from the beginning where a request is repeated. */
    readonly onProgress: (sentBytes: number) => void,
  ) {}
}

export type Body = string | Uint8Array | Upload | null;

interface RequestOptions {
  method?: string;
  headers?: HeadersInit;
  body?: Body;
  signal?: AbortSignal | null;
}

class Request {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Body;
  readonly signal: AbortSignal;

  constructor(url: string, { method = 'GET', headers, body, signal }: RequestOptions = {}) {
    this.url = new URL(url).href;
    this.method = method;
    this.headers = new Headers(headers);
    this.body = body ?? null;
    this.signal = signal ?? new AbortController().signal;
    if (typeof this.body === 'string' && !this.headers.has('Content-Type')) {
      this.headers.set('Content-Type', 'text/plain;charset=UTF-8');
    }
  }

  clone(): Request {
    return new Request(this.url, this);
  }
}

/** The typed client looks for forms in its bodies. Nothing in this program makes one: forms are encoded by `encodeForm`. */
class FormData {}

export { FormData, Headers, Request };
