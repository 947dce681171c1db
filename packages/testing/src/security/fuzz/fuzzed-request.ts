/** One request of an operation, decided by chance alone: valid, or wrong at one place or another. */
import { gzipSync } from 'node:zlib';
import type { FuzzedOperation, Node, Parameter } from './openapi';
import type { Random } from './random';
import { generateHostileValue, generateValidValue, HOSTILE_STRINGS, mutateValue, type ValueContext } from './values';

export interface FuzzedRequest {
  method: string;
  /** With the query, as it goes over the wire. */
  target: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** The address is another one than the operation's: whatever answers there, it is not what is documented here. */
  isElsewhere: boolean;
}

export interface RequestContext extends Omit<ValueContext, 'edge'> {
  /** Headers of one of the credentials. */
  credential: Record<string, string>;
  /** A zip that is one. */
  zip: Buffer;
}

/** With the chance that a value is at the edge. */
type Context = RequestContext & ValueContext;

export function buildFuzzedRequest(operation: FuzzedOperation, requestContext: RequestContext): FuzzedRequest {
  const { random, credential } = requestContext;
  // A third is as it should be: only what works reaches the code behind the validation.
  const isValid = random.chance(0.35);
  const context: Context = { ...requestContext, edge: isValid || random.chance(0.5) ? 0 : 0.3 };
  const chance = isValid ? 0 : 0.25;
  const path = buildPath(operation, context, chance);
  const elsewhere = random.chance(chance / 5) ? mutatePath(path, random) : undefined;
  const target = (elsewhere ?? path).slice(0, TARGET_CHARS) + buildQuery(operation, context, chance);
  const body = buildBody(operation, context, isValid);
  const headers = {
    ...credential,
    ...buildParameterHeaders(operation, context, chance),
    ...(body?.type && { 'Content-Type': body.type }),
    ...(random.chance(chance) && generateOddHeaders(random)),
  };
  const sent = { method: operation.method, target, isElsewhere: elsewhere !== undefined };
  if (body && random.chance(chance / 4)) return { ...sent, ...compressBody(headers, body.bytes, random) };
  return { ...sent, headers, body: body?.bytes };
}

/** Longer ones are for nginx alone (414). */
const TARGET_CHARS = 8_000;
/** Limit of a parameter alone: a suffix after it, such as `.json`, is kept. */
const SEGMENT_CHARS = 2_000;

function buildPath(operation: FuzzedOperation, context: Context, chance: number): string {
  const { random } = context;
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((one) => one.in === 'path' && one.name === name);
    if (random.chance(chance)) return encodeSegment(random.pick(HOSTILE_STRINGS)) || 'x';
    // Without one the address would be another operation's.
    return encodeSegment(toText(generateValidValue(parameter?.schema ?? {}, context, name))) || 'x';
  });
}

const mutatePath = (path: string, random: Random) =>
  random.pick([`${path}/`, `/${path}`, path.toUpperCase(), `${path}%2f`, `${path}/x/y`, `${path};a=b`, `/.${path}`]);

/** Half of a character has no bytes of its own. */
function encodeSegment(text: string): string {
  const segment = /%[0-9a-fz]/i.test(text) ? text.replace(/[^!-~]/g, '') : encodeURIComponent(toWellFormed(text));
  return segment.slice(0, SEGMENT_CHARS);
}

const toText = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
const toWellFormed = (text: string) => Buffer.from(text).toString();

function buildQuery(operation: FuzzedOperation, context: Context, chance: number): string {
  const { random } = context;
  const pairs = operation.parameters
    .filter((one) => one.in === 'query' && (one.required || random.chance(0.4)))
    .flatMap((parameter) => {
      const value = random.chance(chance * 1.5)
        ? generateHostileQueryValue(random)
        : buildParameterText(parameter, context);
      const pair = `${encodeURIComponent(parameter.name)}=${encodeQueryValue(value)}`;
      return random.chance(chance / 4) ? [pair, pair, `${parameter.name}[a]=1`] : [pair];
    });
  if (random.chance(chance / 3)) {
    pairs.push(
      random.pick(['unknown=1', '__proto__[a]=1', 'a[b][c][d]=1', '%ff=%fe', '%00', '&&&', `x=${'y'.repeat(3_000)}`]),
    );
  }
  return pairs.length ? `?${pairs.join('&')}`.slice(0, TARGET_CHARS) : '';
}

const buildParameterText = (parameter: Parameter, context: Context) =>
  [generateValidValue(parameter.schema, context, parameter.name)].flat().map(toText).join(',');

const encodeQueryValue = (text: string) => encodeURIComponent(toWellFormed(text));
const generateHostileQueryValue = (random: Random) =>
  [generateHostileValue(random)].flat().slice(0, 20).map(toText).join(',').slice(0, 4_000);

function buildParameterHeaders(operation: FuzzedOperation, context: Context, chance: number): Record<string, string> {
  const { random } = context;
  const given = operation.parameters.filter((one) => one.in === 'header' && (one.required || random.chance(0.3)));
  return Object.fromEntries(
    given.map((parameter) => [
      parameter.name,
      sanitizeHeaderValue(
        random.chance(chance) ? random.pick(HOSTILE_STRINGS) : buildParameterText(parameter, context),
      ),
    ]),
  );
}

/** Requests that no client can send are for raw sockets (packages/platform/src/gateway/gateway-refusals.test.ts). */
const sanitizeHeaderValue = (text: string) => text.replace(/[^\t -~\u0080-\u00ff]/g, '?').slice(0, 4_000);

function generateOddHeaders(random: Random): Record<string, string> {
  const [name, values] = random.pick<[string, string[]]>([
    [
      'Range',
      ['bytes=0-0', 'bytes=-1', 'bytes=5-2', 'bytes=0-,0-,0-', 'bytes=99999999999999999999-', 'lines=1-2', 'bytes='],
    ],
    ['If-None-Match', ['*', '"x"', 'W/"x"', '"', `"${'x'.repeat(2_000)}"`, '"a", "b",,']],
    ['If-Match', ['*', '"x"', 'garbage', '']],
    [
      'If-Modified-Since',
      ['Thu, 01 Jan 1970 00:00:00 GMT', 'never', '9'.repeat(300), 'Thu, 01 Jan 275761 00:00:00 GMT'],
    ],
    ['If-Unmodified-Since', ['Thu, 01 Jan 1970 00:00:00 GMT', 'never']],
    ['If-Range', ['"x"', 'never']],
    [
      'Accept',
      [
        'text/event-stream',
        'application/x-ndjson',
        '*/*;q=x',
        'text/html',
        'application/json',
        'a',
        `${'a/b,'.repeat(500)}`,
      ],
    ],
    ['Accept-Language', ['de', '*', 'x-'.repeat(500)]],
    ['Idempotency-Key', ['k', 'a'.repeat(255), 'a'.repeat(256), '', 'é', "'; --"]],
    ['Last-Event-ID', ['0', '-1', '1e9', '999999999999999999999', 'x', '', '1,2']],
    ['X-Svc-Workspace', ['ws_AAAAAAAAAAAAAAAAAAAAA', '__proto__', '', 'x'.repeat(2_000), '../..']],
    [
      'Cookie',
      ['svc_cloud_session=x', 'svc_cloud_session=', '=', ';;;', 'svc_cloud_session=%', `a=${'b'.repeat(3_000)}`],
    ],
    [
      'Authorization',
      [
        'Bearer',
        'Bearer  ',
        'Bearer a.b.c',
        'Basic YTpi',
        `Bearer ${'a'.repeat(3_000)}`,
        'Bearer eyJhbGciOiJub25lIn0.e30.',
      ],
    ],
    ['x-svc-token', ['svc_', 'wst_x', 'rly_x', 'é', '']],
    ['traceparent', ['00-0-0-0', 'garbage', '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff']],
    ['Origin', ['null', 'http://evil.example', 'x'.repeat(1_000)]],
    ['Sec-Fetch-Site', ['cross-site', 'same-origin', 'x']],
    ['User-Agent', ['', 'é'.repeat(200), '() { :;}; echo']],
    ['Host', ['evil.example', '[::1]', 'a:99999', '127.0.0.1:0']],
    ['Webhook-Timestamp', ['0', '-1', 'x', '9'.repeat(30)]],
    ['Webhook-Signature', ['v1,x', 'v1,', ',', 'v1,AAAA v1,BBBB', 'x'.repeat(3_000)]],
    ['Webhook-Id', ['x', 'x'.repeat(1_000)]],
    ['Mcp-Session-Id', ['x']],
  ]);
  return { [name]: sanitizeHeaderValue(random.pick(values)) };
}

interface Body {
  type: string | undefined;
  bytes: Buffer;
}

function buildBody(operation: FuzzedOperation, context: Context, isValid: boolean): Body | undefined {
  const { random } = context;
  const types = Object.keys(operation.bodies);
  if (types.length === 0) {
    // A body where none is expected changes no answer.
    return !isValid && random.chance(0.1) ? buildJsonBody(generateHostileValue(random)) : undefined;
  }
  const type = random.pick(types);
  const { schema, examples } = operation.bodies[type] as FuzzedOperation['bodies'][string];
  if (type === 'multipart/form-data') return buildMultipartBody(schema, context, isValid);
  if (type === URL_ENCODED) return buildUrlEncodedBody(schema, context, isValid);
  if (type !== 'application/json')
    return {
      type: 'application/octet-stream',
      bytes: random.pick([context.zip, Buffer.from('text'), Buffer.alloc(0)]),
    };
  const value =
    examples.length && random.chance(0.3) ? context.deref(random.pick(examples)) : generateValidValue(schema, context);
  if (isValid) return buildJsonBody(value);
  const kind = random.next();
  if (kind < 0.12) return buildMalformedJsonBody(value, random);
  if (kind < 0.2) return { ...buildJsonBody(value), type: random.pick(ODD_CONTENT_TYPES) };
  if (kind < 0.22) return random.chance(0.5) ? undefined : { type: 'application/json', bytes: Buffer.alloc(0) };
  const once = mutateValue(value, random);
  if (context.edge && random.chance(0.7)) return buildJsonBody(value);
  return buildJsonBody(random.chance(0.4) ? mutateValue(once, random) : once);
}

const URL_ENCODED = 'application/x-www-form-urlencoded';

function buildUrlEncodedBody(schemaNode: Node, context: Context, isValid: boolean): Body {
  const valid = generateValidValue(schemaNode, context);
  const value = isValid ? valid : mutateValue(valid, context.random);
  const pairs = Object.entries(Object(value)).map(([name, one]) => [
    name,
    typeof one === 'string' ? one : `${JSON.stringify(one)}`,
  ]);
  const text = new URLSearchParams(pairs).toString();
  // A parameter that is there twice, and bytes that are no text.
  const bytes =
    isValid || context.random.chance(0.8) ? Buffer.from(text) : Buffer.from(`${text}&${text}&a=%00\xff`, 'latin1');
  return { type: URL_ENCODED, bytes };
}

const buildJsonBody = (value: unknown): Body => ({
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify(value) ?? 'null'),
});

const ODD_CONTENT_TYPES = [
  undefined,
  'text/plain',
  'application/xml',
  'application/json; charset=utf-7',
  'application/json; charset=utf-16',
  'application/json;;;',
  'application/merge-patch+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=x',
  'application/json, text/html',
  '*/*',
  'a'.repeat(500),
];

/** JSON that JSON.stringify never writes. */
function buildMalformedJsonBody(value: unknown, random: Random): Body {
  const text = JSON.stringify(value) ?? 'null';
  const broken = random.pick<() => string | Buffer>([
    () => text.slice(0, random.int(text.length)),
    () => `${text}${text}`,
    () => `\ufeff${text}`,
    () => text.replace(/"/g, "'"),
    () => text.replace(/[\w.]+(?=[,}\]])/, '1e400'),
    () => text.replace(/[\w.]+(?=[,}\]])/, '9'.repeat(2_000)),
    () => text.replace(/:/, ':\0'),
    () => text.replace(/^\{/, '{"__proto__":{"a":1},'),
    () => text.replace(/^\{/, '{"name":1,"name":2,"name":"x",'),
    () => '['.repeat(5_000),
    () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    () => '{"a":'.repeat(5_000),
    () => `[${'1,'.repeat(100_000)}1]`,
    () => `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
    () => JSON.stringify('x'.repeat(900_000)),
    () => JSON.stringify('x'.repeat(1_100_000)),
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]),
    () => Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from('"}')]),
    () => '',
    () => ' ',
    () => 'null',
    () => '"text"',
    () => '-0',
  ])();
  return { type: 'application/json', bytes: Buffer.from(broken as string) };
}

const BOUNDARY = 'gantry-fuzz-boundary';

function buildMultipartBody(schemaNode: Node, context: Context, isValid: boolean): Body {
  const { random, deref, zip } = context;
  const schema = deref(schemaNode);
  const parts: Buffer[] = [];
  for (const [name, one] of Object.entries<Node>(schema?.properties ?? { file: { format: 'binary' } })) {
    const property = deref(one);
    const isFile = property?.format === 'binary' || property?.items?.format === 'binary' || property?.contentMediaType;
    if (isFile) {
      const bytes = isValid
        ? zip
        : random.pick([
            zip,
            zip.subarray(0, zip.length / 2),
            Buffer.from('PK\x05\x06'),
            Buffer.alloc(0),
            Buffer.from('no zip'),
          ]);
      parts.push(
        buildMultipartPart(
          name,
          bytes,
          isValid
            ? 'bundle.zip'
            : random.pick(['bundle.zip', '../../x', '\u202e.zip', '', 'a'.repeat(500), '"; filename="b']),
        ),
      );
    } else if (random.chance(0.5)) {
      const value = isValid ? generateValidValue(one, context, name) : generateHostileValue(random);
      parts.push(
        buildMultipartPart(name, Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))),
      );
    }
  }
  if (!isValid && random.chance(0.3))
    parts.push(buildMultipartPart('__proto__', Buffer.from('x')), buildMultipartPart('extra', zip, 'x'));
  const whole = Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
  const bytes = !isValid && random.chance(0.2) ? whole.subarray(0, random.int(whole.length)) : whole;
  return { type: `multipart/form-data; boundary=${BOUNDARY}`, bytes };
}

function buildMultipartPart(name: string, bytes: Buffer, filename?: string): Buffer {
  const disposition = `Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`;
  return Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${disposition}\r\n\r\n`), bytes, Buffer.from('\r\n')]);
}

function compressBody(headers: Record<string, string>, bytes: Buffer, random: Random) {
  const encoding = random.pick(['gzip', 'deflate', 'br', 'zstd', 'identity', 'gzip, gzip']);
  const body = random.chance(0.5) ? gzipSync(bytes) : bytes;
  return { headers: { ...headers, 'Content-Encoding': encoding }, body };
}
