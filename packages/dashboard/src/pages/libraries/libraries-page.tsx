import { Box, Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { api, type LibraryItem } from '../../shell/api';
import { libraryPath } from '../../shell/paths';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { type LibraryFields, LibraryForm } from '../../skills/library-form';
import { skillKeys } from '../../skills/skill-keys';
import { SkillsLayout } from '../../skills/skills-layout';
import { VisibilityChip } from '../../skills/visibility-field';
import { Dialog } from '../../ui/dialog';
import { ListItem } from '../../ui/list-item';
import { Panel } from '../../ui/panel';
import { ResourceList } from '../../ui/resource-list';

const FIRST_PAGE = { params: { query: { limit: 50 } } };

export default function LibrariesPage() {
  useTitle('Libraries');
  const [isCreating, setCreating] = useState(false);
  const canCreate = useWorkspace()?.role !== 'viewer';
  return (
    <SkillsLayout
      actions={
        canCreate && (
          <Button variant="default" onClick={() => setCreating(true)}>
            New library
          </Button>
        )
      }
    >
      <Stack gap="lg">
        <LibraryPanel
          kind="own"
          title="Your libraries"
          loadLibraries={() => api.skills.GET('/api/v1/me/libraries', FIRST_PAGE)}
          empty={
            canCreate
              ? 'A library is an ordered collection of skills that others can subscribe to. Select New library to create one.'
              : 'You don’t own any libraries. Members and admins can create libraries.'
          }
        />
        <LibraryPanel
          kind="subscribed"
          title="Subscribed"
          loadLibraries={() => api.skills.GET('/api/v1/me/subscriptions', FIRST_PAGE)}
          empty="Libraries you subscribe to appear here. You’ll also get any skills added to them later."
        />
        <LibraryPanel
          kind="starters"
          title="Starter libraries"
          loadLibraries={() => api.skills.GET('/api/v1/libraries', FIRST_PAGE)}
          empty="This installation has no starter libraries."
        />
      </Stack>
      {isCreating && <NewLibraryDialog onClose={() => setCreating(false)} />}
    </SkillsLayout>
  );
}

interface LibraryPanelProps {
  kind: 'own' | 'subscribed' | 'starters';
  title: string;
  loadLibraries: () => Promise<LibraryItem[]>;
  empty: ReactNode;
}

function LibraryPanel({ kind, title, loadLibraries, empty }: LibraryPanelProps) {
  const libraries = useWorkspaceQuery((workspaceId) => skillKeys.libraries(workspaceId, kind), loadLibraries);
  return (
    <Panel title={title}>
      <ResourceList
        what="The libraries"
        query={libraries}
        items={libraries.data}
        height={72}
        empty={<p className="caption">{empty}</p>}
      >
        {(libraryList) => (
          <ul className="panel-list divided rows">
            {libraryList.map((library) => (
              <ListItem
                key={library.slug}
                title={<Link to={libraryPath(library.slug)}>{library.title}</Link>}
                about={
                  <>
                    {library.description && (
                      <Box component="span" display="block">
                        {library.description}
                      </Box>
                    )}
                    {library.skill_count} {library.skill_count === 1 ? 'skill' : 'skills'}
                    {library.subscriber_count > 0 &&
                      ` · ${library.subscriber_count} ${library.subscriber_count === 1 ? 'subscriber' : 'subscribers'}`}
                  </>
                }
              >
                {library.owned && <VisibilityChip visibility={library.visibility} />}
              </ListItem>
            ))}
          </ul>
        )}
      </ResourceList>
    </Panel>
  );
}

function NewLibraryDialog({ onClose }: { onClose: () => void }) {
  const invalidateLibraries = useInvalidateQueries((workspaceId) => skillKeys.libraries(workspaceId, 'own'));
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: (fields: LibraryFields) => api.skills.POST('/api/v1/libraries', { body: fields }),
    onSuccess: ({ slug }) => {
      void invalidateLibraries();
      navigate(libraryPath(slug));
    },
  });
  return (
    <Dialog title="New library" onClose={onClose}>
      <Box p="lg">
        <LibraryForm action="Create library" busy={create.isPending} error={create.error} onSubmit={create.mutate} />
      </Box>
    </Dialog>
  );
}
