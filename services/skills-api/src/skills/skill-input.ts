/** Checks the input that publishes or changes a skill, beyond its shape in the OpenAPI file. */
import { createHash } from 'node:crypto';
import { AppError, type FieldProblem, invalid } from '@gantry/errors';
import type { OperationCall } from '@gantry/http';
import { type FrontMatter, getTags, parseBody, toSkillMd } from './front-matter';
import { BODY_BYTES_MAX, DESCRIPTION_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX, TITLE_CHARS_MAX } from './skill';
import { isReserved, SLUG } from './slug';

export type PublishInput = OperationCall<'skills', 'publishSkill'>['body'];

/** Content of a version. */
export interface SkillContent {
  title: string;
  description: string;
  bodyMd: string;
  tags: string[];
  license: string | null;
  frontMatter: FrontMatter | null;
}

export interface CheckedContent {
  content: SkillContent;
  warnings: string[];
}

/**
 * Fills absent fields from the front matter, then from `before`.
 * @throws AppError 400 naming every field that is wrong; 413 for a body that is too large
 */
export function checkContent(input: PublishInput, before?: SkillContent): CheckedContent {
  const body = input.body_md ?? before?.bodyMd ?? '';
  assertBodySize(body);
  const { frontMatter, text, ignored } = parseBody(body);
  const fresh = input.body_md === undefined ? null : frontMatter;
  const rawTitle = input.title ?? fresh?.metadata?.title ?? before?.title ?? fresh?.name ?? '';
  const rawTags = input.tags ?? getTags(fresh) ?? before?.tags ?? [];
  const content = {
    title: collapseWhitespace(rawTitle),
    description: collapseWhitespace(input.description ?? fresh?.description ?? before?.description ?? ''),
    bodyMd: body,
    tags: normalizeTags(rawTags),
    license: (input.license === undefined ? (fresh?.license ?? before?.license) : input.license)?.trim() || null,
    frontMatter,
  };
  const problems: FieldProblem[] = [];
  const check = (path: string, message: string | false) => message && problems.push({ path, message });
  check('title', !content.title && 'is missing: send a title, or front matter with a name');
  check('title', content.title.length > TITLE_CHARS_MAX && `may have at most ${TITLE_CHARS_MAX} characters`);
  check('body_md', !text.trim() && (body.trim() ? 'has front matter but no text' : 'is missing or empty'));
  check(
    'description',
    content.description.length > DESCRIPTION_CHARS_MAX && `may have at most ${DESCRIPTION_CHARS_MAX} characters`,
  );
  check('tags', content.tags.length > TAGS_MAX && `${content.tags.length} tags; at most ${TAGS_MAX} are allowed`);
  for (const [index, tag] of content.tags.entries()) {
    check(`tags.${index}`, tag.length > TAG_CHARS_MAX && `may have at most ${TAG_CHARS_MAX} characters`);
  }
  for (const [path, value] of Object.entries({ title: rawTitle, ...input })) {
    if ([value].flat().some((one) => typeof one === 'string' && one.includes('\0')))
      check(path, 'contains a NUL character');
  }
  if (problems.length) throw invalid(problems);
  return { content, warnings: ignored };
}

/** @throws AppError 413 */
export function assertBodySize(bodyMd: string): void {
  const bytes = Buffer.byteLength(bodyMd);
  if (bytes <= BODY_BYTES_MAX) return;
  throw new AppError('too_large', 'too_large', `body_md: ${bytes} bytes; at most ${BODY_BYTES_MAX} are allowed`);
}

/** @throws AppError 400 */
export function checkSlug(slug: string): void {
  if (!SLUG.test(slug)) {
    throw invalid(
      [{ path: 'slug', message: 'must be 3 to 64 characters: a-z, 0-9 and hyphens, with no hyphen at either end' }],
      'bad_slug',
    );
  }
  if (isReserved(slug)) throw invalid([{ path: 'slug', message: `"${slug}" is reserved; choose another` }], 'bad_slug');
}

export const computeBodyHash = (bodyMd: string): string => createHash('sha256').update(bodyMd).digest('hex');

/** SHA-256 of the file that agents install, hex. */
export const computeSkillMdDigest = (slug: string, content: SkillContent): string =>
  createHash('sha256')
    .update(toSkillMd({ slug, ...content }, content.bodyMd))
    .digest('hex');

const collapseWhitespace = (text: string): string => text.replace(/\s+/g, ' ').trim();

export function normalizeTags(tags: string[]): string[] {
  const byKey = new Map<string, string>();
  for (const tag of tags.map(collapseWhitespace))
    if (tag && !byKey.has(tag.toLowerCase())) byKey.set(tag.toLowerCase(), tag);
  return [...byKey.values()];
}
