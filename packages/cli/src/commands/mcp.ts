/** A bridge for agents that speak the Model Context Protocol over stdio: a message in each line, both ways. */
import readline from 'node:readline';
import { ApiError, createEventParser, type Gantry, readText } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import type { GlobalOptions, Session } from '../session';

/** JSON-RPC leaves these codes to servers. */
const BRIDGE_ERROR = -32_000;
const PARSE_ERROR = -32_700;

interface McpOptions extends GlobalOptions {
  toolsets?: string;
  readonly?: boolean;
}

interface Message {
  id?: string | number | null;
  method?: string;
  result?: { protocolVersion?: unknown };
}

export function registerMcp(program: GantryCommand): void {
  program
    .command('mcp')
    .description('Serve the tools of the workspace to an agent over stdio')
    .option('--toolsets <names>', 'Serve only these toolsets, such as workers,runs')
    .option('--readonly', 'Serve only read-only tools')
    .action(withSession<[], McpOptions>(serveTools));
}

async function serveTools(session: Session, { toolsets, readonly }: McpOptions): Promise<void> {
  const query = new URLSearchParams({ ...(toolsets && { toolsets }), ...(readonly && { readonly: '1' }) });
  const bridge = createBridge(session.gantry(), `/mcp?${query}`);
  const pending = new Set<Promise<void>>();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (!line.trim()) continue;
    const done = bridge(line).finally(() => pending.delete(done));
    pending.add(done);
    // The rest of the exchange depends on the revision that both sides agree on.
    if (/"method"\s*:\s*"initialize"/.test(line)) await done;
  }
  await Promise.all(pending);
}

const writeMessage = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

function createBridge(gantry: Gantry, path: string): (line: string) => Promise<void> {
  let revision: string | undefined;
  const forward = (message: Message) => {
    if (typeof message.result?.protocolVersion === 'string') revision = message.result.protocolVersion;
    writeMessage(message);
  };
  return async (line) => {
    const message = parseMessage(line);
    if (!message)
      return writeMessage({ jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message: 'invalid JSON' } });
    const fail = (reason: string) => {
      if (message.id !== undefined)
        writeMessage({ jsonrpc: '2.0', id: message.id, error: { code: BRIDGE_ERROR, message: reason } });
    };
    try {
      const response = await gantry.request('worker', path, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...(revision !== undefined && { 'MCP-Protocol-Version': revision }),
        },
        body: line,
      });
      if (response.headers.get('Content-Type')?.includes('text/event-stream')) await forwardEvents(response, forward);
      else if (response.status !== 202) await forwardBody(response, forward, fail);
    } catch (error) {
      fail(error instanceof ApiError ? error.message : 'the connection was lost');
    }
  };
}

function parseMessage(line: string): Message | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null ? message : null;
  } catch {
    return null;
  }
}

async function forwardEvents(response: Response, forward: (message: Message) => void): Promise<void> {
  const parse = createEventParser();
  if (!response.body) return;
  for await (const chunk of readText(response.body)) {
    for (const { data } of parse(chunk)) {
      const message = parseMessage(data);
      if (message) forward(message);
    }
  }
}

async function forwardBody(
  response: Response,
  forward: (message: Message) => void,
  fail: (reason: string) => void,
): Promise<void> {
  const body = parseMessage(await response.text());
  if (body && 'jsonrpc' in body) return forward(body);
  const { detail } = (body ?? {}) as { detail?: string };
  fail(detail ?? `the server responded with status ${response.status}`);
}
