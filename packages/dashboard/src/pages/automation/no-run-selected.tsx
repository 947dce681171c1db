import type { InputItem, Page } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { CopyableCode } from '../../ui/copyable-code';
import { EmptyState } from '../../ui/empty-state';

export function NoRunSelected({ page }: { page: Page }) {
  const workspace = useWorkspace();
  return (
    <EmptyState title="No run selected">
      <p>
        Fill in the inputs and select Run. The log streams here, followed by the outputs.
        {page.access === 'member' && ' You can also choose a past run below.'}
      </p>
      {page.access === 'member' && (
        <CopyableCode label="Run from a terminal" code={buildCurlCommand(page, workspace?.id)} />
      )}
    </EmptyState>
  );
}

/** Names the automation's workspace, because a personal token is valid in all workspaces of its owner. */
function buildCurlCommand(page: Page, workspaceId: string | undefined): string {
  const inputs = Object.fromEntries(
    page.inputs.filter(isInExample).map((item) => [item.name, buildExampleValue(item)]),
  );
  // A single quote inside the shell's single quotes: close, escape, open again.
  const body = JSON.stringify({ inputs }).replaceAll("'", String.raw`'\''`);
  return `curl -X POST ${window.location.origin}/api/automations/${page.id}/run \\
  -H "Authorization: Bearer $GANTRY_TOKEN" \\${workspaceId ? `\n  -H "x-svc-workspace: ${workspaceId}" \\` : ''}
  -H "Content-Type: application/json" \\
  -d '${body}'`;
}

const isInExample = (item: InputItem): boolean => item.required === true || item.default !== undefined;

function buildExampleValue(item: InputItem): unknown {
  if (item.default !== undefined) return item.default;
  switch (item.type) {
    case 'number':
    case 'integer':
      return item.minimum ?? 1;
    case 'boolean':
      return true;
    case 'json':
      return {};
    default:
      return item.placeholder ?? '…';
  }
}
