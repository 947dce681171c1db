/** Deploys, updates and rolls back, which move `currentVersion`. Row and event commit together. */

import { type AppError, conflict, notFound } from '@gantry/errors';
import { automationDeployed, enqueue, newId } from '@gantry/events';
import type { Call, OperationCall } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { announceDependencies } from '../artifacts/announce-dependencies';
import { getArtifact } from '../artifacts/artifact-repository';
import type { Runnable } from '../artifacts/runnable';
import { createAudit } from '../audit/audit';
import type { Deps } from '../deps';
import type { Automation, Prisma } from '../generated/prisma/client';
import { applyScheduleInput, listScheduleInputProblems, NO_SCHEDULE } from '../schedules/schedule-settings';
import { findVersion, getAutomation, lockAutomation } from './automation-repository';

export interface Deployment {
  automation: Automation;
  warnings: string[];
}

type DeployCall = Pick<Call, 'caller' | 'markCreated' | 'req'>;
export type NewAutomation = OperationCall<'automation', 'deployAutomation'>['body'];

export async function deployAutomation(deps: Deps, call: DeployCall, input: NewAutomation): Promise<Deployment> {
  const { workspaceId, userId } = call.caller;
  const runnable = await deps.runnables.get(workspaceId, input.artifactId);
  const { manifest } = runnable;
  const data = {
    id: newId('aut_'),
    workspaceId,
    name: input.name ?? manifest.name,
    description: input.description ?? manifest.description,
    visibility: input.visibility ?? 'private',
    currentVersion: 1,
    createdBy: userId,
    createdAt: deps.now(),
    ...applyScheduleInput(NO_SCHEDULE, input, runnable, deps.now()),
  };
  const automation = await transaction(deps.prisma, async (tx) => {
    const deployed = await tx.automation.create({ data });
    await addVersion(tx, call.caller, deployed, { version: 1, artifactId: input.artifactId, message: null });
    await createAudit(call.req)(tx, {
      action: 'automation.deployed',
      id: deployed.id,
      details: { artifactId: input.artifactId, visibility: deployed.visibility, schedule: deployed.schedule },
    });
    await call.markCreated(tx, deployed.id);
    return deployed;
  });
  return completeDeployment(deps, automation, runnable);
}

/** Adds a version, the highest + 1, and makes it current. @throws AppError 404; 409 when archived */
export async function updateAutomation(
  deps: Deps,
  call: DeployCall,
  automationId: string,
  input: { artifactId: string; message?: string },
): Promise<Deployment> {
  const { workspaceId } = call.caller;
  const runnable = await deps.runnables.get(workspaceId, input.artifactId);
  const automation = await transaction(deps.prisma, async (tx) => {
    const before = await lockAutomation(tx, workspaceId, automationId);
    if (before.status === 'archived') throw conflict('archived', 'this automation is archived; activate it first');
    await getArtifact(tx, workspaceId, input.artifactId);
    const highest = await findVersion(tx, workspaceId, automationId, { gt: 0 });
    const version = (highest?.version ?? 0) + 1;
    await addVersion(tx, call.caller, before, {
      version,
      artifactId: input.artifactId,
      message: input.message ?? null,
    });
    await createAudit(call.req)(tx, {
      action: 'automation.updated',
      id: automationId,
      details: { artifactId: input.artifactId, from: before.currentVersion, to: version },
    });
    await call.markCreated(tx, `${automationId}/${version}`);
    return tx.automation.update({ where: { id: automationId }, data: { currentVersion: version } });
  });
  return completeDeployment(deps, automation, runnable);
}

/** Makes an earlier version current, by default the previous one. @throws AppError 404; 409 if there is none */
export async function rollbackAutomation(
  deps: Deps,
  call: DeployCall,
  automationId: string,
  requestedVersion: number | undefined,
): Promise<Deployment> {
  const { workspaceId } = call.caller;
  const { automation, artifactId } = await transaction(deps.prisma, async (tx) => {
    const before = await lockAutomation(tx, workspaceId, automationId);
    if (before.status === 'archived') throw conflict('archived', 'this automation is archived; activate it first');
    const target = await findVersion(tx, workspaceId, automationId, requestedVersion ?? { lt: before.currentVersion });
    if (!target)
      throw requestedVersion === undefined
        ? noPreviousVersionError(before)
        : notFound('version', String(requestedVersion), 'of this automation');
    const { version, artifactId } = target;
    await enqueue(tx, automationDeployed, workspaceId, { automationId, version, artifactId });
    await createAudit(call.req)(tx, {
      action: 'automation.rolled_back',
      id: automationId,
      details: { artifactId, from: before.currentVersion, to: version },
    });
    await call.markCreated(tx, `${automationId}/${version}`);
    const after = await tx.automation.update({ where: { id: automationId }, data: { currentVersion: version } });
    return { automation: after, artifactId };
  });
  const runnable = await deps.runnables.get(workspaceId, artifactId);
  return completeDeployment(deps, automation, runnable);
}

/** Announces the packages of the current version, and lists what the caller should know about it. */
async function completeDeployment(deps: Deps, automation: Automation, runnable: Runnable): Promise<Deployment> {
  await announceDependencies(deps, automation.workspaceId, runnable.spec);
  return { automation, warnings: await listWarnings(deps, automation, runnable) };
}

/** Returns what deploy, update and rollback would return now. @throws AppError 404 */
export async function getDeployment(deps: Deps, workspaceId: string, automationId: string): Promise<Deployment> {
  const automation = await getAutomation(deps.prisma, workspaceId, automationId);
  const current = await findVersion(deps.prisma, workspaceId, automationId, automation.currentVersion);
  const runnable = await deps.runnables.get(workspaceId, current?.artifactId ?? '');
  return { automation, warnings: await listWarnings(deps, automation, runnable) };
}

const noPreviousVersionError = ({ currentVersion }: Automation): AppError =>
  conflict(
    'no_previous_version',
    `version ${currentVersion} is the first version; there is no earlier one to roll back to`,
  );

async function addVersion(
  tx: Prisma.TransactionClient,
  { workspaceId, userId }: Principal,
  { id: automationId }: Automation,
  newVersion: { version: number; artifactId: string; message: string | null },
): Promise<void> {
  await tx.automationVersion.create({ data: { ...newVersion, automationId, workspaceId, createdBy: userId } });
  const { version, artifactId } = newVersion;
  await enqueue(tx, automationDeployed, workspaceId, { automationId, version, artifactId });
}

/** Lists warnings about problems that later runs will have. */
async function listWarnings(deps: Deps, automation: Automation, runnable: Runnable): Promise<string[]> {
  const missing = await deps.secrets.missing(automation.workspaceId, runnable.spec.secrets);
  const warnings = missing.map((name) => `the secret ${name} is not set yet: runs will fail until it is set`);
  if (!automation.scheduleEnabled) return warnings;
  const problems = listScheduleInputProblems(runnable, automation.scheduleInputs as Record<string, unknown>);
  return [...warnings, ...problems.map(({ path, message }) => `scheduled runs will fail: ${path} ${message}`)];
}
