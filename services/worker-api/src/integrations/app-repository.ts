/** Rows of the workspaces' own OAuth clients. */
import type { Db } from '../database';
import type { OauthApp, Prisma } from '../generated/prisma/client';

export const listOauthApps = (db: Db, workspaceId: string): Promise<OauthApp[]> =>
  db.oauthApp.findMany({ where: { workspaceId }, orderBy: { slug: 'asc' } });

export const findOauthApp = (db: Db, workspaceId: string, slug: string): Promise<OauthApp | null> =>
  db.oauthApp.findUnique({ where: { workspaceId_slug: { workspaceId, slug } } });

export const countOauthApps = (db: Db, workspaceId: string): Promise<number> =>
  db.oauthApp.count({ where: { workspaceId } });

/** Returns false if another request was faster. */
export async function insertOauthApp(db: Db, app: Prisma.OauthAppCreateManyInput): Promise<boolean> {
  const { count } = await db.oauthApp.createMany({ data: [app], skipDuplicates: true });
  return count > 0;
}

/** By compare-and-set of its version. Returns false if another request was faster, or it is gone. */
export async function updateOauthApp(
  db: Db,
  workspaceId: string,
  slug: string,
  version: number,
  change: Prisma.OauthAppUncheckedUpdateInput,
): Promise<boolean> {
  const { count } = await db.oauthApp.updateMany({
    where: { workspaceId, slug, version },
    data: { ...change, version: version + 1 },
  });
  return count > 0;
}

export async function deleteOauthApp(db: Db, workspaceId: string, slug: string): Promise<boolean> {
  const { count } = await db.oauthApp.deleteMany({ where: { workspaceId, slug } });
  return count > 0;
}
