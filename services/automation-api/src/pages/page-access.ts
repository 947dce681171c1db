/**
 * Decides access to the page at an automation's `url`: members of its workspace have it and, while the page is public,
 * so does every visitor with the link. A visitor gets what the page needs and nothing else of the workspace; runs that
 * were not started from the link do not exist for them.
 */
import { AppError, forbidden, notFound } from '@gantry/errors';
import type { Call } from '@gantry/http';
import { hasRoleAtLeast, type Principal } from '@gantry/limits';
import type { Run } from '@gantry/run-engine';
import { type CurrentVersion, findCurrentVersion } from '../automations/current-version';
import type { Deps } from '../deps';

export type PageAccess =
  | { kind: 'member'; automation: CurrentVersion; member: Principal }
  | { kind: 'link'; automation: CurrentVersion; member: null };

/** @throws AppError 401 or 404, the same for a private automation and an unknown one */
export async function getPageAccess(
  deps: Deps,
  { req, path: { automationId } }: Pick<Call<{ automationId: string }>, 'req' | 'path'>,
): Promise<PageAccess> {
  const automation = await findCurrentVersion(deps.pool, automationId);
  const { principal } = req;
  if (automation && principal && automation.workspaceId === principal.workspaceId) {
    return { kind: 'member', automation, member: principal };
  }
  if (automation?.visibility === 'public' && automation.status !== 'archived') {
    return { kind: 'link', automation, member: null };
  }
  if (principal) throw notFound('automation', automationId);
  throw new AppError('unauthorized', 'no_credential', 'this automation is not public: sign in to see it');
}

export const canRun = (access: PageAccess): boolean =>
  access.kind === 'link' || hasRoleAtLeast(access.member.role, 'member');

export function assertCanRun(access: PageAccess): void {
  if (!canRun(access)) throw forbidden('role_too_low', 'viewers in this workspace cannot run this automation');
}

/** @throws AppError 404, also for a run of the same automation that a visitor may not see */
export async function getPageRun(deps: Deps, access: PageAccess, runId: string): Promise<Run> {
  const { automation } = access;
  const run = await deps.engine.get(automation.workspaceId, runId);
  const isVisible = access.kind === 'member' || run.trigger === 'link';
  if (run.kind !== 'run' || run.subjectId !== automation.id || !isVisible) throw notFound('run', runId);
  return run;
}
