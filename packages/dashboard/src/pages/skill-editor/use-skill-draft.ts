import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Skill } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { createDraft, hasChanges, type SkillDraft } from './skill-draft';

interface CachedDraft {
  draft: SkillDraft;
  /** The base of the draft, so that a newer version is never overwritten unseen. */
  skill: Skill | null;
}

/**
 * Manages the unsaved draft, which survives navigation within the dashboard. It is cached with the data of the
 * workspace and, like that, discarded on sign-out.
 */
export function useSkillDraft(initialSkill: Skill | null) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const key = skillKeys.draft(workspaceId, initialSkill?.slug ?? null);
  const [cachedDraft] = useState(() => queryClient.getQueryData<CachedDraft>(key));
  const [skill, setSkill] = useState(cachedDraft ? cachedDraft.skill : initialSkill);
  const [draft, setDraft] = useState<SkillDraft>(() => cachedDraft?.draft ?? createDraft(skill));
  const [isDiscarded, setDiscarded] = useState(false);
  const isDraftChanged = hasChanges(draft, skill);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the same as long as the page is.
  useEffect(() => {
    if (!isDraftChanged || isDiscarded) return queryClient.removeQueries({ queryKey: key, exact: true });
    queryClient.setQueryDefaults(key, { gcTime: Number.POSITIVE_INFINITY });
    queryClient.setQueryData<CachedDraft>(key, { draft, skill });
  }, [draft, skill, isDraftChanged, isDiscarded]);

  return {
    skill,
    draft,
    change: (part: Partial<SkillDraft>) => setDraft((before) => ({ ...before, ...part })),
    changed: isDraftChanged && !isDiscarded,
    /** The draft was restored from the cache. */
    isBack: cachedDraft !== undefined,
    /** Rebases the draft on a newer version, which sets all fields that were not edited. */
    rebase: (newerSkill: Skill) => {
      setDraft(mergeDrafts(draft, createDraft(skill), createDraft(newerSkill)));
      setSkill(newerSkill);
    },
    /** Discards the draft after it was saved or cancelled. */
    forget: () => {
      queryClient.removeQueries({ queryKey: key, exact: true });
      setDiscarded(true);
    },
  };
}

function mergeDrafts(draft: SkillDraft, base: SkillDraft, theirs: SkillDraft): SkillDraft {
  const editedFields = Object.entries(draft).filter(([field, value]) => value !== base[field as keyof SkillDraft]);
  return { ...theirs, ...Object.fromEntries(editedFields) };
}
