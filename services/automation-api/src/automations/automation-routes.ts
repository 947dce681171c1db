import { isDeepStrictEqual } from 'node:util';
import {
  buildPageHeaders,
  type Call,
  created,
  type HandlerResponse,
  noContent,
  type OperationCall,
  type Operations,
  ok,
  paginate,
  respondWith,
} from '@gantry/http';
import { getTokenScope } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { getArtifact } from '../artifacts/artifact-repository';
import type { Runnable } from '../artifacts/runnable';
import { type Audit, createAudit } from '../audit/audit';
import type { Db } from '../database';
import type { Deps } from '../deps';
import type { Automation } from '../generated/prisma/client';
import { applyScheduleInput } from '../schedules/schedule-settings';
import { toDeploymentResponse, toDetail, toListItem, toVersion } from './automation';
import { findVersion, getAutomation, listAutomations, listVersions, lockAutomation } from './automation-repository';
import { type Deployment, deployAutomation, getDeployment, rollbackAutomation, updateAutomation } from './deploy';

type Patch = OperationCall<'automation', 'patchAutomation'>['body'];
type AutomationCall = Pick<Call<{ automationId: string }>, 'caller' | 'path' | 'req'>;

export function createAutomationOperations(deps: Deps): Operations<'automation'> {
  const { prisma, engine, dashboardUrl } = deps;
  const toApi = ({ automation, warnings }: Deployment) => toDeploymentResponse(automation, dashboardUrl, warnings);

  async function buildDetail(automation: Automation) {
    const { workspaceId, id, currentVersion } = automation;
    const current = await findVersion(prisma, workspaceId, id, currentVersion);
    return toDetail(automation, await getArtifact(prisma, workspaceId, current?.artifactId ?? ''), dashboardUrl);
  }

  async function loadRunnable(db: Db, { workspaceId, id, currentVersion }: Automation): Promise<Runnable> {
    const current = await findVersion(db, workspaceId, id, currentVersion);
    return deps.runnables.get(workspaceId, current?.artifactId ?? '');
  }

  async function applyPatch({ caller, path, req }: AutomationCall, change: Patch): Promise<Automation> {
    const { workspaceId } = caller;
    const id = path.automationId;
    // Cached before the transaction, which would otherwise need a second connection.
    await loadRunnable(prisma, await getAutomation(prisma, workspaceId, id));
    return transaction(prisma, async (tx) => {
      const before = await lockAutomation(tx, workspaceId, id);
      const runnable = await loadRunnable(tx, before);
      const { name, description, status, visibility } = change;
      const data = { name, description, status, visibility };
      const after = await tx.automation.update({
        where: { id },
        data: { ...omitUndefined(data), ...applyScheduleInput(before, change, runnable, deps.now()) },
      });
      await recordPatch(tx, createAudit(req), before, after);
      return after;
    });
  }

  /** @param createdId an automation id, or one with the version that was created: `aut_.../3` */
  const loadDeployment = ({ caller }: Pick<Call, 'caller'>, createdId: string) =>
    getDeployment(deps, caller.workspaceId, createdId.split('/')[0] as string);

  const createReplayHandlers = (status: number) => ({
    assertVisible: loadDeployment,
    answer: async (call: Pick<Call, 'caller'>, madeId: string): Promise<HandlerResponse> =>
      respondWith(status, toApi(await loadDeployment(call, madeId))),
  });

  return {
    deployAutomation: {
      create: async (call) => created(toApi(await deployAutomation(deps, call, call.body))),
      ...createReplayHandlers(201),
    },

    updateAutomation: {
      create: async (call) => ok(toApi(await updateAutomation(deps, call, call.path.automationId, call.body))),
      ...createReplayHandlers(200),
    },

    rollbackAutomation: {
      create: async (call) =>
        ok(toApi(await rollbackAutomation(deps, call, call.path.automationId, call.body?.version))),
      ...createReplayHandlers(200),
    },

    listAutomations: async ({ caller, req, query }) => {
      const { workspaceId } = caller;
      const visibleIds = getTokenScope(caller, 'automations');
      const { automations, total } = await listAutomations(prisma, workspaceId, query, visibleIds);
      const lastRuns = await engine.lastBySubject(
        workspaceId,
        automations.map(({ id }) => id),
      );
      return ok(
        { automations: automations.map((one) => toListItem(one, lastRuns.get(one.id), dashboardUrl)) },
        buildPageHeaders(req, query, total),
      );
    },

    getAutomation: async ({ caller, path }) =>
      ok(await buildDetail(await getAutomation(prisma, caller.workspaceId, path.automationId))),

    patchAutomation: async (call) => ok(await buildDetail(await applyPatch(call, call.body))),

    archiveAutomation: async (call) => applyPatch(call, { status: 'archived' }).then(noContent),

    listVersions: async (call) => {
      const { workspaceId } = call.caller;
      const { id, currentVersion } = await getAutomation(prisma, workspaceId, call.path.automationId);
      const { rows, headers } = paginate(call, await listVersions(prisma, workspaceId, id));
      return ok({ versions: rows.map((version) => toVersion(version, currentVersion)) }, headers);
    },
  };
}

/** Fields whose new value is audited; of the others, which may be long or confidential, only the name is. */
const LOGGED_FIELDS = ['status', 'visibility', 'schedule', 'timezone', 'scheduleEnabled', 'misfire'] as const;
const NAME_ONLY_FIELDS = ['name', 'description', 'scheduleInputs'] as const;

/** Records a change; a request that changed nothing records nothing. */
async function recordPatch(tx: Db, audit: Audit, before: Automation, after: Automation): Promise<void> {
  const isChanged = (field: keyof Automation) => !isDeepStrictEqual(before[field], after[field]);
  const loggedFields = LOGGED_FIELDS.filter(isChanged);
  const changed = [...loggedFields, ...NAME_ONLY_FIELDS.filter(isChanged)];
  if (!changed.length) return;
  const isArchived = before.status !== 'archived' && after.status === 'archived';
  await audit(tx, {
    action: isArchived ? 'automation.archived' : 'automation.changed',
    id: after.id,
    details: { changed, to: Object.fromEntries(loggedFields.map((field) => [field, after[field]])) },
  });
}

/** Prisma (strictUndefinedChecks) refuses undefined rather than guess what it means. */
const omitUndefined = <T extends object>(data: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
