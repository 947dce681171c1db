import { type Operations, respondWithSelectedPage } from '@gantry/http';
import { toReader } from '../access/caller';
import type { Deps } from '../deps';
import { searchSkills, toSegments } from '../skills/search-skills';
import { skillItemToApi } from '../skills/skill';

export function createSearchOperations({ prisma, skillsUrl, isFuzzy }: Deps): Operations<'skills'> {
  return {
    searchSkills: async (call) => {
      const hits = await searchSkills(prisma, toReader(call.req), call.query.q, call.query, isFuzzy);
      return respondWithSelectedPage(call, hits, (hit) => ({
        ...skillItemToApi(hit, skillsUrl),
        rank: hit.rank,
        highlights: { title: toSegments(hit.title_marked), excerpt: toSegments(hit.excerpt_marked) },
      }));
    },
  };
}
