import { Box, Button, Group, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { renderResourceError } from '../../accounts/resource-error';
import { api, type Library } from '../../shell/api';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { CopyLinkButton } from '../../skills/copy-link-button';
import { type LibraryFields, LibraryForm } from '../../skills/library-form';
import { skillKeys } from '../../skills/skill-keys';
import { VisibilityChip } from '../../skills/visibility-field';
import { DeleteButton } from '../../ui/confirm-button';
import { Dialog } from '../../ui/dialog';
import { LoadingPage } from '../../ui/loading-page';
import { PageHeader } from '../../ui/page-header';
import { AddSkill } from './add-skill';
import { LibrarySkills } from './library-skills';
import { SubscribeButton } from './subscribe-button';

const loadLibrary = (slug: string, headers = {}) =>
  api.skills.GET('/api/v1/libraries/{slug}', { params: { path: { slug } }, headers });

export default function LibraryPage() {
  const { slug = '' } = useParams();
  const workspaceId = useWorkspace()?.id;
  const queryKey = skillKeys.library(workspaceId, slug);
  const query = useQuery({ queryKey, queryFn: () => loadLibrary(slug), enabled: workspaceId !== undefined });
  const { data: library } = query;
  useTitle(library?.title, [{ to: paths.libraries, label: 'Libraries' }]);
  const resourceError = renderResourceError({
    query,
    missingStatuses: [403, 404, 410],
    resourceKind: 'library',
    queryKey: queryKey,
    read: (headers) => loadLibrary(slug, headers),
  });
  if (resourceError) return resourceError;
  if (!library) return <LoadingPage what="the library" columns="minmax(0, 1fr)" />;
  return <LoadedLibrary key={library.slug} library={library} />;
}

function LoadedLibrary({ library }: { library: Library }) {
  const [isEditing, setEditing] = useState(false);
  const canEdit = useWorkspace()?.role !== 'viewer' && library.owned;
  return (
    <>
      <PageHeader
        title={library.title}
        about={
          <>
            <VisibilityChip visibility={library.visibility} />
            {!library.owned && library.owner.name && <span>By {library.owner.name}</span>}
            <span>
              {library.skill_count} {library.skill_count === 1 ? 'skill' : 'skills'}
            </span>
            {library.description && (
              <Box component="span" maw="68ch" style={{ flexBasis: '100%' }}>
                {library.description}
              </Box>
            )}
          </>
        }
        actions={
          <>
            <CopyLinkButton url={library.url} />
            {!library.owned && <SubscribeButton library={library} />}
            {canEdit && <Button onClick={() => setEditing(true)}>Edit</Button>}
          </>
        }
      />
      {canEdit && <AddSkill library={library} />}
      <LibrarySkills library={library} canEdit={canEdit} />
      {isEditing && <EditLibraryDialog library={library} onClose={() => setEditing(false)} />}
    </>
  );
}

function EditLibraryDialog({ library, onClose }: { library: Library; onClose: () => void }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const slugParams = { params: { path: { slug: library.slug } } };
  const change = useMutation({
    mutationFn: (fields: LibraryFields) =>
      api.skills.PATCH('/api/v1/libraries/{slug}', { ...slugParams, body: fields }),
    onSuccess: (updatedLibrary) => {
      queryClient.setQueryData(skillKeys.library(workspaceId, library.slug), updatedLibrary);
      void queryClient.invalidateQueries({ queryKey: skillKeys.libraries(workspaceId, 'own') });
      onClose();
    },
  });
  const remove = useMutation({
    mutationFn: () => api.skills.DELETE('/api/v1/libraries/{slug}', slugParams),
    onSuccess: async () => {
      navigate(paths.libraries);
      await queryClient.invalidateQueries({ queryKey: skillKeys.libraries(workspaceId, 'own') });
      toast(`${library.title} deleted. Its skills were kept.`);
    },
  });
  return (
    <Dialog title="Edit library" onClose={onClose}>
      <Stack gap="lg" p="lg">
        <LibraryForm
          library={library}
          action="Save"
          busy={change.isPending}
          error={change.error ?? remove.error}
          onSubmit={change.mutate}
        />
        <Group gap="sm" pt="md" fz="sm" c="dimmed" style={{ borderTop: '1px solid var(--line)' }}>
          <p>Deleting this library permanently removes it for all subscribers. Its skills are kept.</p>
          <DeleteButton name={library.title} mutation={remove} />
        </Group>
      </Stack>
    </Dialog>
  );
}
