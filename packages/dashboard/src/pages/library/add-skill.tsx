import { unwrap } from '@gantry/sdk';
import { Box, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Library, skillsApi } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { SearchIcon } from '../../ui/icons';
import { Failure } from '../../ui/notice';
import styles from './library-page.module.css';

const TYPING_MS = 200;
const SHOWN = 8;

/** Searches skills, and appends one to the library. */
export function AddSkill({ library }: { library: Library }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const field = useRef<HTMLInputElement>(null);
  const { data } = useQuery({
    queryKey: skillKeys.list(workspaceId, 'to add', q),
    queryFn: async () => unwrap((await skillsApi()).GET('/api/v1/search', { params: { query: { q, limit: SHOWN } } })),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });
  const add = useMutation({
    mutationFn: async (skill_slug: string) =>
      unwrap(
        (await skillsApi()).POST('/api/v1/libraries/{slug}/skills', {
          params: { path: { slug: library.slug } },
          body: { skill_slug },
        }),
      ),
    onSuccess: (changed, added) => {
      queryClient.setQueryData(skillKeys.library(workspaceId, library.slug), changed);
      setTyped('');
      field.current?.focus();
      toast(`${changed.skills.find(({ slug }) => slug === added)?.title ?? added} is added`);
    },
  });
  const inside = new Set(library.skills.map(({ slug }) => slug));
  const found = data?.filter(({ slug }) => !inside.has(slug));
  return (
    <Box pos="relative" maw="26rem" mb="md">
      <TextInput
        ref={field}
        type="search"
        label="Add a skill"
        placeholder="Words of its title or text"
        leftSection={<SearchIcon />}
        maxLength={200}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && setTyped('')}
      />
      <Failure title="Nothing was added" error={add.error} />
      {q !== '' && typed !== '' && found && (
        <div className={styles.found}>
          {found.length === 0 ? (
            <p>No other skills match.</p>
          ) : (
            found.map(({ slug, title }) => (
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
