/** Other people's MCP servers, asked over Streamable HTTP in either protocol era. Nothing that they say is trusted. */
import { maskAndTruncate } from '@gantry/masking';
import { OutboundError } from '@gantry/safe-fetch';
import {
  Client,
  type jsonSchemaValidator,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { listHeaderValues } from '../connections/mask-request';
import {
  type McpCall,
  type McpCallResult,
  McpClientError,
  type McpServer,
  type McpTool,
} from '../connections/mcp-client-types';
import type { Masking } from '../secrets/masking';
import { createBoundedFetch } from './bounded-fetch';
import { TOOLS_MAX, validateTools } from './validate-tools';

export interface McpClientOptions {
  /** Private networks that may be reached: see packages/safe-fetch. */
  allow: string[];
  version: string;
  masking: Pick<Masking, 'redactorFor'>;
  /** For connecting and every page together. */
  listTimeoutMs?: number;
  callTimeoutMs?: number;
}

const LIST_TIMEOUT_MS = 15_000;
const LIST_BYTES_MAX = 1_000_000;
const PAGES_MAX = 50;
const CALL_TIMEOUT_MS = 60_000;
const CALL_BYTES_MAX = 5_000_000;
const MESSAGE_CHARS_MAX = 400;

/** Compiling a stranger's schema costs what they like, and its answer is text of a stranger with or without it. */
const noopSchemaValidator: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

export function createMcpClient({
  allow,
  version,
  masking,
  listTimeoutMs = LIST_TIMEOUT_MS,
  callTimeoutMs = CALL_TIMEOUT_MS,
}: McpClientOptions) {
  /** A server may say back what it was sent. */
  async function maskErrorMessage(
    { code, message, cause }: McpClientError,
    { headers }: McpServer,
  ): Promise<McpClientError> {
    const shown = maskAndTruncate(await masking.redactorFor(listHeaderValues(headers)), message, MESSAGE_CHARS_MAX);
    return new McpClientError(code, shown.replace(/\p{Cc}+/gu, ' '), cause);
  }

  async function withClient<T>(
    server: McpServer,
    { timeoutMs, bytesMax }: { timeoutMs: number; bytesMax: number },
    work: (client: Client, timeout: number) => Promise<T>,
  ): Promise<T> {
    const { fetch, failure } = createBoundedFetch({ timeoutMs, bytesMax, allow });
    const client = new Client(
      { name: 'gantry', version },
      {
        versionNegotiation: { mode: 'auto' },
        jsonSchemaValidator: noopSchemaValidator,
        inputRequired: { autoFulfill: false },
      },
    );
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      fetch,
      requestInit: { headers: server.headers },
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 0,
        maxReconnectionDelay: 0,
        reconnectionDelayGrowFactor: 1,
      },
    });
    try {
      await client.connect(transport, { timeout: timeoutMs });
      const answer = await work(client, timeoutMs);
      // A server with sessions may forget this one; whether it does is its own affair.
      await transport.terminateSession().catch(() => undefined);
      return answer;
    } catch (err) {
      throw await maskErrorMessage(toMcpFailure(failure() ?? err, new URL(server.url).host, timeoutMs), server);
    } finally {
      await client.close().catch(() => undefined);
    }
  }

  return {
    /** Every page, in the server's order. @throws McpClientError */
    listTools: (server: McpServer): Promise<McpTool[]> =>
      withClient(server, { timeoutMs: listTimeoutMs, bytesMax: LIST_BYTES_MAX }, async (client, timeout) => {
        if (!client.getServerCapabilities()?.tools) return [];
        const tools: McpTool[] = [];
        let cursor: string | undefined;
        for (let page = 0; page === 0 || cursor !== undefined; page++) {
          if (page === PAGES_MAX)
            throw new McpClientError('too_large', `its tool list has more than ${PAGES_MAX} pages`);
          // The request without a cursor would walk all pages by itself.
          const answer = await client.request(
            { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
            { timeout },
          );
          tools.push(...validateTools(answer.tools, tools));
          if (tools.length > TOOLS_MAX) throw new McpClientError('too_large', `it lists more than ${TOOLS_MAX} tools`);
          cursor = answer.nextCursor;
        }
        return tools;
      }),

    /** @returns what the tool said, also where it says that it failed (`isError`). @throws McpClientError */
    callTool: async (server: McpServer, call: McpCall): Promise<McpCallResult> => {
      if (call.allowedTools !== null && !call.allowedTools.includes(call.name)) {
        throw new McpClientError('bad_answer', `the connection does not allow the tool ${call.name}`);
      }
      let isSent = false;
      const bounds = { timeoutMs: call.timeoutMs ?? callTimeoutMs, bytesMax: CALL_BYTES_MAX };
      try {
        return await withClient(server, bounds, (client, timeout) => {
          isSent = true;
          return client.callTool({ name: call.name, arguments: call.arguments }, { timeout });
        });
      } catch (err) {
        if (!(err instanceof McpClientError) || !isSent || isRefusal(err)) throw err;
        throw new McpClientError(err.code, err.message, err.cause, true);
      }
    },
  };
}

/** The server has read the request and declined it. */
const isRefusal = ({ code, cause }: McpClientError): boolean =>
  code === 'unauthorized' || cause instanceof ProtocolError || (cause instanceof SdkHttpError && cause.status < 500);

/** Describes a failure for the person who registered the server: its host, and its message. */
function toMcpFailure(err: unknown, host: string, timeoutMs: number): McpClientError {
  if (err instanceof McpClientError) return err;
  if (err instanceof OutboundError) {
    const code = err.code === 'timeout' || err.code === 'too_large' ? err.code : 'unreachable';
    return new McpClientError(code, err.message, err);
  }
  if (err instanceof UnauthorizedError)
    return new McpClientError('unauthorized', `${host} requires a different credential`, err);
  if (err instanceof SdkHttpError) {
    return [401, 403].includes(err.status)
      ? new McpClientError('unauthorized', `${host} rejected the credential (HTTP ${err.status})`, err)
      : new McpClientError('bad_answer', `${host} responded with HTTP ${err.status}`, err);
  }
  if (err instanceof SdkError && err.code === SdkErrorCode.RequestTimeout) {
    return new McpClientError('timeout', `${host} did not respond within ${timeoutMs} ms`, err);
  }
  if (err instanceof ProtocolError) return new McpClientError('bad_answer', `${host} refused: ${err.message}`, err);
  const said = err instanceof Error ? err.message : '';
  return new McpClientError('bad_answer', `${host} did not send a valid MCP response: ${said}`, err);
}
