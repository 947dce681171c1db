import { Button, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { DiffView } from '../../code/diff-view';
import type { Skill } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { getSkill } from '../../skills/use-skill';
import { LoadErrorNotice, Notice } from '../../ui/notice';

interface SkillConflictProps {
  /** The version that the draft is based on. */
  skill: Skill;
  text: string;
  /** Rebases the draft on the newer version. */
  onAccept: (newerSkill: Skill) => void;
}

/** Compares the draft with a newer version, which has to be seen before the draft can be saved. */
export function SkillConflict({ skill, text, onAccept }: SkillConflictProps) {
  const workspaceId = useWorkspace()?.id;
  const {
    data: newerSkill,
    error,
    refetch,
  } = useQuery({
    queryKey: [...skillKeys.one(workspaceId, skill.slug), 'after', skill.version],
    queryFn: () => getSkill(skill.slug),
  });
  if (error && !newerSkill) return <LoadErrorNotice what="The newer version" error={error} retry={refetch} />;
  if (!newerSkill) return <Skeleton height={120} />;
  return (
    <Stack gap="sm">
      <Notice
        tone="error"
        title={`Version ${newerSkill.version} was saved while you were editing`}
        action={
          <Button variant="default" onClick={() => onAccept(newerSkill)}>
            Continue with my changes
          </Button>
        }
      >
        Your changes are still here but haven’t been saved. Copy anything you want to keep from the newer version below.
      </Notice>
      <DiffView
        label={`Version ${newerSkill.version} compared with your changes`}
        path="SKILL.md"
        before={newerSkill.body_md}
        after={text}
      />
    </Stack>
  );
}
