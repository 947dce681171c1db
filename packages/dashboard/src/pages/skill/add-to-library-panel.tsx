import { Anchor, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { api, type Skill } from '../../shell/api';
import { libraryPath, paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { bindText } from '../../ui/bind';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

/** Adds the skill to one of the member's own libraries. */
export function AddToLibraryPanel({ skill }: { skill: Skill }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const [selectedSlug, setSelectedSlug] = useState('');
  const { data: libraries } = useQuery({
    queryKey: skillKeys.libraries(workspaceId, 'own'),
    queryFn: () => api.skills.GET('/api/v1/me/libraries', { params: { query: { limit: 200 } } }),
  });
  const slug = selectedSlug || libraries?.[0]?.slug || '';
  const add = useMutation({
    mutationFn: () =>
      api.skills.POST('/api/v1/libraries/{slug}/skills', {
        params: { path: { slug } },
        body: { skill_slug: skill.slug },
      }),
    onSuccess: (library) => {
      queryClient.setQueryData(skillKeys.library(workspaceId, library.slug), library);
      void queryClient.invalidateQueries({ queryKey: skillKeys.libraries(workspaceId, 'own') });
      toast(`${skill.title} added to ${library.title}`);
    },
  });
  if (!libraries) return null;
  return (
    <Panel
      title="Libraries"
      aside={
        slug && (
          <Anchor component={Link} to={libraryPath(slug)} fz="sm" td="underline">
            View library
          </Anchor>
        )
      }
    >
      {libraries.length === 0 ? (
        <Text fz="xs" c="dimmed">
          A library is a collection of skills that others can subscribe to.{' '}
          <Link to={paths.libraries}>Create a library</Link>.
        </Text>
      ) : (
        <Stack gap="md">
          <Group gap="xs" align="flex-end">
            <NativeSelect
              flex="1 1 10rem"
              label="Add to"
              data={libraries.map(({ slug: value, title: label }) => ({ value, label }))}
              {...bindText(slug, setSelectedSlug)}
            />
            <Button size="md" variant="default" loading={add.isPending} onClick={() => add.mutate()}>
              Add
            </Button>
          </Group>
          <ErrorNotice title="Skill not added" error={add.error} />
        </Stack>
      )}
    </Panel>
  );
}
