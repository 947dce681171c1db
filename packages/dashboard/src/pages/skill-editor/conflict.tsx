import { Button, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { DiffView } from '../../code/diff-view';
import type { Skill } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { readSkill } from '../../skills/use-skill';
import { FailedToLoad, Notice } from '../../ui/notice';

interface ConflictProps {
  /** The version that the draft is based on. */
  skill: Skill;
  text: string;
  /** Rebases the draft on the newer version. */
  onSeen: (theirs: Skill) => void;
}

/** Compares the draft with a newer version, which has to be seen before the draft can be saved. */
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
            Continue with mine
          </Button>
        }
      >
        Your text is still here, and nothing was saved. Copy what you want to keep of the newer version from below.
      </Notice>
      <DiffView label={`Version ${theirs.version} and yours`} path="SKILL.md" before={theirs.body_md} after={text} />
    </Stack>
  );
}
