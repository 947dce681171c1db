import { useWorkspace } from '../../shell/use-me';
import { CodeToCopy } from '../../ui/code-to-copy';
import { Empty } from '../../ui/empty';

/** The next step of a workspace without automations: a zip and four requests. */
export function FirstAutomation() {
  const workspace = useWorkspace();
  return (
    <Empty title="Deploy your first automation" level={2}>
      <p>
        An automation is a zip with a Python file that defines <code>run()</code>. Upload it, make it an artifact, and
        deploy that; it then shows up here with a page of its own.
      </p>
      {workspace && <CodeToCopy label="In a terminal" code={script(window.location.origin, workspace.id)} />}
    </Empty>
  );
}

/** A personal token is good in all workspaces of its owner, so each request names this one. */
const script = (origin: string, workspaceId: string): string => `API=${origin}; JSON="Content-Type: application/json"
call() { curl -s -H "Authorization: Bearer $GANTRY_TOKEN" -H "x-svc-workspace: ${workspaceId}" "$@"; }

echo 'def run(name): return {"greeting": f"Hello {name}"}' > main.py && zip hello.zip main.py
UPLOAD=$(call -X POST $API/api/artifacts/upload-url)
curl -sX PUT "$(echo $UPLOAD | jq -r .uploadUrl)" -H "Content-Type: application/zip" --data-binary @hello.zip
ARTIFACT=$(call $API/api/artifacts -H "$JSON" -d '{"entrypoint": "main.py",
  "manifest": {"name": "Hello", "inputs": ["name"], "outputs": ["greeting"]},
  "storageKey": "'$(echo $UPLOAD | jq -r .storageKey)'"}' | jq -r .artifactId)
call $API/api/deploy -H "$JSON" -d '{"artifactId": "'$ARTIFACT'"}'`;
