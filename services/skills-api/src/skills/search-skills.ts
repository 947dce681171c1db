/**
 * Full-text search over title, tags, description and text, ranked in that order. Words match by prefix,
 * and where the database has pg_trgm, misspelt words in the names match too.
 */
import type { PageQuery } from '@gantry/http';
import { hasRow } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Reader } from '../access/caller';
import { Prisma, type PrismaClient } from '../generated/prisma/client';
import { buildFindableSkillFilter, buildPresentFilter } from './access-filters';
import type { SkillRow } from './skill';
import { buildSkillColumns, buildSkillTables } from './skill-repository';

export interface Segment {
  text: string;
  matched: boolean;
}

export type SearchHit = SkillRow & { rank: number; title_marked: string; excerpt_marked: string };

/**
 * At most this many matches are ranked, which bounds the cost of a search for a word that half of all skills contain.
 */
const CANDIDATES_MAX = 1_000;
const MISSPELT_MAX = 200;
/** Minimum similarity of a misspelt word: pg_trgm's own 0.6 misses two swapped letters. */
const WORD_SIMILARITY = '0.4';
/** Length of the text that an excerpt is chosen from. */
const EXCERPT_SOURCE_CHARS_MAX = 20_000;
/** The same, of all hits of a page: `ts_headline` takes half a second for these. */
const PAGE_SOURCE_CHARS_MAX = 420_000;
/**
 * For PostgreSQL, where the first quantifier makes all of them lazy. Stripped from excerpts, since its fields are
 * shown separately.
 */
const FRONT_MATTER = '^---[ \\t]*?\\r??\\n.*?\\n---[ \\t]*?\\r??\\n';
const PREFIX_WORDS_MAX = 12;
/** Words of a query; the rest is ignored. The cost of ranking is the product of these and their positions in a text. */
const QUERY_WORDS_MAX = 20;
/** A dash that excludes no word: PostgreSQL fails on many in a row (`tsquery stack too small`). */
const LOOSE_DASH = /-(?!"?[\p{L}\p{N}])/gu;
/** Private-use characters, which no text needs. */
const [START, STOP] = ['\uE000', '\uE001'];
const TITLE_OPTIONS = `StartSel=${START},StopSel=${STOP},HighlightAll=true`;
const EXCERPT_OPTIONS = `StartSel=${START},StopSel=${STOP},MaxWords=30,MinWords=12,MaxFragments=2,FragmentDelimiter=" … "`;

/** Checked once at start-up; without pg_trgm, search matches words and prefixes only. */
export async function supportsFuzzySearch(pool: Pool, log: Logger): Promise<boolean> {
  const index = "SELECT 1 FROM pg_class WHERE relname = 'skills_names' AND relkind = 'i'";
  if (await hasRow(pool, index)) return true;
  log.warn(
    'search does not tolerate misspellings: the database lacks pg_trgm. Install the PostgreSQL contrib package, ' +
      'then run, as the database owner: CREATE EXTENSION pg_trgm; CREATE INDEX skills_names ON skills USING gin ' +
      '(skill_names(title, tags, description) gin_trgm_ops);',
  );
  return false;
}

/** Best first; one more than the page size if there are more. */
export async function searchSkills(
  prisma: PrismaClient,
  reader: Reader,
  text: string,
  page: PageQuery,
  isFuzzy: boolean,
): Promise<SearchHit[]> {
  const exact = await rankHits(prisma, reader, text, page, false);
  // Fuzzy matching costs more than exact lookup: it is used only if the page is not full without it.
  if (exact.length > page.limit || !isFuzzy) return exact;
  const [, hits] = await prisma.$transaction([
    prisma.$executeRaw`SELECT set_config('pg_trgm.word_similarity_threshold', ${WORD_SIMILARITY}, true)`,
    rankHits(prisma, reader, text, page, true),
  ]);
  return hits;
}

function rankHits(
  prisma: PrismaClient,
  reader: Reader,
  text: string,
  page: PageQuery,
  isFuzzy: boolean,
): Prisma.PrismaPromise<SearchHit[]> {
  const words = splitWords(text);
  const query = Prisma.sql`(websearch_to_tsquery('english', ${toQueryText(text)}) || to_tsquery('english', ${words.join(' & ')}))`;
  // Any of the words: to mark a whole phrase, or all words together, ts_headline tries all their positions in the text.
  const marked = Prisma.sql`to_tsquery('english', ${words.join(' | ')})`;
  const names = Prisma.sql`skill_names(s.title, s.tags, s.description)`;
  const misspelt = Prisma.sql`
    UNION (SELECT s.id FROM skills s WHERE ${text} <% ${names} AND ${buildSearchableFilter(reader)} LIMIT ${MISSPELT_MAX})`;
  const likeness = isFuzzy ? Prisma.sql`+ word_similarity(${text}, ${names})` : Prisma.empty;
  const sourceChars = Math.min(EXCERPT_SOURCE_CHARS_MAX, Math.floor(PAGE_SOURCE_CHARS_MAX / (page.limit + 1)));
  return prisma.$queryRaw<SearchHit[]>`
    WITH hits AS MATERIALIZED (
      (SELECT s.id FROM skills s WHERE s.search @@ ${query} AND ${buildSearchableFilter(reader)} LIMIT ${CANDIDATES_MAX})
      ${isFuzzy ? misspelt : Prisma.empty}
    ), page AS MATERIALIZED (
      SELECT s.id, (ts_rank_cd('{0.1, 0.3, 0.5, 1}', s.search, ${query}, 1) ${likeness})::float8 AS rank
      FROM hits JOIN skills s USING (id) ORDER BY rank DESC, s.id LIMIT ${page.limit + 1} OFFSET ${page.offset}
    )
    SELECT ${buildSkillColumns(reader)}, page.rank,
      ts_headline('english', s.title, ${marked}, ${TITLE_OPTIONS}) AS title_marked,
      ts_headline('english', s.description || ' ' || skill_text(regexp_replace(left(s.body_md, ${sourceChars}::int), ${FRONT_MATTER}, '')), ${marked}, ${EXCERPT_OPTIONS})
        AS excerpt_marked
    FROM page JOIN ${buildSkillTables(reader)} ON s.id = page.id ORDER BY page.rank DESC, s.id`;
}

/** Skills that the reader could find anyway, and unlisted ones that the reader has saved. */
function buildSearchableFilter(reader: Reader): Prisma.Sql {
  const { userId } = reader;
  if (userId === null) return buildFindableSkillFilter(reader);
  return Prisma.sql`(${buildFindableSkillFilter(reader)} OR (${buildPresentFilter('s')} AND s.visibility = 'unlisted'
    AND EXISTS (SELECT 1 FROM skill_saves x WHERE x.skill_id = s.id AND x.user_id = ${userId})))`;
}

/** Each as a prefix: `'depl':*`, `'run':*`. Only letters and digits pass, so nothing is interpreted as syntax. */
function splitWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)].slice(0, PREFIX_WORDS_MAX).map((word) => `'${word}':*`);
}

/** The query's first words, without immediate repetitions. */
function toQueryText(text: string): string {
  const words = text.replace(LOOSE_DASH, ' ').split(/\s+/);
  return words
    .filter((word, index) => word !== words[index - 1])
    .slice(0, QUERY_WORDS_MAX)
    .join(' ');
}

/** `ts_headline` marks the matches; a list of segments can be shown without trusting the text. */
export function toSegments(highlightedText: string): Segment[] {
  const segments: Segment[] = [];
  let matched = false;
  for (const piece of highlightedText.split(/([\uE000\uE001])/)) {
    if (piece === START || piece === STOP) matched = piece === START;
    else if (piece) segments.push({ text: piece, matched });
  }
  return segments;
}
