/**
 * Clients decide by hints whether a person is asked before a call. They follow here from how each operation is
 * declared.
 */
import { type Operation, readOperations } from '@gantry/http';
import { openapiFiles } from '@gantry/openapi';
import { setupResource } from '@gantry/testing';
import type { ToolAnnotations } from '@modelcontextprotocol/client';
import { connectMcp } from '../test/connect-mcp';
import { testWorkerApi } from '../test/test-worker-api';
import type { Tool } from './tool';
import { TOOLS } from './tools';

const api = testWorkerApi();
const shownTools = setupResource(async () => (await (await connectMcp(api, api.owner.jwt)).listTools()).tools);

type Hints = Omit<ToolAnnotations, 'title'>;

const READS: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const EXCEPTIONS: Record<string, Hints> = {
  // Others may have read it before it is deleted.
  publish_skill: { destructiveHint: true, openWorldHint: true },
  // Begins what a person has to finish at the provider, and lets no code run.
  connect_app: { destructiveHint: false },
  // It is given no message, so no run begins.
  start_conversation: { destructiveHint: false, openWorldHint: false },
  // A second verdict is refused. Its run may have gone on to the next approval.
  decide_approval: { idempotentHint: false },
};

/** `contained` operations let no run begin or go on, and a POST that takes an Idempotency-Key creates something. */
function deriveHints(operations: Operation[]): Hints {
  if (operations.every(({ method }) => method === 'get')) return READS;
  const isContained = operations.every(({ restrict }) => restrict.effect === 'contained');
  const creates = operations.some(({ method, idempotent }) => method === 'post' && idempotent);
  return {
    readOnlyHint: false,
    destructiveHint: !(isContained && creates),
    idempotentHint: !creates,
    openWorldHint: !isContained,
  };
}

function listOperations({ surface, operationId, choice }: Tool): Operation[] {
  const ids = choice ? Object.values(choice.operations) : [operationId];
  return readOperations(openapiFiles[surface]).filter(({ id }) => ids.includes(id));
}

test('the hints of each tool are those of the worst operation that it may call', () => {
  const shown = Object.fromEntries(shownTools.map(({ name, title, annotations }) => [name, { title, ...annotations }]));
  const derived = TOOLS.map((tool) => {
    const hints = { ...deriveHints(listOperations(tool)), ...EXCEPTIONS[tool.name] };
    return [tool.name, { title: tool.title, ...hints }];
  });
  expect(shown).toEqual(Object.fromEntries(derived));
});

test.each([
  ...[
    'create_worker',
    'update_worker',
    'update_worker_files',
    'run_worker',
    'send_message',
    'replay_run',
    'repair_run',
  ],
  ...['evaluate_worker', 'create_candidate', 'promote_candidate', 'decide_approval'],
  ...['run_automation', 'test_artifact', 'deploy_automation'],
])('%s lets code run, which may reach anything and undo anything', (name) => {
  const worst = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };
  expect(shownTools.find((tool) => tool.name === name)?.annotations).toMatchObject(worst);
});
