import { Link } from 'react-router';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { CopyableCode } from '../../ui/copyable-code';
import { EmptyState } from '../../ui/empty-state';

/** Explains the first deployment: files in the browser, or a zip and four requests. */
export function EmptyAutomationList() {
  const workspace = useWorkspace();
  return (
    <EmptyState title="Deploy your first automation" level={2}>
      <p>
        An automation is a Python file that defines <code>run()</code>. It has its own URL and a form for its inputs.{' '}
        <Link to={paths.create}>Worker or automation?</Link>
      </p>
      <LinkButton to={paths.newAutomation} w="fit-content">
        New automation
      </LinkButton>
      {workspace && (
        <CopyableCode
          label="Or deploy from a terminal"
          code={buildDeployScript(window.location.origin, workspace.id)}
        />
      )}
    </EmptyState>
  );
}

/** Names the workspace in each request, because a personal token is valid in all workspaces of its owner. */
const buildDeployScript = (
  origin: string,
  workspaceId: string,
): string => `API=${origin}; JSON="Content-Type: application/json"
call() { curl -s -H "Authorization: Bearer $GANTRY_TOKEN" -H "x-svc-workspace: ${workspaceId}" "$@"; }

echo 'def run(name): return {"greeting": f"Hello {name}"}' > main.py && zip hello.zip main.py
UPLOAD=$(call -X POST $API/api/artifacts/upload-url)
curl -sX PUT "$(echo $UPLOAD | jq -r .uploadUrl)" -H "Content-Type: application/zip" --data-binary @hello.zip
ARTIFACT=$(call $API/api/artifacts -H "$JSON" -d '{"entrypoint": "main.py",
  "manifest": {"name": "Hello", "inputs": ["name"], "outputs": ["greeting"]},
  "storageKey": "'$(echo $UPLOAD | jq -r .storageKey)'"}' | jq -r .artifactId)
call $API/api/deploy -H "$JSON" -d '{"artifactId": "'$ARTIFACT'"}'`;
