import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { hasErrorStatus } from '../shell/api';
import { toast } from '../shell/toasts';
import { applyChanges, diffFiles, type FileChange, type Files, type FilesQuery } from './files';
import { loadDraft, storeDraft } from './stored-draft';

/** Files with versions: of a worker, or of a context. */
export interface DraftSource {
  /** Names the draft in this browser. */
  key: string;
  /** Display name. */
  name: string;
  /** The current version. */
  sha: string;
  canEdit: boolean;
  /** Reads the files of a version. */
  getFilesQuery: (sha: string) => FilesQuery;
}

export interface Draft {
  /** The version that it is based on. */
  baseSha: string;
  base: Files;
  files: Files;
  changes: FileChange[];
  write: (files: Files) => void;
  /** Bases the draft on another version. @param files null: discards the changes */
  rebase: (sha: string, files: Files | null) => void;
}

interface DraftEdits {
  baseSha: string;
  /** Null: as in the version. */
  files: Files | null;
}

const STORE_AFTER_MS = 300;

/** Loads the draft of a source; undefined until its base version is read. */
export function useDraft(source: DraftSource) {
  const { key, sha, canEdit, getFilesQuery } = source;
  const [stored, setStored] = useState(() => (canEdit ? loadDraft(key) : null));
  const [edits, setEdits] = useState<DraftEdits>(() => ({ baseSha: stored?.baseSha ?? sha, files: null }));
  const { data: base, error, refetch } = useQuery(getFilesQuery(edits.baseSha));

  const files = useMemo(
    () => edits.files ?? (base && stored ? applyChanges(base, stored.changes) : base),
    [edits.files, base, stored],
  );
  const changes = useMemo(() => (base && files ? diffFiles(base, files) : []), [base, files]);

  // Without changes here, a version saved by another member replaces the base at once.
  const isOutdated = edits.baseSha !== sha && base !== undefined && changes.length === 0;
  // The version is gone: it belonged to something of the same name that was deleted.
  const isLost = stored !== null && hasErrorStatus(error, 404);
  useEffect(() => {
    if (!isOutdated && !isLost) return;
    setStored(null);
    setEdits({ baseSha: sha, files: null });
  }, [isOutdated, isLost, sha]);

  useDraftAutosave(source, canEdit && base !== undefined, { baseSha: edits.baseSha, changes });

  const draft: Draft | undefined = base &&
    files && {
      baseSha: edits.baseSha,
      base,
      files,
      changes,
      write: (next) => setEdits((before) => ({ ...before, files: next })),
      rebase: (newSha, next) => {
        setStored(null);
        setEdits({ baseSha: newSha, files: next });
      },
    };
  return { draft, error, retry: refetch };
}

/** Stores the draft in this browser, and warns a member who leaves. */
function useDraftAutosave({ key, name }: DraftSource, isReady: boolean, draft: Pick<Draft, 'baseSha' | 'changes'>) {
  const latest = useRef({ isReady, draft });
  latest.current = { isReady, draft };
  const { baseSha, changes } = draft;
  useEffect(() => {
    if (!isReady) return;
    const timer = setTimeout(() => storeDraft(key, { baseSha, changes }), STORE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isReady, key, baseSha, changes]);

  useEffect(() => {
    const saveDraft = () => latest.current.isReady && storeDraft(key, latest.current.draft);
    const hasChanges = () => latest.current.draft.changes.length > 0;
    const handleBeforeUnload = (event: BeforeUnloadEvent) => {
      saveDraft();
      if (hasChanges()) event.preventDefault();
    };
    window.addEventListener('beforeunload', handleBeforeUnload);
    return () => {
      window.removeEventListener('beforeunload', handleBeforeUnload);
      const wasSaved = saveDraft();
      if (!hasChanges()) return;
      if (wasSaved) toast(`Your unsaved changes to ${name} are kept in this browser.`);
      else toast(`Your unsaved changes to ${name} couldn’t be stored in this browser.`, { tone: 'error' });
    };
  }, [key, name]);
}
