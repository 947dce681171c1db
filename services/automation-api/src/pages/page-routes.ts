import { creating, endWhenRefused, type Operations } from '@gantry/http';
import type { Request } from 'express';
import { auditOf, auditOfLink } from '../audit/audit';
import { urlOf } from '../automations/automation';
import type { Deps } from '../deps';
import { pathParam } from '../path-param';
import { toRunDetail, toRunResult } from '../runs/run-result';
import { cancelled, redirectToArtifact, wantsLogs } from '../runs/run-routes';
import { askedBy, startRun, waitMsOf } from '../runs/start-run';
import { getPageRun, mayRun, pageAccess, requireMayRun } from './page-access';
import { shownEvents, shownTo } from './shown-to-strangers';

export function pageOperations(deps: Deps): Operations {
  const { engine } = deps;

  async function seeRun(req: Request, runId: string) {
    const access = await pageAccess(deps, req);
    requireMayRun(access);
    return { access, run: await getPageRun(deps, req, access, runId) };
  }

  return {
    getPage: async (req, res) => {
      const access = await pageAccess(deps, req);
      const { id, name, description, status, visibility, version, workspaceId, artifactId } = access.automation;
      const { manifest, inputs, spec } = await deps.runnables.get(workspaceId, artifactId);
      res.json({
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

    runFromPage: creating(
      async (req, res) => {
        const access = await pageAccess(deps, req);
        requireMayRun(access);
        const run = await startRun(deps, access.automation, {
          ...askedBy(req),
          trigger: access.kind === 'member' ? 'page' : 'link',
          createdBy: access.member?.userId ?? null,
        });
        res.json(shownTo(access, run, await toRunResult(engine, run)));
      },
      {
        see: seeRun,
        answer: async (req, res, runId) => {
          const { access, run } = await seeRun(req, runId);
          const ended = await engine.waitForEnd(run, waitMsOf(req));
          res.json(shownTo(access, ended, await toRunResult(engine, ended)));
        },
      },
    ),

    getPageRun: async (req, res) => {
      const access = await pageAccess(deps, req);
      const run = await getPageRun(deps, req, access);
      res.json(shownTo(access, run, await toRunDetail(engine, run)));
    },

    cancelPageRun: async (req, res) => {
      const access = await pageAccess(deps, req);
      requireMayRun(access);
      const { workspaceId, id } = await getPageRun(deps, req, access);
      const audit = access.kind === 'member' ? auditOf(req) : auditOfLink(req, workspaceId);
      const run = await engine.cancel(workspaceId, id, (tx) => audit(tx, cancelled(id)));
      res.json(shownTo(access, run, await toRunDetail(engine, run)));
    },

    streamPageRunEvents: async (req, res) => {
      const access = await pageAccess(deps, req);
      const run = await getPageRun(deps, req, access);
      // A stranger reads on as long as the page is public; the membership of others is looked at with their credential.
      if (access.kind === 'link') endWhenRefused(req, `page ${access.automation.id}`, () => pageAccess(deps, req));
      await engine.stream(req, res, run, wantsLogs(req) ? 'all' : 'no-logs', shownEvents(access, run));
    },

    downloadPageRunArtifact: async (req, res) => {
      const run = await getPageRun(deps, req, await pageAccess(deps, req));
      await redirectToArtifact(deps, res, run, pathParam(req, 'artifactId'));
    },
  };
}
