import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { skillPath } from '../shell/paths';
import { revealed } from '../ui/revealed';

const HASH_CHARS = 12;

/** A skill that an agent loads when it needs it, as the worker has it or as it will be added. */
export interface LoadedSkill {
  name: string;
  description: string;
  /** Slug of the published skill that it is a copy of; null: it is the own one of the worker. */
  slug: string | null;
  /** Of the published skill. */
  version: number | null;
  /** SHA-256 of its text; null until it is saved. */
  hash: string | null;
  /** Of its SKILL.md; null until it is saved. */
  path: string | null;
}

/** Name, description, version and hash of a skill, with the way to its page. */
export function LoadedSkillDetails({ skill, children }: { skill: LoadedSkill; children?: ReactNode }) {
  const { name, description, slug, version, hash, path } = skill;
  return (
    <Stack className="wrap-anywhere" gap={2} miw={0}>
      <Text fw={640}>{slug === null ? name : <Link to={skillPath(slug)}>{name}</Link>}</Text>
      <Text fz="sm" c="dimmed">
        {revealed(description)}
      </Text>
      <Text fz="xs" c="dimmed">
        {slug === null ? path : version === null ? 'Published' : `Version ${version}`}
        {hash !== null && (
          <>
            {', '}
            <code title={hash}>{hash.slice(0, HASH_CHARS)}</code>
          </>
        )}
      </Text>
      {children}
    </Stack>
  );
}
