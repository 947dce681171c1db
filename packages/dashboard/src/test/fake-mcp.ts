/** A fake MCP server with one tool, and the part of the protocol that a run needs to call it. */
const ISSUES = [
  { number: 7, title: 'Import loses the last row', comments: 3 },
  { number: 9, title: 'URGENT: make the logo bigger', comments: 0 },
];

const SERVER = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'issues', version: '1' },
};

const TOOL = {
  name: 'list_issues',
  description: 'Lists the open issues of a repository',
  annotations: { readOnlyHint: true },
  inputSchema: {
    type: 'object',
    required: ['owner', 'repo'],
    properties: { owner: { type: 'string' }, repo: { type: 'string' } },
  },
};

/** @returns the response to a request; undefined for a notification */
export function handleMcpMessage(message: string): object | undefined {
  const { id, method } = JSON.parse(message) as { id?: number; method: string };
  if (id === undefined) return undefined;
  const results: Record<string, object> = {
    initialize: SERVER,
    'tools/list': { tools: [TOOL] },
    'tools/call': { content: [{ type: 'text', text: JSON.stringify(ISSUES) }] },
  };
  const { [method]: result } = results;
  return { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'Method not found' } }) };
}
