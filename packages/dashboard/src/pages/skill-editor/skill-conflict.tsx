import { Button, Skeleton, Stack } from '@mantine/core';
import { DiffView } from '../../code/diff-view';
import type { Skill } from '../../shell/api';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
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
  const query = useWorkspaceQuery(
    (workspaceId) => [...skillKeys.one(workspaceId, skill.slug), 'after', skill.version],
    () => getSkill(skill.slug),
  );
  const { data: newerSkill, error, refetch } = query;
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
