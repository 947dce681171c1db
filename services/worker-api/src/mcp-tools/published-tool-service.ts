/** Workers become tools and cease to be: the row commits with its audit entry. */
import { type AppError, conflict } from '@gantry/errors';
import type { OperationCall, Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../audit/audit-entry';
import { TOOLS } from '../mcp/tools';
import { lockVisibleWorker } from '../workers/worker-repository';
import type { McpToolDeps } from './mcp-tool-deps';
import {
  countPublishedTools,
  deletePublishedTool,
  getPublishedTool,
  insertPublishedTool,
} from './published-tool-repository';

/** As many as one page of the list holds, so that `/mcp` reads them with one request. */
const TOOLS_MAX = 200;
const NAME_CHARS_MAX = 48;

type NewPublishedTool = OperationCall<'worker', 'publishMcpTool'>['body'];

/** @returns the tool's name. @throws AppError 404; 409 `name_taken`, `too_many_tools` */
export async function publishTool(deps: McpToolDeps, requester: Requester, input: NewPublishedTool): Promise<string> {
  const { caller, actor, markCreated } = requester;
  const { workspaceId } = caller;
  const { worker_id: workerId, name = toToolName(workerId), description = null } = input;
  if (TOOLS.some((tool) => tool.name === name)) throw createNameTakenError(name);
  await transaction(deps.prisma, async (tx) => {
    const worker = await lockVisibleWorker(tx, caller, workerId);
    if ((await countPublishedTools(tx, workspaceId)) >= TOOLS_MAX) {
      throw conflict('too_many_tools', `a workspace can publish at most ${TOOLS_MAX} workers as tools`);
    }
    const tool = { workspaceId, name, workerUid: worker.uid, description, createdAt: deps.now() };
    if (!(await insertPublishedTool(tx, tool))) throw createNameTakenError(name);
    await recordChange(tx, actor, 'mcp_tool.published', { workspaceId, id: name }, { worker_id: worker.id });
    await markCreated(tx, name);
  });
  return name;
}

/** @throws AppError 404 */
export async function unpublishTool(deps: McpToolDeps, { caller, actor }: Requester, name: string): Promise<void> {
  const { workspaceId } = caller;
  await transaction(deps.prisma, async (tx) => {
    const tool = await getPublishedTool(tx, caller, name);
    if (!(await deletePublishedTool(tx, tool))) return;
    await recordChange(tx, actor, 'mcp_tool.withdrawn', { workspaceId, id: name }, { worker_id: tool.worker.id });
  });
}

/** `2024-report` is `worker_2024_report`. */
function toToolName(workerId: string): string {
  const plain = workerId.toLowerCase().replace(/[^a-z0-9]/g, '_');
  return (/^[a-z]/.test(plain) ? plain : `worker_${plain}`).slice(0, NAME_CHARS_MAX);
}

const createNameTakenError = (name: string): AppError =>
  conflict('name_taken', `name: a tool named "${name}" already exists; choose another name`);
