import { type CallOf, endWhenRefused, type Operations, ok } from '@gantry/http';
import { auditOf, auditOfLink } from '../audit/audit';
import { urlOf } from '../automations/automation';
import type { Deps } from '../deps';
import { toRunDetail, toRunResult } from '../runs/run-result';
import { cancelled, redirectToArtifact } from '../runs/run-routes';
import { askedBy, startRun, waitMsOf } from '../runs/start-run';
import { getPageRun, mayRun, pageAccess, requireMayRun } from './page-access';
import { shownEvents, shownTo } from './shown-to-strangers';

export function pageOperations(deps: Deps): Operations<'automation'> {
  const { engine } = deps;

  async function seeRun(call: CallOf<'automation', 'runFromPage'>, runId: string) {
    const access = await pageAccess(deps, call);
    requireMayRun(access);
    return { access, run: await getPageRun(deps, access, runId) };
  }

  return {
    getPage: async (call) => {
      const access = await pageAccess(deps, call);
      const { id, name, description, status, visibility, version, workspaceId, artifactId } = access.automation;
      const { manifest, inputs, spec } = await deps.runnables.get(workspaceId, artifactId);
      return ok({
        id,
        name,
        description,
        status,
        visibility,
        currentVersion: version,
        url: urlOf(deps.dashboardUrl, id),
        inputs: manifest.inputs,
        outputs: manifest.outputs,
        inputSchema: inputs.schema,
        access: access.kind,
        canRun: status === 'active' && mayRun(access),
        ...(access.kind === 'member' && { missingSecrets: await deps.secrets.missing(workspaceId, spec.secrets) }),
      });
    },

    runFromPage: {
      make: async (call) => {
        const access = await pageAccess(deps, call);
        requireMayRun(access);
        const run = await startRun(deps, access.automation, {
          ...askedBy(call.req),
          trigger: access.kind === 'member' ? 'page' : 'link',
          createdBy: access.member?.userId ?? null,
        });
        return ok(shownTo(access, run, await toRunResult(engine, run)));
      },
      see: seeRun,
      answer: async (call, runId) => {
        const { access, run } = await seeRun(call, runId);
        const ended = await engine.waitForEnd(run, waitMsOf(call.req));
        return ok(shownTo(access, ended, await toRunResult(engine, ended)));
      },
    },

    getPageRun: async (call) => {
      const access = await pageAccess(deps, call);
      const run = await getPageRun(deps, access, call.path.runId);
      return ok(shownTo(access, run, await toRunDetail(engine, run)));
    },

    cancelPageRun: async (call) => {
      const access = await pageAccess(deps, call);
      requireMayRun(access);
      const { workspaceId, id } = await getPageRun(deps, access, call.path.runId);
      const audit = access.kind === 'member' ? auditOf(call.req) : auditOfLink(call.req, workspaceId);
      const run = await engine.cancel(workspaceId, id, (tx) => audit(tx, cancelled(id)));
      return ok(shownTo(access, run, await toRunDetail(engine, run)));
    },

    streamPageRunEvents: async (call) => {
      const { req, res, path, query } = call;
      const access = await pageAccess(deps, call);
      const run = await getPageRun(deps, access, path.runId);
      // A visitor reads while the page is public; membership of others is checked with their credential.
      if (access.kind === 'link') endWhenRefused(req, `page ${access.automation.id}`, () => pageAccess(deps, call));
      await engine.stream(req, res, run, query.logs ? 'all' : 'no-logs', shownEvents(access, run));
    },

    downloadPageRunArtifact: async (call) => {
      const run = await getPageRun(deps, await pageAccess(deps, call), call.path.runId);
      await redirectToArtifact(deps, call.res, run, call.path.artifactId);
    },
  };
}
