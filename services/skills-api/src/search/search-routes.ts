import type { Operations } from '@gantry/http';
import { readerOf } from '../access/caller';
import type { Deps } from '../deps';
import { pageOf } from '../page-of';
import { searchSkills, toSegments } from '../skills/search-skills';
import { skillItemToApi } from '../skills/skill';

export function searchOperations({ prisma, skillsUrl, forgiving }: Deps): Operations<'skills'> {
  return {
    searchSkills: async (call) => {
      const hits = await searchSkills(prisma, readerOf(call.req), call.query.q, call.query, forgiving);
      return pageOf(call, hits, (hit) => ({
        ...skillItemToApi(hit, skillsUrl),
        rank: hit.rank,
        highlights: { title: toSegments(hit.title_marked), excerpt: toSegments(hit.excerpt_marked) },
      }));
    },
  };
}
