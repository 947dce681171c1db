import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Skill } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { type Draft, isChanged, newDraft } from './draft';

interface Kept {
  draft: Draft;
  /** As it was when the text was begun: a later version is nobody's to overwrite unseen. */
  skill: Skill | null;
}

/**
 * The unsaved draft, kept while its author looks at another page of the dashboard. It is cached with the data of the
 * workspace and, like that, discarded when they sign out.
 */
export function useDraft(opened: Skill | null) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const key = skillKeys.draft(workspaceId, opened?.slug ?? null);
  const [kept] = useState(() => queryClient.getQueryData<Kept>(key));
  const [skill, setSkill] = useState(kept ? kept.skill : opened);
  const [draft, setDraft] = useState<Draft>(() => kept?.draft ?? newDraft(skill));
  const [isOver, setOver] = useState(false);
  const changed = isChanged(draft, skill);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the same as long as the page is.
  useEffect(() => {
    if (!changed || isOver) return queryClient.removeQueries({ queryKey: key, exact: true });
    queryClient.setQueryDefaults(key, { gcTime: Number.POSITIVE_INFINITY });
    queryClient.setQueryData<Kept>(key, { draft, skill });
  }, [draft, skill, changed, isOver]);

  return {
    skill,
    draft,
    change: (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part })),
    changed: changed && !isOver,
    /** It was written earlier, and is back. */
    isBack: kept !== undefined,
    /** Goes on from another version: whatever was not touched is theirs. */
    rebase: (theirs: Skill) => {
      setDraft(merged(draft, newDraft(skill), newDraft(theirs)));
      setSkill(theirs);
    },
    /** Saved, or given up. */
    forget: () => {
      queryClient.removeQueries({ queryKey: key, exact: true });
      setOver(true);
    },
  };
}

function merged(mine: Draft, before: Draft, theirs: Draft): Draft {
  const touched = Object.entries(mine).filter(([field, value]) => value !== before[field as keyof Draft]);
  return { ...theirs, ...Object.fromEntries(touched) };
}
