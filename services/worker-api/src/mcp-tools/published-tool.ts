/** A published worker as the API and `/mcp` describe it. */
import { toApiFields } from '@gantry/http';
import { type InputItem, toInputSchema } from '@gantry/program';
import type { ToolWithWorker } from './published-tool-repository';

export const publishedToolToApi = (tool: ToolWithWorker, inputs: InputItem[]) => ({
  ...toApiFields(tool, 'name', 'createdAt'),
  description: tool.description ?? (tool.worker.description || `Runs the worker ${tool.worker.name}.`),
  // A worker that declares none takes any object.
  input_schema: inputs.length > 0 ? toInputSchema(inputs) : { type: 'object', additionalProperties: true },
  source: 'worker' as const,
  worker_id: tool.worker.id,
});
