import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Skill } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { type Draft, isChanged, newDraft } from './draft';

interface Kept {
  draft: Draft;
  /** The base of the draft, so that a newer version is never overwritten unseen. */
  skill: Skill | null;
}

/**
 * Manages the unsaved draft, which survives navigation within the dashboard. It is cached with the data of the
 * workspace and, like that, discarded on sign-out.
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
    /** The draft was restored from the cache. */
    isBack: kept !== undefined,
    /** Rebases the draft on a newer version, which sets all fields that were not edited. */
    rebase: (theirs: Skill) => {
      setDraft(merged(draft, newDraft(skill), newDraft(theirs)));
      setSkill(theirs);
    },
    /** Discards the draft after it was saved or cancelled. */
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
