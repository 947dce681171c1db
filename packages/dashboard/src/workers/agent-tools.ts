/** Tools of agents, as a worker declares them: `python`, `context:handbook`, `linear.list_issues`. */

export const BUILT_IN_TOOLS = {
  python: { name: 'Python', about: 'Runs code written by the model, subject to the worker’s network rules' },
  http: { name: 'HTTP requests', about: 'Reads web pages and calls APIs, subject to the worker’s network rules' },
  ask_person: { name: 'Ask a person', about: 'Sends a question as an approval request and waits for the answer' },
} as const;

type BuiltInTool = keyof typeof BUILT_IN_TOOLS;

const isBuiltInTool = (tool: string): tool is BuiltInTool => tool in BUILT_IN_TOOLS;

type AgentTool =
  | { kind: BuiltInTool }
  | { kind: 'worker' | 'context'; name: string }
  /** `tool` null: all of them. */
  | { kind: 'connection'; connection: string; tool: string | null };

/** Parses a tool. @param connections those that the worker declares: their names may have dots */
export function parseTool(tool: string, connections: readonly string[]): AgentTool {
  if (isBuiltInTool(tool)) return { kind: tool };
  for (const kind of ['worker', 'context'] as const) {
    if (tool.startsWith(`${kind}:`)) return { kind, name: tool.slice(kind.length + 1) };
  }
  const declared = connections.find((one) => tool.startsWith(`${one}.`));
  const connection = declared ?? tool.slice(0, Math.max(0, tool.lastIndexOf('.')));
  const toolName = tool.slice(connection.length + 1);
  return { kind: 'connection', connection, tool: toolName === '*' ? null : toolName };
}

/** Returns the label of a tool in a list. */
export function formatToolLabel(tool: string, connections: readonly string[] = []): string {
  const read = parseTool(tool, connections);
  switch (read.kind) {
    case 'worker':
      return `Run worker ${read.name}`;
    case 'context':
      return `Read context ${read.name}`;
    case 'connection':
      return read.tool === null
        ? `All tools from ${read.connection}`
        : `${read.connection}: ${read.tool.replaceAll('_', ' ')}`;
    default:
      return BUILT_IN_TOOLS[read.kind].name;
  }
}

/** Whether calls of the tool can require approval: `ask_person` is itself a question, and reading changes nothing. */
export const canRequireApproval = (tool: string): boolean => tool !== 'ask_person' && !tool.startsWith('context:');
