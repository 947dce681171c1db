import { Button, Group, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import type { SearchHit, SkillItem } from '../../shell/api';
import { paths } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import { SkillRow } from '../../skills/skill-row';
import { SkillsLayout } from '../../skills/skills-layout';
import { EmptyState } from '../../ui/empty-state';
import links from '../../ui/link-row.module.css';
import { LoadingRows } from '../../ui/loading-rows';
import { LoadErrorNotice } from '../../ui/notice';
import { SearchField } from '../../ui/search-field';
import { EmptySkillList } from './empty-skill-list';
import { RestoreButton } from './restore-button';
import { type SkillListKind, useSkillList } from './use-skill-list';

const SEARCH_DEBOUNCE_MS = 200;

const LIST_BY_PATH: Record<string, SkillListKind> = {
  [paths.workspaceSkills]: 'workspace',
  [paths.savedSkills]: 'saved',
  [paths.deletedSkills]: 'deleted',
};

export default function SkillsPage() {
  useTitle('Skills');
  const { pathname } = useLocation();
  return (
    <SkillsLayout>
      {/* Each tab starts without the search text of another. */}
      <SearchableSkillList key={pathname} kind={LIST_BY_PATH[pathname] ?? 'owned'} />
    </SkillsLayout>
  );
}

function SearchableSkillList({ kind }: { kind: SkillListKind }) {
  const [search, setSearch] = useSearchParams();
  const queryParam = search.get('q') ?? '';
  const [searchText, setSearchText] = useState(queryParam);
  const [q] = useDebouncedValue(searchText.trim(), SEARCH_DEBOUNCE_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address follows the words, not the other way round.
  useEffect(() => {
    if (q !== queryParam) setSearch(q ? { q } : {}, { replace: true });
  }, [q]);
  if (kind === 'deleted') return <SkillList kind={kind} q="" />;
  return (
    <>
      <SearchField
        maw="26rem"
        mb="md"
        label="Search skills"
        placeholder="Search all skills you can access"
        maxLength={200}
        value={searchText}
        onChange={setSearchText}
      />
      <SkillList kind={kind} q={q} />
    </>
  );
}

function SkillList({ kind, q }: { kind: SkillListKind; q: string }) {
  const { data: skills, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useSkillList(kind, q);
  if (error && !skills) return <LoadErrorNotice what="The skills" error={error} retry={refetch} />;
  if (!skills) return <LoadingRows />;
  if (skills.length === 0) {
    return q ? (
      <EmptyState title={`No skills match “${q}”`} level={2}>
        <p>Search includes the titles, tags, descriptions and text of all skills you can access. Try fewer words.</p>
      </EmptyState>
    ) : (
      <EmptySkillList kind={kind} />
    );
  }
  return (
    <>
      <p className="visually-hidden" role="status">
        {skills.length} {skills.length === 1 ? 'skill' : 'skills'}
        {hasNextPage && ', with more available'}
      </p>
      {q && (
        <Text mb="xs" fz="sm" c="dimmed">
          Results from all skills you can access, best matches first
        </Text>
      )}
      <ul className={`${links.card} divided surface`}>
        {skills.map((skill) =>
          isSearchHit(skill) ? (
            <SkillRow
              key={skill.slug}
              skill={skill}
              title={<HighlightedText segments={skill.highlights.title} />}
              description={<HighlightedText segments={skill.highlights.excerpt} />}
            />
          ) : (
            <SkillRow key={skill.slug} skill={skill}>
              {kind === 'deleted' && <RestoreButton skill={skill} />}
            </SkillRow>
          ),
        )}
      </ul>
      {hasNextPage && (
        <Group gap={0} align="stretch" justify="center" wrap="nowrap" mt="md">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show more
          </Button>
        </Group>
      )}
    </>
  );
}

const isSearchHit = (skill: SkillItem | SearchHit): skill is SearchHit => 'highlights' in skill;

function HighlightedText({ segments }: { segments: SearchHit['highlights']['title'] }) {
  return segments.map(({ text, matched }, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, which never move.
    matched ? <mark key={index}>{text}</mark> : text,
  );
}
