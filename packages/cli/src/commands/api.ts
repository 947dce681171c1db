import { type Clients, createIdempotencyKey, readApiError } from '@gantry/sdk';
import { collectValues, type GantryCommand, withSession } from '../command';
import { usageError } from '../errors';
import { readInput } from '../input-data';
import type { GlobalOptions, Session } from '../session';
import { toText } from '../text';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const SURFACES = ['worker', 'automation', 'skills'] as const;

interface ApiOptions extends GlobalOptions {
  data?: string;
  header: string[];
  surface: string;
}

export function registerApi(program: GantryCommand): void {
  program
    .command('api')
    .description('Send an authenticated API request')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'Path, such as /api/workers?limit=5')
    .option('-d, --data <body>', 'JSON body; @file reads a file, @- stdin')
    .option('-H, --header <header>', 'Additional header, such as "Accept: text/csv"', collectValues, [])
    .option('--surface <name>', 'API surface: worker, automation or skills', 'worker')
    .action(withSession<[string, string], ApiOptions>(sendRequest));
}

async function sendRequest(session: Session, methodArgument: string, path: string, options: ApiOptions): Promise<void> {
  const method = methodArgument.toUpperCase();
  if (!METHODS.includes(method)) throw usageError(`unknown method ${methodArgument}`, `Methods: ${METHODS.join(', ')}`);
  if (!path.startsWith('/') || path.startsWith('//'))
    throw usageError('the path must begin with a single slash, such as /api/workers');
  if (options.data !== undefined && ['GET', 'HEAD'].includes(method))
    throw usageError(`${method} requests have no body`, `To send data: gantry api POST ${path}`);
  const surface = SURFACES.find((name) => name === options.surface);
  if (!surface) throw usageError(`unknown surface ${options.surface}`, `Surfaces: ${SURFACES.join(', ')}`);
  const headers = parseHeaders(options.header);
  const body = options.data === undefined ? undefined : (await readInput(options.data)).toString();
  if (body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
  if (method === 'POST' && !headers.has('Idempotency-Key')) headers.set('Idempotency-Key', createIdempotencyKey());
  const gantry = surface === 'worker' ? session.gantry() : await session.connectAll();
  const request: RequestInit = { method, headers, ...(body !== undefined && { body }) };
  await printResponse(session, await gantry.request(surface satisfies keyof Clients, path, request));
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

function parseHeaders(lines: string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    const [name, ...value] = line.split(':');
    if (!name || !HEADER_NAME.test(name) || !value.length) {
      throw usageError(`invalid header ${line}`, 'Use the form "Name: value"');
    }
    headers.append(name, value.join(':').trim());
  }
  return headers;
}

async function printResponse({ output }: Session, response: Response): Promise<void> {
  if (!response.ok) throw await readApiError(response);
  if (!response.body) return;
  const type = response.headers.get('Content-Type') ?? '';
  if (type.includes('json') && !type.includes('ndjson')) {
    const data: unknown = await response.json();
    output.print(data, () => toText(JSON.stringify(data, null, 2)));
    return;
  }
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    // A program gets the bytes as they are; a terminal gets no control characters.
    process.stdout.write(process.stdout.isTTY ? toText(Buffer.from(part.value).toString()).value : part.value);
  }
}
