import { isDeepStrictEqual } from 'node:util';
import { callerOf, creating, linkNextOffset, madeBy, type Operations, type Revisit } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Request } from 'express';
import { getArtifact } from '../artifacts/artifact-repository';
import type { Runnable } from '../artifacts/runnable';
import { type Audit, auditOf } from '../audit/audit';
import type { Db } from '../database';
import type { Deps } from '../deps';
import type { Automation, Visibility } from '../generated/prisma/client';
import { pathParam } from '../path-param';
import { changedSchedule, type ScheduleChange } from '../schedules/schedule-settings';
import { toDeployed, toDetail, toListItem, toVersion } from './automation';
import {
  type AutomationFilter,
  findVersion,
  getAutomation,
  listAutomations,
  listVersions,
  lockAutomation,
} from './automation-repository';
import { type Deployment, deploy, getDeployment, rollback, update } from './deploy';

interface Patch extends ScheduleChange {
  name?: string;
  description?: string;
  status?: Automation['status'];
  visibility?: Visibility;
}

export function automationOperations(deps: Deps): Operations {
  const { prisma, engine, dashboardUrl } = deps;
  const idOf = (req: Request) => pathParam(req, 'automationId');
  const answer = ({ automation, warnings }: Deployment) => toDeployed(automation, dashboardUrl, warnings);

  async function detail(automation: Automation) {
    const { workspaceId, id, currentVersion } = automation;
    const current = await findVersion(prisma, workspaceId, id, currentVersion);
    return toDetail(automation, await getArtifact(prisma, workspaceId, current?.artifactId ?? ''), dashboardUrl);
  }

  async function runnableOf(db: Db, { workspaceId, id, currentVersion }: Automation): Promise<Runnable> {
    const current = await findVersion(db, workspaceId, id, currentVersion);
    return deps.runnables.get(workspaceId, current?.artifactId ?? '');
  }

  async function patch(req: Request, change: Patch): Promise<Automation> {
    const { workspaceId } = callerOf(req);
    const id = idOf(req);
    // Read into memory first: inside the transaction it would take a second connection while holding one.
    await runnableOf(prisma, await getAutomation(prisma, workspaceId, id));
    const automation = await transaction(prisma, async (tx) => {
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
    return automation;
  }

  /** @param madeId an automation, or one with the version that it got: `aut_.../3` */
  const deploymentOf = (req: Request, madeId: string) =>
    getDeployment(deps, callerOf(req).workspaceId, madeId.split('/')[0] as string);

  const deployed = (status: number): Revisit => ({
    see: deploymentOf,
    answer: async (req, res, madeId) => {
      res.status(status).json(answer(await deploymentOf(req, madeId)));
    },
  });

  return {
    deployAutomation: creating(async (req, res) => {
      res.status(201).json(answer(await deploy(deps, callerOf(req), auditOf(req), madeBy(req), req.body)));
    }, deployed(201)),

    updateAutomation: creating(async (req, res) => {
      res.json(answer(await update(deps, callerOf(req), auditOf(req), madeBy(req), idOf(req), req.body)));
    }, deployed(200)),

    rollbackAutomation: creating(async (req, res) => {
      const { version } = req.body ?? {};
      res.json(answer(await rollback(deps, callerOf(req), auditOf(req), madeBy(req), idOf(req), version)));
    }, deployed(200)),

    listAutomations: async (req, res) => {
      const { workspaceId } = callerOf(req);
      const filter = req.query as unknown as AutomationFilter;
      const { automations, total } = await listAutomations(prisma, workspaceId, filter);
      const lastRuns = await engine.lastBySubject(
        workspaceId,
        automations.map(({ id }) => id),
      );
      linkNextOffset(req, res, filter, total);
      res.json({ automations: automations.map((one) => toListItem(one, lastRuns.get(one.id), dashboardUrl)) });
    },

    getAutomation: async (req, res) => {
      res.json(await detail(await getAutomation(prisma, callerOf(req).workspaceId, idOf(req))));
    },

    patchAutomation: async (req, res) => {
      res.json(await detail(await patch(req, req.body)));
    },

    archiveAutomation: async (req, res) => {
      await patch(req, { status: 'archived' });
      res.status(204).end();
    },

    listVersions: async (req, res) => {
      const { workspaceId } = callerOf(req);
      const { id, currentVersion } = await getAutomation(prisma, workspaceId, idOf(req));
      const versions = await listVersions(prisma, workspaceId, id);
      res.json({ versions: versions.map((version) => toVersion(version, currentVersion)) });
    },
  };
}

/** Of these the log says what they became; of the others, which may be long or confidential, only that they changed. */
const SHOWN = ['status', 'visibility', 'schedule', 'timezone', 'scheduleEnabled', 'misfire'] as const;
const NAMED = ['name', 'description', 'scheduleInputs'] as const;

/** Nothing for a request that left all as it was. */
async function recordPatch(tx: Db, audit: Audit, before: Automation, after: Automation): Promise<void> {
  const isChanged = (field: keyof Automation) => !isDeepStrictEqual(before[field], after[field]);
  const shown = SHOWN.filter(isChanged);
  const changed = [...shown, ...NAMED.filter(isChanged)];
  if (!changed.length) return;
  const isArchived = before.status !== 'archived' && after.status === 'archived';
  await audit(tx, {
    action: isArchived ? 'automation.archived' : 'automation.changed',
    resource: { type: 'automation', id: after.id },
    details: { changed, to: Object.fromEntries(shown.map((field) => [field, after[field]])) },
  });
}

/** Prisma (strictUndefinedChecks) refuses undefined rather than guess what it means. */
const withoutUndefined = <T extends object>(data: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
