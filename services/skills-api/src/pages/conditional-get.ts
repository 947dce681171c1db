/**
 * HTTP caching with revalidation: every stored copy is revalidated before use, and only after the reader's permission
 * has been checked. Private pages are not stored at all.
 */
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Visibility } from '../generated/prisma/client';
import { RENDERER_VERSION } from '../rendering/markdown';
import type { SkillRow } from '../skills/skill';
import { assetsVersion } from './assets';

const VARY = 'Authorization, Cookie, X-Svc-Token, X-Svc-Workspace';

/** One weak ETag for all formats of a skill. It covers the reader's overrides of the skill, but no counters. */
export function computeSkillEtag(skill: SkillRow): string {
  const { slug, version, content_hash: hash, visibility, updated_at: at, owner_name: owner, owned, saved } = skill;
  const own = [skill.override_folder, skill.override_tags];
  return computeEtag([slug, version, hash, visibility, at.getTime(), owner, owned, saved, own]);
}

export const computeEtag = (parts: unknown[]): string =>
  `W/"${createHash('sha256')
    .update(JSON.stringify([RENDERER_VERSION, assetsVersion, ...parts]))
    .digest('base64url')
    .slice(0, 27)}"`;

/** @returns true if the client's copy is current and a 304 was sent. */
export function sendIfNotModified(
  req: Request,
  res: Response,
  etag: string,
  visibility: Visibility,
  vary = VARY,
): boolean {
  const shared = visibility === 'public' && !req.principal;
  res.set({
    ETag: etag,
    Vary: vary,
    'Cache-Control': visibility === 'private' ? 'private, no-store' : `${shared ? 'public' : 'private'}, no-cache`,
  });
  if (!req.fresh) return false;
  res.status(304).end();
  return true;
}

/** For routes where `Accept` selects the format. */
export const VARY_BY_FORMAT = `Accept, ${VARY}`;
