/** Tools of connections for the code of runs: which there are, and how one is called. See ADR 44. */
import { isSameSecret } from '@gantry/auth';
import type { JobTools, ToolFailure } from '@gantry/events';
import type { PreparedTool, PrepareTool, RequestedTool, Run, ToolOutcome } from '@gantry/run-engine';
import { filterAllowedTools, resolveServer } from '../connections/check-connection';
import { toServerKey } from '../connections/connection';
import { findConnection } from '../connections/connection-repository';
import { openCredentialOrNull } from '../connections/credential';
import { listHeaderValues } from '../connections/mask-request';
import { McpClientError, type McpTool } from '../connections/mcp-client-types';
import { getParameters } from '../connections/oauth-config';
import { refreshConnection, refreshIfDue } from '../connections/refresh';
import {
  formatConnectionProblems,
  listConnectionProblems,
  listConnectionsByName,
  selectConnection,
  type UsableConnection,
  updateConnectionsLastUsed,
} from '../connections/usable-connections';
import { findWorkerOwner } from '../declarations/worker-owner';
import type { Connection } from '../generated/prisma/client';
import { findIntegration } from '../integrations/integrations';
import { type AppCall, buildAppRequest, isIdempotent, isReadOnly, sendAppRequest } from './app-tool';
import { listArgumentProblems } from './check-arguments';
import type { ConnectionToolDeps } from './connection-tool-deps';
import { formatNameSuggestions } from './nearest-names';
import { buildFailure, createToolFailure, maskOutcome, toMcpOutcome } from './tool-result';

/** Bounds the tools that a job lists, for all connections together; others are called by name. */
const NAMES_CHARS_MAX = 16_000;

/** By the names that the worker declares, with the names of their tools as they are known without a request. */
export async function listRunTools(deps: ConnectionToolDeps, run: Run): Promise<JobTools[]> {
  const names = run.spec.connections ?? [];
  const worker = names.length ? await findWorkerOwner(deps.pool, run) : null;
  if (!worker) return [];
  const usable = await listConnectionsByName(deps.pool, run.workspaceId, names);
  let charsLeft = NAMES_CHARS_MAX;
  return Promise.all(
    names.map(async (name): Promise<JobTools> => {
      const known = await listToolNames(deps, run.workspaceId, selectConnection(worker, name, usable));
      charsLeft -= known?.join().length ?? 0;
      return { name, tools: charsLeft < 0 ? null : known };
    }),
  );
}

async function listToolNames(
  deps: ConnectionToolDeps,
  workspaceId: string,
  usableConnections: UsableConnection | null,
): Promise<string[] | null> {
  const connection = usableConnections && (await findConnection(deps.prisma, workspaceId, usableConnections.id));
  if (!connection) return null;
  if (connection.kind === 'mcp') {
    const tools = await deps.mcpClient.knownTools(toServerKey(connection));
    return tools && filterAllowedTools(connection, tools).map(({ name }) => name);
  }
  const integration = await findIntegration(deps, workspaceId, connection.app);
  return integration?.provider.tools.map(({ name }) => name) ?? [];
}

type PrepareResult = Awaited<ReturnType<PrepareTool>>;

/**
 * The connection is looked up for each call: it may have been deleted, or taken away from this worker, while the run
 * went on.
 */
export async function prepareTool(
  deps: ConnectionToolDeps,
  run: Run,
  requestedTool: RequestedTool,
): Promise<PrepareResult> {
  const { workspaceId, spec } = run;
  const found = await getUsableConnection(deps, run, requestedTool.connection);
  if ('failed' in found) return found;
  const { connection } = found;
  const prepared =
    connection.kind === 'mcp'
      ? await prepareMcpCall(deps, connection, requestedTool)
      : await prepareAppCall(deps, connection, requestedTool);
  if ('failed' in prepared) return prepared;
  return {
    isIdempotent: prepared.isIdempotent,
    isReadOnly: prepared.isReadOnly,
    async call() {
      const secrets = Object.values(await deps.secrets.reveal(workspaceId, spec.secrets));
      const { outcome, sent } = await prepared.call();
      await updateConnectionsLastUsed(deps.pool, workspaceId, [connection.id], deps.now()).catch((err) =>
        deps.log.warn({ err, connectionId: connection.id }, 'the use of a connection could not be recorded'),
      );
      return maskOutcome(outcome, await deps.masking.redactorFor([...secrets, ...sent]));
    },
  };
}

/** The connection behind a name that the run's worker declares, if it works and serves that worker. */
export async function getUsableConnection(
  deps: ConnectionToolDeps,
  run: Run,
  connectionName: string,
): Promise<{ connection: Connection } | { failed: ToolFailure }> {
  const { workspaceId, spec } = run;
  if (!spec.connections?.includes(connectionName)) {
    return buildFailure('not_allowed', `the worker does not declare the connection ${connectionName}`);
  }
  const [worker, usableConnections] = await Promise.all([
    findWorkerOwner(deps.pool, run),
    listConnectionsByName(deps.pool, workspaceId, [connectionName]),
  ]);
  const problems = worker
    ? listConnectionProblems(worker, [connectionName], usableConnections)
    : [{ name: connectionName, connection: null }];
  if (problems.length) return buildFailure('unavailable', formatConnectionProblems(problems, deps.dashboardUrl));
  const { id } = (worker && selectConnection(worker, connectionName, usableConnections)) ?? {};
  const connection = id === undefined ? null : await findConnection(deps.prisma, workspaceId, id);
  return connection ? { connection } : buildFailure('unavailable', `the connection ${connectionName} is gone`);
}

interface PreparedCall extends Pick<PreparedTool, 'isIdempotent' | 'isReadOnly'> {
  /** `sent`: the credentials that went along. */
  call(): Promise<{ outcome: ToolOutcome; sent: string[] }>;
}

interface ToolSchema {
  name: string;
  inputSchema: Readonly<Record<string, unknown>>;
}

/** In the order of a person's mistakes: the name, the permission, the arguments. */
function findCallProblem<Tool extends ToolSchema>(
  tools: readonly Tool[],
  { connection, tool: name, arguments: callArguments }: RequestedTool,
  allowed: readonly Tool[] = tools,
): ToolFailure | null {
  const tool = tools.find((one) => one.name === name);
  const names = allowed.map((one) => one.name);
  if (!tool)
    return createToolFailure('unknown_tool', `${connection} has no tool ${name}${formatNameSuggestions(name, names)}`);
  if (!names.includes(name)) {
    return createToolFailure('not_allowed', `the connection ${connection} does not allow the tool ${name}`);
  }
  const problems = listArgumentProblems(tool.inputSchema, callArguments);
  return problems.length ? createToolFailure('invalid_arguments', problems.join('; ')) : null;
}

async function prepareMcpCall(
  deps: ConnectionToolDeps,
  connection: Connection,
  requestedTool: RequestedTool,
): Promise<PreparedCall | { failed: ToolFailure }> {
  const { connection: declared, tool: name, arguments: callArguments, timeoutMs } = requestedTool;
  try {
    const server = await resolveServer(deps, connection);
    const fresh = await deps.mcpClient.knownTools(server, true);
    const hasRequestedTool = (tools: McpTool[] | null) => tools?.some((one) => one.name === name) === true;
    const tools = fresh && hasRequestedTool(fresh) ? fresh : await deps.mcpClient.listTools(server);
    const problem = findCallProblem(tools, requestedTool, filterAllowedTools(connection, tools));
    if (problem) return { failed: problem };
    const tool = tools.find((one) => one.name === name);
    const isSafe = tool?.isRepeatable === true;
    const allowedTools = connection.allowedTools as string[] | null;
    return {
      isIdempotent: isSafe,
      isReadOnly: tool?.isReadOnly === true,
      async call() {
        const sent = listHeaderValues(server.headers);
        try {
          const answer = await deps.mcpClient.callTool(server, {
            name,
            arguments: callArguments,
            allowedTools,
            timeoutMs,
          });
          return { outcome: toMcpOutcome(answer), sent };
        } catch (err) {
          if (!(err instanceof McpClientError)) throw err;
          return { outcome: toFailureOutcome(err, isSafe), sent };
        }
      },
    };
  } catch (err) {
    if (err instanceof McpClientError) return buildFailure('unavailable', `${declared} cannot be used: ${err.message}`);
    throw err;
  }
}

function toFailureOutcome({ code, message, mayHaveHappened }: McpClientError, isSafe: boolean): ToolOutcome {
  const isFinal = mayHaveHappened && !isSafe;
  if (code === 'too_large') return { failed: createToolFailure('too_large', `${message}; request less data`), isFinal };
  return { failed: createToolFailure(isFinal ? 'outcome_unknown' : 'unavailable', message), isFinal };
}

async function prepareAppCall(
  deps: ConnectionToolDeps,
  connection: Connection,
  requestedTool: RequestedTool,
): Promise<PreparedCall | { failed: ToolFailure }> {
  const integration = await findIntegration(deps, connection.workspaceId, connection.app);
  const tools = integration?.provider.tools ?? [];
  const tool = tools.find(({ name }) => name === requestedTool.tool);
  const problem = findCallProblem(tools, requestedTool);
  if (!integration || !tool || problem)
    return { failed: problem ?? createToolFailure('unknown_tool', `${requestedTool.connection} has no tools`) };
  const { provider } = integration;
  if (connection.kind === 'api_key' && !provider.keysAreSentAlike) {
    const message = `${provider.name} tools require an account connected through OAuth, not an API key`;
    return buildFailure('unavailable', message);
  }
  const call: AppCall = {
    provider,
    tool,
    parameters: getParameters(connection),
    hosts: connection.hosts,
    allow: deps.outboundAllow,
    arguments: requestedTool.arguments,
    timeoutMs: requestedTool.timeoutMs,
  };
  const request = buildAppRequest(call);
  if ('failed' in request) return request;
  const current = await refreshIfDue(deps, connection);
  const token = await findAccessToken(deps, current);
  if (token === null)
    return buildFailure('unavailable', current.problem ?? 'the stored credential cannot be decrypted');
  return {
    isIdempotent: isIdempotent(tool),
    isReadOnly: isReadOnly(tool),
    async call() {
      const first = await sendAppRequest(call, request, token);
      if (first.status !== 401 || current.kind !== 'oauth') return { outcome: first.outcome, sent: [token] };
      // Refused, so nothing has happened; a provider that names no time has ended the token.
      const renewed = await findAccessToken(deps, await refreshConnection(deps, current));
      if (renewed === null || isSameSecret(renewed, token)) return { outcome: first.outcome, sent: [token] };
      return { outcome: (await sendAppRequest(call, request, renewed)).outcome, sent: [token, renewed] };
    },
  };
}

/** Null: there is none that could be used. */
async function findAccessToken(deps: ConnectionToolDeps, connection: Connection): Promise<string | null> {
  const credential = connection.status === 'active' ? await openCredentialOrNull(deps, connection) : null;
  if (credential?.kind === 'api_key') return credential.value;
  return credential?.kind === 'oauth' ? credential.accessToken : null;
}
