/** Share links of a run: made, listed and revoked by members, followed by any visitor. */
import { AppError, conflict, forbidden, unknownLinkError } from '@gantry/errors';
import {
  addStreamCheck,
  type Call,
  created,
  noContent,
  type Operations,
  ok,
  respondWithPage,
  toApiFields,
} from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import { listUserNames } from '../accounts/users/user-repository';
import { recordChange } from '../audit/audit-entry';
import type { Db } from '../database';
import type { RunShareLink } from '../generated/prisma/client';
import { getRequestedRun } from './requested-run';
import type { RunDeps } from './run-deps';
import {
  deleteShareLink,
  getShareLink,
  insertShareLink,
  listShareLinks,
  resolveShareLink,
} from './share-link-repository';
import { sharedEventFormat, toSharedRun } from './shared-run';

const LINKS_MAX = 20;
const EXPIRES_SECONDS_DEFAULT = 7 * 86_400;

/** Kept out of search engines, and out of what another site learns of where its visitors come from. */
const UNLISTED_HEADERS = { 'X-Robots-Tag': 'noindex, nofollow', 'Referrer-Policy': 'no-referrer' };

export function createShareLinkOperations(deps: RunDeps): Operations<'worker'> {
  const { prisma, hasher, engine, dashboardUrl, now } = deps;

  async function getRunByLink({ path }: Pick<Call<{ token: string }>, 'path'>) {
    const link = await resolveShareLink(prisma, hasher, path.token, now());
    const run = await engine.get(link.workspaceId, link.runId).catch((err) => {
      // Not the run's own refusal, which names it.
      throw err instanceof AppError && err.kind === 'not_found' ? unknownLinkError('share link') : err;
    });
    return { link, run };
  }

  return {
    listRunShareLinks: async (call) => {
      const run = await getRequestedRun(deps, call);
      const links = await listShareLinks(prisma, run.workspaceId, run.id, now());
      const names = await listCreatorNames(prisma, links);
      return respondWithPage(call, links, (link) => shareLinkToApi(link, names));
    },

    createRunShareLink: {
      create: async (call) => {
        const { caller, actor, body, markCreated } = call;
        const userId = getPersonId(caller);
        const run = await getRequestedRun(deps, call);
        const seconds = body?.expires_in_seconds ?? EXPIRES_SECONDS_DEFAULT;
        const expiresAt = new Date(now().getTime() + seconds * 1_000);
        const { link, token } = await transaction(prisma, async (tx) => {
          const existing = await listShareLinks(tx, run.workspaceId, run.id, now());
          if (existing.length >= LINKS_MAX) {
            throw conflict('too_many_share_links', `this run already has ${LINKS_MAX} share links; revoke one first`);
          }
          const inserted = await insertShareLink(tx, hasher, { ...toLinkKey(run), createdBy: userId, expiresAt });
          const details = { share_link_id: inserted.link.id, expires_at: expiresAt.toISOString() };
          await recordChange(tx, actor, 'run.shared', run, details);
          await markCreated(tx, inserted.link.id);
          return inserted;
        });
        const url = `${dashboardUrl}/shared/${token}`;
        return created({ ...shareLinkToApi(link, await listCreatorNames(prisma, [link])), url, token });
      },
      assertVisible: async (call, id) => {
        const { workspaceId, id: runId } = await getRequestedRun(deps, call);
        await getShareLink(prisma, { workspaceId, runId }, id);
      },
    },

    revokeRunShareLink: async (call) => {
      const { workspaceId, id: runId } = await getRequestedRun(deps, call);
      const link = await getShareLink(prisma, { workspaceId, runId }, call.path.share_link_id);
      await transaction(prisma, async (tx) => {
        if (!(await deleteShareLink(tx, link.id))) return;
        const details = { share_link_id: link.id };
        await recordChange(tx, call.actor, 'run.share_link_revoked', { workspaceId, id: runId }, details);
      });
      return noContent();
    },

    getSharedRun: async (call) => {
      const { link, run } = await getRunByLink(call);
      return ok(await toSharedRun(deps, run, link), UNLISTED_HEADERS);
    },

    streamSharedRun: async (call) => {
      const { link, run } = await getRunByLink(call);
      call.res.set(UNLISTED_HEADERS);
      addStreamCheck(call.req, `share link ${link.id}`, () => resolveShareLink(prisma, hasher, call.path.token, now()));
      await engine.stream(call.req, call.res, run, 'all', sharedEventFormat);
    },
  };
}

const listCreatorNames = (db: Db, links: RunShareLink[]): Promise<Map<string, string>> =>
  listUserNames(db, [...new Set(links.map(({ createdBy }) => createdBy))]);

const toLinkKey = ({ workspaceId, subjectId, id }: Run) => ({ workspaceId, workerUid: subjectId, runId: id });

const shareLinkToApi = (link: RunShareLink, names: Map<string, string>) => ({
  ...toApiFields(link, 'id', 'runId', 'createdAt', 'expiresAt'),
  created_by: names.get(link.createdBy) ?? null,
});

/** A link outlives the token that would make it, and is bound to a membership. @throws AppError 403 for a token */
function getPersonId({ kind, userId }: Principal): string {
  if (kind !== 'personal_token' && kind !== 'workspace_token' && userId) return userId;
  throw forbidden('needs_sign_in', "this requires a signed-in person; tokens can't be used");
}
