import { Button, Group, Skeleton, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useNavigate } from 'react-router';
import { api, type Skill, type Visibility } from '../../shell/api';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { useUpdateCachedSkill } from '../../skills/use-skill';
import { VisibilityField } from '../../skills/visibility-field';
import { DeleteButton } from '../../ui/confirm-button';
import { FormRow, handleSubmit } from '../../ui/form';
import { CrossIcon } from '../../ui/icons';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

/** Sets the visibility of a skill, shares it with people, or deletes it. */
export function SharingPanel({ skill, canEdit }: { skill: Skill; canEdit: boolean }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const updateCachedSkill = useUpdateCachedSkill();
  const navigate = useNavigate();
  const slugParams = { params: { path: { slug: skill.slug } } };

  const publish = useMutation({
    mutationFn: (visibility: Visibility) =>
      api.skills.PATCH('/api/v1/skills/{slug}', { ...slugParams, body: { visibility } }),
    onSuccess: (updatedSkill, visibility) => {
      const before = skill.visibility;
      updateCachedSkill(updatedSkill);
      toast(`${skill.title} is now ${visibility}`, { undo: () => publish.mutate(before) });
    },
  });
  const remove = useMutation({
    mutationFn: () => api.skills.DELETE('/api/v1/skills/{slug}', slugParams),
    onSuccess: async () => {
      navigate(paths.skills);
      await queryClient.invalidateQueries({ queryKey: skillKeys.all(workspaceId), refetchType: 'none' });
      toast(`${skill.title} deleted`, {
        undo: async () => {
          await api.skills.POST('/api/v1/skills/{slug}/restore', slugParams);
          await queryClient.invalidateQueries({ queryKey: skillKeys.all(workspaceId) });
        },
      });
    },
  });

  return (
    <Panel title="Sharing">
      <Stack gap="md">
        <VisibilityField
          shared
          value={publish.isPending ? publish.variables : skill.visibility}
          disabled={!canEdit || publish.isPending}
          onChange={(visibility) => publish.mutate(visibility)}
        />
        <ErrorNotice title="Sharing not updated" error={publish.error} />
        <SharedWithList skill={skill} canEdit={canEdit} />
        {canEdit && (
          <Group gap="xs" align="stretch" pt="md" style={{ borderTop: '1px solid var(--line)' }}>
            <DeleteButton name={skill.title} mutation={remove} />
          </Group>
        )}
        <ErrorNotice title="Skill not deleted" error={remove.error} />
      </Stack>
    </Panel>
  );
}

/** Lists the addresses whose verified owners or members can read the skill even while it is private. */
function SharedWithList({ skill, canEdit }: { skill: Skill; canEdit: boolean }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const slugParams = { params: { path: { slug: skill.slug } } };
  const key = skillKeys.part(workspaceId, skill.slug, 'shares');
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: () => api.skills.GET('/api/v1/skills/{slug}/share', slugParams),
  });
  const share = useMutation({
    mutationFn: (change: { emails: string[]; remove?: string[] }) =>
      api.skills.POST('/api/v1/skills/{slug}/share', { ...slugParams, body: change }),
    onSuccess: (shares, { emails: [addedEmail], remove = [] }) => {
      queryClient.setQueryData(key, shares);
      form.current?.reset();
      if (addedEmail) {
        const isReader = shares.readers.some(({ email }) => email === addedEmail.toLowerCase());
        toast(
          isReader
            ? `${addedEmail} can now read this skill`
            : `${addedEmail} can read this skill once their address is verified`,
        );
      }
      const [removedEmail] = remove;
      if (removedEmail)
        toast(`${removedEmail} can no longer read this skill`, { undo: () => share.mutate({ emails: remove }) });
    },
  });

  function submit(formData: FormData) {
    const email = String(formData.get('email')).trim();
    if (email) share.mutate({ emails: [email] });
  }

  if (error && !data) return <LoadErrorNotice what="The sharing list" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={60} />;
  return (
    <>
      {data.emails.length > 0 && (
        <Stack component="ul" className="wrap-anywhere" gap={4} fz="sm" aria-label="Shared with">
          {data.emails.map((email) => (
            <Group key={email} component="li" gap="xs" justify="space-between" wrap="nowrap">
              {email}
              {canEdit && (
                <Button
                  variant="default"
                  size="compact-sm"
                  aria-label={`Stop sharing with ${email}`}
                  onClick={() => share.mutate({ emails: [], remove: [email] })}
                >
                  <CrossIcon />
                </Button>
              )}
            </Group>
          ))}
        </Stack>
      )}
      {canEdit && (
        <FormRow ref={form} gap="xs" onSubmit={handleSubmit(submit)}>
          <TextInput
            flex="1 1 10rem"
            name="email"
            type="email"
            label="Share with"
            placeholder="name@example.com"
            autoComplete="off"
          />
          <Button type="submit" size="md" variant="default" loading={share.isPending}>
            Share
          </Button>
        </FormRow>
      )}
      <ErrorNotice title="Sharing not updated" error={share.error} />
    </>
  );
}
