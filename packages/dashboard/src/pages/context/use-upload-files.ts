import { useMutation, useQueryClient } from '@tanstack/react-query';
import { applyChanges } from '../../code/files';
import type { Draft } from '../../code/use-draft';
import { contextFilesQuery, useUpdateCachedContext } from '../../contexts/use-context-pack';
import { api, type Context } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';

/** The maximum total size of a context's files. */
const CONTEXT_BYTES_MAX = 10 * 1024 * 1024;

/** Uploads files as a version of their own, and rebases unsaved changes on it. */
export function useUploadFiles(context: Context, draft: Draft) {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const updateCachedContext = useUpdateCachedContext();
  const path = { name: context.name };

  async function undoUpload(sha: string) {
    const params = { path: { ...path, sha } };
    const restored = await api.worker.POST('/api/contexts/{name}/rollback/{sha}', { params, body: {} });
    draft.rebase(restored.sha, null);
    updateCachedContext(restored);
  }

  return useMutation({
    mutationFn: async (files: File[]) => {
      if (files.length === 0) return null;
      if (files.reduce((sum, { size }) => sum + size, 0) > CONTEXT_BYTES_MAX) {
        throw new Error('A context can hold up to 10 MB. Choose fewer or smaller files.');
      }
      const form = new FormData();
      for (const file of files) form.append('files', file, file.webkitRelativePath || file.name);
      const uploaded = await api.worker.POST('/api/contexts/{name}/upload', {
        params: { path },
        // The generated type has no file parts.
        body: {},
        bodySerializer: () => form,
      });
      return { uploaded, count: files.length };
    },
    onSuccess: async (result) => {
      if (!result) return;
      const { uploaded, count } = result;
      const now = await queryClient.fetchQuery(contextFilesQuery(workspaceId, context.name, uploaded.sha));
      draft.rebase(uploaded.sha, draft.changes.length ? applyChanges(now, draft.changes) : null);
      updateCachedContext(uploaded);
      const before = context.sha;
      toast(`${count === 1 ? '1 file' : `${count} files`} uploaded as version ${uploaded.version}`, {
        undo: () =>
          void undoUpload(before).catch((error: Error) =>
            toast(`Couldn’t undo the upload: ${error.message}`, { tone: 'error' }),
          ),
      });
    },
  });
}
