/** Which tools a credential is offered, and how they are described. */

import { readOperations } from '@gantry/http';
import { isOperationAllowed, type Principal } from '@gantry/limits';
import { openapiFiles, type Surface } from '@gantry/openapi';
import type { Tool as DescribedTool } from '@modelcontextprotocol/server';
import type { createShapeResolver, Json } from './operation-schemas';
import type { Tool } from './tool';
import { FILE_OUTPUT } from './tool-result';

const listOperations = (surface: Surface) =>
  new Map(readOperations(openapiFiles[surface]).map((operation) => [operation.id, operation]));

const OPERATIONS = {
  worker: listOperations('worker'),
  automation: listOperations('automation'),
  skills: listOperations('skills'),
} satisfies Record<Surface, unknown>;

/**
 * A restricted token is offered the tools of its toolsets whose operations it may use at all; those decide in the end.
 */
export function isOffered({ toolset, surface, operationId }: Tool, restriction: Principal['restriction']): boolean {
  if (!restriction) return true;
  if (restriction.toolsets && !restriction.toolsets.includes(toolset)) return false;
  const operation = OPERATIONS[surface].get(operationId);
  return operation !== undefined && isOperationAllowed(restriction, operation);
}

/** A tool that waits answers with the run. @throws Error for an operation that answers no JSON */
export function buildOutputSchema(
  { waits, surface, operationId }: Tool,
  shapeOf: ReturnType<typeof createShapeResolver>,
) {
  const { output } = waits ? shapeOf('worker', 'getRun') : shapeOf(surface, operationId);
  if (!output) throw new Error(`${operationId}: a tool's operation must return JSON`);
  return { ...output, type: 'object' as const };
}

export function describeTool(tool: Tool, shapeOf: ReturnType<typeof createShapeResolver>): DescribedTool {
  const { name, title, description, hints, example, without = [], fixed = {}, choice, answersText } = tool;
  const { input } = shapeOf(tool.surface, tool.operationId);
  const { properties, required } = input as { properties: Json; required: string[] };
  const left = [...without, ...Object.keys(fixed)];
  const chosen = choice && {
    [choice.argument]: { type: 'string', enum: Object.keys(choice.operations), description: choice.description },
  };
  // Bounded: names of arguments that our own list of tools writes out.
  return {
    name,
    title,
    description,
    inputSchema: {
      ...input,
      type: 'object' as const,
      properties: {
        ...Object.fromEntries(Object.entries(properties).filter(([key]) => !left.includes(key))),
        ...chosen,
      } as DescribedTool['inputSchema']['properties'],
      required: [...required.filter((key) => !left.includes(key)), ...(choice ? [choice.argument] : [])],
      examples: [example],
    },
    outputSchema: answersText ? FILE_OUTPUT : buildOutputSchema(tool, shapeOf),
    annotations: { title, ...hints },
  };
}
