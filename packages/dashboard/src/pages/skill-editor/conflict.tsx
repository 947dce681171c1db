import { Button, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { DiffView } from '../../code/diff-view';
import type { Skill } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { readSkill } from '../../skills/use-skill';
import { FailedToLoad, Notice } from '../../ui/notice';

interface ConflictProps {
  /** The version that the text was begun from. */
  skill: Skill;
  text: string;
  /** The next save is a version after theirs. */
  onSeen: (theirs: Skill) => void;
}

/** Somebody has saved since the text was begun: shows both, and only then lets the own one be saved. */
export function Conflict({ skill, text, onSeen }: ConflictProps) {
  const workspaceId = useWorkspace()?.id;
  const {
    data: theirs,
    error,
    refetch,
  } = useQuery({
    queryKey: [...skillKeys.one(workspaceId, skill.slug), 'after', skill.version],
    queryFn: () => readSkill(skill.slug),
  });
  if (error && !theirs) return <FailedToLoad what="The newer version" error={error} retry={refetch} />;
  if (!theirs) return <Skeleton height={120} />;
  return (
    <Stack gap="sm">
      <Notice
        tone="error"
        title={`Version ${theirs.version} was saved while you were writing`}
        action={
          <Button variant="default" onClick={() => onSeen(theirs)}>
            Go on with mine
          </Button>
        }
      >
        Your text is still here, and nothing was saved. Take over below what should stay of theirs.
      </Notice>
      <DiffView label={`Version ${theirs.version} and yours`} path="SKILL.md" before={theirs.body_md} after={text} />
    </Stack>
  );
}
