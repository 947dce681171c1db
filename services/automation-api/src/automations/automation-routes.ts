import { isDeepStrictEqual } from 'node:util';
import {
  type Answer,
  answer,
  type Call,
  type CallOf,
  created,
  noContent,
  type Operations,
  ok,
  pageHeaders,
  pageOf,
  reachOf,
} from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { getArtifact } from '../artifacts/artifact-repository';
import type { Runnable } from '../artifacts/runnable';
import { type Audit, auditOf } from '../audit/audit';
import type { Db } from '../database';
import type { Deps } from '../deps';
import type { Automation } from '../generated/prisma/client';
import { changedSchedule } from '../schedules/schedule-settings';
import { toDeployed, toDetail, toListItem, toVersion } from './automation';
import { findVersion, getAutomation, listAutomations, listVersions, lockAutomation } from './automation-repository';
import { type Deployment, deploy, getDeployment, rollback, update } from './deploy';

type Patch = CallOf<'automation', 'patchAutomation'>['body'];
type InAutomation = Pick<Call<{ automationId: string }>, 'caller' | 'path' | 'req'>;

export function automationOperations(deps: Deps): Operations<'automation'> {
  const { prisma, engine, dashboardUrl } = deps;
  const toApi = ({ automation, warnings }: Deployment) => toDeployed(automation, dashboardUrl, warnings);

  async function detail(automation: Automation) {
    const { workspaceId, id, currentVersion } = automation;
    const current = await findVersion(prisma, workspaceId, id, currentVersion);
    return toDetail(automation, await getArtifact(prisma, workspaceId, current?.artifactId ?? ''), dashboardUrl);
  }

  async function runnableOf(db: Db, { workspaceId, id, currentVersion }: Automation): Promise<Runnable> {
    const current = await findVersion(db, workspaceId, id, currentVersion);
    return deps.runnables.get(workspaceId, current?.artifactId ?? '');
  }

  async function patch({ caller, path, req }: InAutomation, change: Patch): Promise<Automation> {
    const { workspaceId } = caller;
    const id = path.automationId;
    // Cached before the transaction, which would otherwise need a second connection.
    await runnableOf(prisma, await getAutomation(prisma, workspaceId, id));
    return transaction(prisma, async (tx) => {
      const before = await lockAutomation(tx, workspaceId, id);
      const runnable = await runnableOf(tx, before);
      const { name, description, status, visibility } = change;
      const data = { name, description, status, visibility };
      const after = await tx.automation.update({
        where: { id },
        data: { ...withoutUndefined(data), ...changedSchedule(before, change, runnable, deps.now()) },
      });
      await recordPatch(tx, auditOf(req), before, after);
      return after;
    });
  }

  /** @param madeId an automation id, or one with the version that was created: `aut_.../3` */
  const deploymentOf = ({ caller }: Pick<Call, 'caller'>, madeId: string) =>
    getDeployment(deps, caller.workspaceId, madeId.split('/')[0] as string);

  const revisited = (status: number) => ({
    see: deploymentOf,
    answer: async (call: Pick<Call, 'caller'>, madeId: string): Promise<Answer> =>
      answer(status, toApi(await deploymentOf(call, madeId))),
  });

  return {
    deployAutomation: {
      make: async (call) => created(toApi(await deploy(deps, call, call.body))),
      ...revisited(201),
    },

    updateAutomation: {
      make: async (call) => ok(toApi(await update(deps, call, call.path.automationId, call.body))),
      ...revisited(200),
    },

    rollbackAutomation: {
      make: async (call) => ok(toApi(await rollback(deps, call, call.path.automationId, call.body?.version))),
      ...revisited(200),
    },

    listAutomations: async ({ caller, req, query }) => {
      const { workspaceId } = caller;
      const reach = reachOf(caller, 'automations');
      const { automations, total } = await listAutomations(prisma, workspaceId, query, reach);
      const lastRuns = await engine.lastBySubject(
        workspaceId,
        automations.map(({ id }) => id),
      );
      return ok(
        { automations: automations.map((one) => toListItem(one, lastRuns.get(one.id), dashboardUrl)) },
        pageHeaders(req, query, total),
      );
    },

    getAutomation: async ({ caller, path }) =>
      ok(await detail(await getAutomation(prisma, caller.workspaceId, path.automationId))),

    patchAutomation: async (call) => ok(await detail(await patch(call, call.body))),

    archiveAutomation: async (call) => patch(call, { status: 'archived' }).then(noContent),

    listVersions: async (call) => {
      const { workspaceId } = call.caller;
      const { id, currentVersion } = await getAutomation(prisma, workspaceId, call.path.automationId);
      const { rows, headers } = pageOf(call, await listVersions(prisma, workspaceId, id));
      return ok({ versions: rows.map((version) => toVersion(version, currentVersion)) }, headers);
    },
  };
}

/** Fields whose new value is audited; of the others, which may be long or confidential, only the name is. */
const SHOWN = ['status', 'visibility', 'schedule', 'timezone', 'scheduleEnabled', 'misfire'] as const;
const NAMED = ['name', 'description', 'scheduleInputs'] as const;

/** Records a change; a request that changed nothing records nothing. */
async function recordPatch(tx: Db, audit: Audit, before: Automation, after: Automation): Promise<void> {
  const isChanged = (field: keyof Automation) => !isDeepStrictEqual(before[field], after[field]);
  const shown = SHOWN.filter(isChanged);
  const changed = [...shown, ...NAMED.filter(isChanged)];
  if (!changed.length) return;
  const isArchived = before.status !== 'archived' && after.status === 'archived';
  await audit(tx, {
    action: isArchived ? 'automation.archived' : 'automation.changed',
    id: after.id,
    details: { changed, to: Object.fromEntries(shown.map((field) => [field, after[field]])) },
  });
}

/** Prisma (strictUndefinedChecks) refuses undefined rather than guess what it means. */
const withoutUndefined = <T extends object>(data: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
