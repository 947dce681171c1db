/** All that connections know of MCP clients; the client itself is given to them (`deps.mcpClient`). */

/** A registered server, with what is sealed in its row opened. */
export interface McpServer {
  workspaceId: string;
  connectionId: string;
  /** Grows with every change of address or headers: what was cached for an earlier one does not count. */
  version: number;
  /** http or https; `checkOutboundUrl` has passed it, and every request still goes through packages/safe-fetch. */
  url: string;
  /** Sent with every request, `Authorization` included. Never to be logged. */
  headers: Record<string, string>;
}

export interface McpTool {
  name: string;
  /** Text of a stranger. */
  description: string;
  /** JSON Schema, as the server sent it. */
  inputSchema: Record<string, unknown>;
  /** The server says that it only reads, or that calling it twice is calling it once. */
  isRepeatable?: boolean;
  /** The server says that it only reads. */
  isReadOnly?: boolean;
  /** The server says that it neither overwrites nor removes anything. */
  isAdditive?: boolean;
  /** Its description or schema is not the one that was first seen. */
  isChanged?: boolean;
}

/** Identifies the server whose tools are cached. */
export type McpServerKey = Pick<McpServer, 'workspaceId' | 'connectionId' | 'version'>;

export interface McpCall {
  name: string;
  arguments: Record<string, unknown>;
  /** Null: all of the server's. */
  allowedTools: string[] | null;
  /** For connecting and the call together; absent: the client's own limit. */
  timeoutMs?: number;
}

/** As far as the platform reads it. */
export interface McpCallResult {
  isError?: boolean | undefined;
  content: Readonly<Record<string, unknown>>[];
  structuredContent?: unknown;
}

export interface McpClient {
  /**
   * Every page of the server's tools, in its order.
   * @throws McpClientError if the server gives no usable answer
   */
  listTools(server: McpServer): Promise<McpTool[]>;
  /** @returns what the tool said, also where it says that it failed. @throws McpClientError */
  callTool(server: McpServer, call: McpCall): Promise<McpCallResult>;
  /** The last list, without asking; null: nothing. @param fresh null also where it is older than ten minutes */
  knownTools(server: McpServerKey, fresh?: boolean): Promise<McpTool[] | null>;
  /** A person has reviewed the tools as they were listed last: they are to stay like that. */
  acceptTools(server: McpServerKey): Promise<void>;
  /** When the connection is gone. */
  forgetTools(server: McpServerKey): Promise<void>;
}

export type McpFailure = 'unauthorized' | 'unreachable' | 'timeout' | 'too_large' | 'bad_answer';

/** `message` is for the person who registered the server and holds no secret; `cause` is for the log alone. */
export class McpClientError extends Error {
  constructor(
    readonly code: McpFailure,
    message: string,
    cause?: unknown,
    /** A call was on its way: it may have had its effect. */
    readonly mayHaveHappened = false,
  ) {
    super(message, { cause });
    this.name = 'McpClientError';
  }
}
