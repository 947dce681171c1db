import { unwrap } from '@gantry/sdk';
import { Button, Group, Skeleton, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef } from 'react';
import { useNavigate } from 'react-router';
import { type Skill, skillsApi, type Visibility } from '../../shell/api';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { VisibilityField } from '../../skills/visibility';
import { ConfirmButton } from '../../ui/confirm-button';
import { FormRow } from '../../ui/form';
import { CrossIcon } from '../../ui/icons';
import { FailedToLoad, Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from './skill-page.module.css';

/** Sets the visibility of a skill, shares it with people, or deletes it. */
export function Sharing({ skill, mayChange }: { skill: Skill; mayChange: boolean }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const at = { params: { path: { slug: skill.slug } } };

  const publish = useMutation({
    mutationFn: async (visibility: Visibility) =>
      unwrap((await skillsApi()).PATCH('/api/v1/skills/{slug}', { ...at, body: { visibility } })),
    onSuccess: (changed, visibility) => {
      const before = skill.visibility;
      queryClient.setQueryData(skillKeys.one(workspaceId, skill.slug), changed);
      void queryClient.invalidateQueries({ queryKey: ['skills', workspaceId, 'list'] });
      toast(`${skill.title} is ${visibility} now`, { undo: () => publish.mutate(before) });
    },
  });
  const remove = useMutation({
    mutationFn: async () => unwrap((await skillsApi()).DELETE('/api/v1/skills/{slug}', at)),
    onSuccess: async () => {
      navigate(paths.skills);
      await queryClient.invalidateQueries({ queryKey: skillKeys.all(workspaceId), refetchType: 'none' });
      toast(`${skill.title} is deleted`, {
        undo: async () => {
          await unwrap((await skillsApi()).POST('/api/v1/skills/{slug}/restore', at));
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
          disabled={!mayChange || publish.isPending}
          onChange={(visibility) => publish.mutate(visibility)}
        />
        <Failure title="Nothing was changed" error={publish.error} />
        <People skill={skill} mayChange={mayChange} />
        {mayChange && (
          <Group gap="xs" align="stretch" pt="md" style={{ borderTop: '1px solid var(--line)' }}>
            <ConfirmButton
              label={`Delete ${skill.title}`}
              question="Delete it now"
              busy={remove.isPending}
              onConfirm={() => remove.mutate()}
            >
              Delete
            </ConfirmButton>
          </Group>
        )}
        <Failure title="Nothing was deleted" error={remove.error} />
      </Stack>
    </Panel>
  );
}

/** Lists the addresses whose verified owners or members can read the skill even while it is private. */
function People({ skill, mayChange }: { skill: Skill; mayChange: boolean }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const at = { params: { path: { slug: skill.slug } } };
  const key = skillKeys.part(workspaceId, skill.slug, 'shares');
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: async () => unwrap((await skillsApi()).GET('/api/v1/skills/{slug}/share', at)),
  });
  const share = useMutation({
    mutationFn: async (change: { emails: string[]; remove?: string[] }) =>
      unwrap((await skillsApi()).POST('/api/v1/skills/{slug}/share', { ...at, body: change })),
    onSuccess: (shared, { emails: [added], remove = [] }) => {
      queryClient.setQueryData(key, shared);
      form.current?.reset();
      if (added) {
        const isReader = shared.readers.some(({ email }) => email === added.toLowerCase());
        toast(isReader ? `${added} can read it now` : `${added} can read it once the address is verified`);
      }
      const [gone] = remove;
      if (gone) toast(`${gone} can’t read it any more`, { undo: () => share.mutate({ emails: remove }) });
    },
  });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget).get('email')).trim();
    if (email) share.mutate({ emails: [email] });
  }

  if (error && !data) return <FailedToLoad what="The people" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={60} />;
  return (
    <>
      {data.emails.length > 0 && (
        <Stack component="ul" className={styles.people} gap={4} aria-label="Shared with">
          {data.emails.map((email) => (
            <li key={email}>
              {email}
              {mayChange && (
                <Button
                  variant="default"
                  size="compact-sm"
                  aria-label={`Stop sharing with ${email}`}
                  onClick={() => share.mutate({ emails: [], remove: [email] })}
                >
                  <CrossIcon />
                </Button>
              )}
            </li>
          ))}
        </Stack>
      )}
      {mayChange && (
        <FormRow ref={form} className={styles.form} gap="xs" align="flex-end" onSubmit={submit}>
          <TextInput name="email" type="email" label="Share with" placeholder="name@example.com" autoComplete="off" />
          <Button type="submit" size="md" variant="default" loading={share.isPending}>
            Share
          </Button>
        </FormRow>
      )}
      <Failure title="Nothing was changed" error={share.error} />
    </>
  );
}
