/** A draft is kept in its author's browser until it is saved. */
import type { FileChange } from './files';

interface StoredDraft {
  /** The version that it is based on. */
  baseSha: string;
  changes: FileChange[];
}

const getDraftStorageKey = (name: string) => `gantry.draft.${name}`;

/** Loads a draft; null also for what another version of this page has written. */
export function loadDraft(name: string): StoredDraft | null {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(getDraftStorageKey(name)) ?? 'null');
    const { baseSha, changes } = (found ?? {}) as Partial<StoredDraft>;
    const isDraft = typeof baseSha === 'string' && Array.isArray(changes) && changes.every(({ path }) => path);
    return isDraft && changes.length > 0 ? { baseSha, changes } : null;
  } catch {
    return null;
  }
}

/** Stores a draft. @returns false where the browser refuses: storage may be full or forbidden */
export function storeDraft(name: string, draft: StoredDraft | null): boolean {
  try {
    if (draft?.changes.length) localStorage.setItem(getDraftStorageKey(name), JSON.stringify(draft));
    else localStorage.removeItem(getDraftStorageKey(name));
    return true;
  } catch {
    return false;
  }
}
