import type { TokenHasher } from '@gantry/auth';
import type { PrismaClient } from './generated/prisma/client';
import type { Render } from './rendering/rendered-cache';
import type { ViewCounts } from './skills/view-counts';
import type { FindMembers } from './workspaces/find-members';

/** Shared by the handlers of every resource. */
export interface Deps {
  prisma: PrismaClient;
  hasher: TokenHasher;
  views: ViewCounts;
  render: Render;
  findMembers: FindMembers;
  /** Whether search tolerates misspellings. */
  isFuzzy: boolean;
  /** Evicts a key at once in this process; an event does so in the others. */
  evictKey: (keyId: string) => void;
  /** Public address of this surface, without a trailing slash. */
  skillsUrl: string;
  /** Public address of the dashboard, likewise. */
  dashboardUrl: string;
}
