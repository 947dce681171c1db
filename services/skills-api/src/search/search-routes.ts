import type { Operations } from '@gantry/http';
import { readerOf } from '../access/caller';
import type { PrismaClient } from '../generated/prisma/client';
import { linkNext, pageOf } from '../page-of';
import { skillItemToApi } from '../skills/skill';
import { searchSkills, toSegments } from './search-skills';

export function searchOperations(deps: { prisma: PrismaClient; skillsUrl: string; forgiving: boolean }): Operations {
  const { prisma, skillsUrl, forgiving } = deps;
  return {
    searchSkills: async (req, res) => {
      const page = pageOf(req);
      const hits = await searchSkills(prisma, readerOf(req), String(req.query.q), page, forgiving);
      res.json(
        linkNext(req, res, hits, page).map((hit) => ({
          ...skillItemToApi(hit, skillsUrl),
          rank: hit.rank,
          highlights: { title: toSegments(hit.title_marked), excerpt: toSegments(hit.excerpt_marked) },
        })),
      );
    },
  };
}
