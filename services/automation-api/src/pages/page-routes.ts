import { addStreamCheck, type OperationCall, type Operations, ok } from '@gantry/http';
import { createAudit, createLinkAudit } from '../audit/audit';
import { buildAutomationUrl } from '../automations/automation';
import type { Deps } from '../deps';
import { toRunDetail, toRunResult } from '../runs/run-result';
import { redirectToArtifact, toCancelChange } from '../runs/run-routes';
import { getWaitMs, startRun, toStartRequest } from '../runs/start-run';
import { assertCanRun, canRun, getPageAccess, getPageRun } from './page-access';
import { toPublicEvents, toPublicResult } from './public-view';

export function createPageOperations(deps: Deps): Operations<'automation'> {
  const { engine } = deps;

  async function loadPageRun(call: OperationCall<'automation', 'runFromPage'>, runId: string) {
    const access = await getPageAccess(deps, call);
    assertCanRun(access);
    return { access, run: await getPageRun(deps, access, runId) };
  }

  return {
    getPage: async (call) => {
      const access = await getPageAccess(deps, call);
      const { id, name, description, status, visibility, version, workspaceId, artifactId } = access.automation;
      const { manifest, inputs, spec } = await deps.runnables.get(workspaceId, artifactId);
      return ok({
        id,
        name,
        description,
        status,
        visibility,
        currentVersion: version,
        url: buildAutomationUrl(deps.dashboardUrl, id),
        inputs: manifest.inputs,
        outputs: manifest.outputs,
        inputSchema: inputs.schema,
        access: access.kind,
        canRun: status === 'active' && canRun(access),
        ...(access.kind === 'member' && { missingSecrets: await deps.secrets.missing(workspaceId, spec.secrets) }),
      });
    },

    runFromPage: {
      create: async (call) => {
        const access = await getPageAccess(deps, call);
        assertCanRun(access);
        const run = await startRun(deps, access.automation, {
          ...toStartRequest(call.req),
          trigger: access.kind === 'member' ? 'page' : 'link',
          createdBy: access.member?.userId ?? null,
        });
        return ok(toPublicResult(access, run, await toRunResult(engine, run)));
      },
      assertVisible: loadPageRun,
      answer: async (call, runId) => {
        const { access, run } = await loadPageRun(call, runId);
        const ended = await engine.waitForEnd(run, getWaitMs(call.req));
        return ok(toPublicResult(access, ended, await toRunResult(engine, ended)));
      },
    },

    getPageRun: async (call) => {
      const access = await getPageAccess(deps, call);
      const run = await getPageRun(deps, access, call.path.runId);
      return ok(toPublicResult(access, run, await toRunDetail(engine, run)));
    },

    cancelPageRun: async (call) => {
      const access = await getPageAccess(deps, call);
      assertCanRun(access);
      const { workspaceId, id } = await getPageRun(deps, access, call.path.runId);
      const audit = access.kind === 'member' ? createAudit(call.req) : createLinkAudit(call.req, workspaceId);
      const run = await engine.cancel(workspaceId, id, (tx) => audit(tx, toCancelChange(id)));
      return ok(toPublicResult(access, run, await toRunDetail(engine, run)));
    },

    streamPageRunEvents: async (call) => {
      const { req, res, path, query } = call;
      const access = await getPageAccess(deps, call);
      const run = await getPageRun(deps, access, path.runId);
      // A visitor reads while the page is public; membership of others is checked with their credential.
      if (access.kind === 'link') addStreamCheck(req, `page ${access.automation.id}`, () => getPageAccess(deps, call));
      await engine.stream(req, res, run, query.logs ? 'all' : 'no-logs', toPublicEvents(access, run));
    },

    downloadPageRunArtifact: async (call) => {
      const run = await getPageRun(deps, await getPageAccess(deps, call), call.path.runId);
      await redirectToArtifact(deps, call.res, run, call.path.artifactId);
    },
  };
}
