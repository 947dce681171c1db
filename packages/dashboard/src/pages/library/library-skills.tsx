import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type Library } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { SkillRow } from '../../skills/skill-row';
import { EmptyState } from '../../ui/empty-state';
import { CrossIcon, DownIcon, UpIcon } from '../../ui/icons';
import links from '../../ui/link-row.module.css';
import { ErrorNotice } from '../../ui/notice';

const RowButton = Button.withProps({ variant: 'default', size: 'compact-sm' });

/** Lists the skills in the order of the library; its owner can move and remove them. */
export function LibrarySkills({ library, canEdit }: { library: Library; canEdit: boolean }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const { slug, skills } = library;
  const key = skillKeys.library(workspaceId, slug);
  const order = useMutation({
    mutationFn: (skill_slugs: string[]) =>
      api.skills.PUT('/api/v1/libraries/{slug}/skills', { params: { path: { slug } }, body: { skill_slugs } }),
    // Updates optimistically, and rolls back on an error.
    onMutate: (newOrder) => {
      const getPosition = (skill: string) => newOrder.indexOf(skill);
      queryClient.setQueryData<Library>(
        key,
        (currentLibrary) =>
          currentLibrary && {
            ...currentLibrary,
            skills: [...currentLibrary.skills].sort((a, b) => getPosition(a.slug) - getPosition(b.slug)),
          },
      );
      return library;
    },
    onError: (_error, _wanted, before) => queryClient.setQueryData(key, before),
  });
  const remove = useMutation({
    mutationFn: (skill_slug: string) =>
      api.skills.DELETE('/api/v1/libraries/{slug}/skills/{skill_slug}', { params: { path: { slug, skill_slug } } }),
    onSuccess: async (_data, removedSlug) => {
      await queryClient.invalidateQueries({ queryKey: key });
      const title = skills.find((skill) => skill.slug === removedSlug)?.title ?? removedSlug;
      const before = skills.map((skill) => skill.slug);
      toast(`${title} removed from ${library.title}`, { undo: () => restoreSkill(removedSlug, before) });
    },
  });

  async function restoreSkill(removedSlug: string, before: string[]) {
    const body = { skill_slug: removedSlug };
    await api.skills.POST('/api/v1/libraries/{slug}/skills', { params: { path: { slug } }, body });
    order.mutate(before);
  }

  function move(index: number, offset: -1 | 1) {
    const slugs = skills.map((skill) => skill.slug);
    const [moved = ''] = slugs.splice(index, 1);
    slugs.splice(index + offset, 0, moved);
    order.mutate(slugs);
  }

  if (skills.length === 0) {
    return (
      <EmptyState title="No skills yet" level={2}>
        <p>
          {canEdit
            ? 'To add a skill, search for it above or select Add on its page.'
            : 'The owner hasn’t added any skills that you can read.'}
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      <ErrorNotice title="Changes not saved" error={order.error ?? remove.error} />
      <ol className={`${links.card} divided surface`}>
        {skills.map((skill, index) => (
          <SkillRow key={skill.slug} skill={skill}>
            {canEdit && (
              <>
                <RowButton
                  aria-label={`Move ${skill.title} up`}
                  disabled={index === 0 || order.isPending}
                  onClick={() => move(index, -1)}
                >
                  <UpIcon />
                </RowButton>
                <RowButton
                  aria-label={`Move ${skill.title} down`}
                  disabled={index === skills.length - 1 || order.isPending}
                  onClick={() => move(index, 1)}
                >
                  <DownIcon />
                </RowButton>
                <RowButton
                  aria-label={`Remove ${skill.title}`}
                  loading={remove.isPending && remove.variables === skill.slug}
                  onClick={() => remove.mutate(skill.slug)}
                >
                  <CrossIcon />
                </RowButton>
              </>
            )}
          </SkillRow>
        ))}
      </ol>
    </>
  );
}
