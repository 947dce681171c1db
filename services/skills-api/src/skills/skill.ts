/** A skill: its limits, and how the API shows it. */
import { toApiFields } from '@gantry/http';
import type { Visibility } from '../generated/prisma/client';
import type { FrontMatter } from './front-matter';

export const BODY_BYTES_MAX = 256 * 1024;
export const TITLE_CHARS_MAX = 200;
export const DESCRIPTION_CHARS_MAX = 1_024;
export const TAGS_MAX = 50;
export const TAG_CHARS_MAX = 50;
/** A deleted skill can be restored for this long. */
export const RESTORABLE_DAYS = 30;

/** The columns of skills and libraries alike, as one reader sees them. */
export interface PublishedRow {
  id: string;
  slug: string;
  owner_id: string;
  owner_name: string | null;
  title: string;
  description: string;
  visibility: Visibility;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
  owned: boolean;
  readable: boolean;
}

/** A skill as one reader sees it: what `buildSkillColumns` selects. */
export interface SkillRow extends PublishedRow {
  workspace_id: string;
  version: number;
  content_hash: string;
  skill_md_digest: string;
  tags: string[];
  folder: string | null;
  license: string | null;
  front_matter: FrontMatter | null;
  views: number;
  saves: number;
  uses: number;
  saved: boolean;
  override_folder: string | null;
  /** Null: the skill's own. */
  override_tags: string[] | null;
}

export type SkillWithBody = SkillRow & {
  body_md: string;
  /** Workers of the reader's workspace that are made of it; null: the reader has none. */
  used_in_workspace: number | null;
  /** Such workers of all workspaces; null: the reader does not own it. */
  used_in_all: number | null;
};

/** The fields that the API shows of skills and libraries alike. */
export const publishedToApi = (row: PublishedRow, url: string) => ({
  ...toApiFields(row, 'slug', 'title', 'description', 'visibility', 'owned', 'created_at', 'updated_at'),
  owner: { id: row.owner_id, name: row.owner_name },
  url: `${url}/${row.slug}`,
});

/** A skill without its text, for lists. */
export function skillItemToApi(row: SkillRow, skillsUrl: string) {
  return {
    ...publishedToApi(row, `${skillsUrl}/s`),
    ...toApiFields(row, 'version', 'content_hash', 'license', 'saved', 'views', 'saves', 'uses', 'deleted_at'),
    tags: row.override_tags ?? row.tags,
    folder: row.override_folder ?? (row.owned ? row.folder : null),
  };
}

export function skillToApi(row: SkillWithBody, skillsUrl: string) {
  return {
    ...skillItemToApi(row, skillsUrl),
    ...toApiFields(row, 'body_md', 'front_matter'),
    used_by_workers: { workspace: row.used_in_workspace, total: row.used_in_all },
  };
}
