/** The description of a tool of agents, the sets of tools, and the hints that several tools share. */
import type { Surface } from '@gantry/openapi';
import type { ToolAnnotations } from '@modelcontextprotocol/server';

/** The set of the workers that are published as tools: no tool of the table below is in it. */
export const PUBLISHED = 'published';

export const TOOLSETS = [
  ...['workers', 'runs', 'approvals', 'automations', 'skills', 'contexts', 'connections', 'overview'],
  PUBLISHED,
] as const;
export type Toolset = (typeof TOOLSETS)[number];

/**
 * As the protocol has them, and true of the worst call: `destructiveHint` changes or removes something that exists, or
 * lets code run; `openWorldHint` reaches things outside of Gantry, or shows something to others.
 */
type ToolHints = Required<Omit<ToolAnnotations, 'title'>>;

export interface Tool {
  name: string;
  title: string;
  description: string;
  toolset: Toolset;
  surface: Surface;
  operationId: string;
  hints: ToolHints;
  /** Arguments of a call. */
  example: Record<string, unknown>;
  /** Arguments that the tool sets itself, so that its caller is not asked for them. */
  fixed?: Record<string, unknown>;
  /** Arguments of the operation that are left out: they make no sense for an agent. */
  without?: string[];
  /** The answer is a file's text, not JSON. */
  answersText?: boolean;
  /** Waits for the run that it starts. */
  waits?: boolean;
  /** Whether the chat waits for its person before a call with these arguments. Default: where it is destructive. */
  asksFirst?: (given: Record<string, unknown>) => boolean;
  /** An argument that chooses between two operations, such as a verdict. */
  choice?: { argument: string; description: string; operations: Record<string, string> };
}

export const READ_HINTS: ToolHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
export const CREATE_HINTS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
export const UPDATE_HINTS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};
/** Triggers run what is changed. */
export const DEPLOY_HINTS: ToolHints = { ...UPDATE_HINTS, openWorldHint: true };
/** Code of the workspace does what it was written for, anywhere. */
export const RUN_HINTS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** Tools of one set, whose operations are all on one surface, by name. */
export const defineTools = (
  toolset: Toolset,
  surface: Surface,
  tools: Record<string, Omit<Tool, 'name' | 'toolset' | 'surface'>>,
): Tool[] => Object.entries(tools).map(([name, tool]) => ({ name, toolset, surface, ...tool }));
