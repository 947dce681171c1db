import { Box, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, type Library } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { bindText } from '../../ui/bind';
import { SearchIcon } from '../../ui/icons';
import { ErrorNotice } from '../../ui/notice';
import styles from './library-page.module.css';

const SEARCH_DEBOUNCE_MS = 200;
const RESULTS_MAX = 8;

/** Searches skills, and appends one to the library. */
export function AddSkill({ library }: { library: Library }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const [searchText, setSearchText] = useState('');
  const [q] = useDebouncedValue(searchText.trim(), SEARCH_DEBOUNCE_MS);
  const field = useRef<HTMLInputElement>(null);
  const { data } = useQuery({
    queryKey: skillKeys.list(workspaceId, 'to add', q),
    queryFn: () => api.skills.GET('/api/v1/search', { params: { query: { q, limit: RESULTS_MAX } } }),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });
  const add = useMutation({
    mutationFn: (skill_slug: string) =>
      api.skills.POST('/api/v1/libraries/{slug}/skills', {
        params: { path: { slug: library.slug } },
        body: { skill_slug },
      }),
    onSuccess: (updatedLibrary, addedSlug) => {
      queryClient.setQueryData(skillKeys.library(workspaceId, library.slug), updatedLibrary);
      setSearchText('');
      field.current?.focus();
      toast(`${updatedLibrary.skills.find(({ slug }) => slug === addedSlug)?.title ?? addedSlug} added`);
    },
  });
  const includedSlugs = new Set(library.skills.map(({ slug }) => slug));
  const candidates = data?.filter(({ slug }) => !includedSlugs.has(slug));
  return (
    <Box pos="relative" maw="26rem" mb="md">
      <TextInput
        ref={field}
        type="search"
        label="Add a skill"
        placeholder="Search by title or text"
        leftSection={<SearchIcon />}
        maxLength={200}
        {...bindText(searchText, setSearchText)}
        onKeyDown={(event) => event.key === 'Escape' && setSearchText('')}
      />
      <ErrorNotice title="Skill not added" error={add.error} />
      {q !== '' && searchText !== '' && candidates && (
        <div className={`${styles.found} surface`}>
          {candidates.length === 0 ? (
            <Box component="p" p="8px 12px" fz="sm" c="dimmed">
              No matching skills.
            </Box>
          ) : (
            candidates.map(({ slug, title }) => (
              <button key={slug} type="button" disabled={add.isPending} onClick={() => add.mutate(slug)}>
                {title}
              </button>
            ))
          )}
        </div>
      )}
    </Box>
  );
}
