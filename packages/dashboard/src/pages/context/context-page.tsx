import { Skeleton } from '@mantine/core';
import { useMemo } from 'react';
import { type DraftSource, useDraft } from '../../code/use-draft';
import { ContextLayout } from '../../contexts/context-layout';
import { contextFilesQuery } from '../../contexts/use-context-pack';
import type { Context } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { LoadErrorNotice } from '../../ui/notice';
import { ContextFiles } from './context-files';

/** Shows the files of a context, which can be edited, uploaded and saved as a version. */
export default function ContextPage() {
  return <ContextLayout>{(context) => <ContextDraft key={context.name} context={context} />}</ContextLayout>;
}

function ContextDraft({ context }: { context: Context }) {
  const workspaceId = useWorkspace()?.id;
  const { name, sha, permissions } = context;
  const canEdit = permissions.edit;
  const source = useMemo(
    (): DraftSource => ({
      key: `${workspaceId}.context.${name}`,
      name,
      sha,
      canEdit,
      getFilesQuery: (version) => contextFilesQuery(workspaceId, name, version),
    }),
    [workspaceId, name, sha, canEdit],
  );
  const { draft, error, retry } = useDraft(source);
  if (draft) return <ContextFiles context={context} source={source} draft={draft} />;
  if (error) return <LoadErrorNotice what="The files" error={error} retry={retry} />;
  return <Skeleton height={480} radius={10} />;
}
