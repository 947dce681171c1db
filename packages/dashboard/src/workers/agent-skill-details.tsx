import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Worker } from '../shell/api';
import { skillPath } from '../shell/paths';
import { revealHiddenCharacters } from '../ui/reveal-hidden-characters';

const HASH_LENGTH = 12;

/** A skill that an agent loads on demand, present or about to be added. */
export interface AgentSkill {
  name: string;
  description: string;
  /** Slug of the published skill that it copies; null: the worker's own skill. */
  slug: string | null;
  /** Version of the published skill. */
  version: number | null;
  /** SHA-256 of its text; null until it is saved. */
  hash: string | null;
  /** Path of its SKILL.md; null until it is saved. */
  path: string | null;
}

export const toAgentSkill = (skill: Worker['skills'][number]): AgentSkill => ({
  ...skill,
  slug: skill.skill?.split('@')[0] ?? null,
});

/** Shows name, description, version and hash of a skill, with a link to its page. */
export function AgentSkillDetails({ skill, children }: { skill: AgentSkill; children?: ReactNode }) {
  const { name, description, slug, version, hash, path } = skill;
  return (
    <Stack className="wrap-anywhere" gap={2} miw={0}>
      <Text fw={640}>{slug === null ? name : <Link to={skillPath(slug)}>{name}</Link>}</Text>
      <Text fz="sm" c="dimmed">
        {revealHiddenCharacters(description)}
      </Text>
      <Text fz="xs" c="dimmed">
        {slug === null ? path : version === null ? 'Published' : `Version ${version}`}
        {hash !== null && (
          <>
            {', '}
            <code title={hash}>{hash.slice(0, HASH_LENGTH)}</code>
          </>
        )}
      </Text>
      {children}
    </Stack>
  );
}
