import type { TokenHasher } from '@gantry/auth';
import type { PrismaClient } from './generated/prisma/client';
import type { Render } from './rendering/rendered-cache';
import type { ViewCounts } from './skills/view-counts';

/** Shared by the handlers of every resource. */
export interface Deps {
  prisma: PrismaClient;
  hasher: TokenHasher;
  views: ViewCounts;
  render: Render;
  /** Search finds misspelt words. */
  forgiving: boolean;
  /** At once in this process; the event that follows tells the others. */
  evictKey: (keyId: string) => void;
  /** Public address of this surface, without a slash at the end. */
  skillsUrl: string;
  /** Of the dashboard, likewise. */
  dashboardUrl: string;
}
