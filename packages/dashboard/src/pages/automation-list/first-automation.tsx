import { CodeToCopy } from '../../ui/code-to-copy';
import { Empty } from '../../ui/empty';

/** The next step of a workspace without automations: a zip and four requests. */
export function FirstAutomation() {
  return (
    <Empty title="Deploy your first automation" level={2}>
      <p>
        An automation is a zip with a Python file that defines <code>run()</code>. Upload it, make it an artifact, and
        deploy that; it then shows up here with a page of its own.
      </p>
      <CodeToCopy label="In a terminal" code={script(window.location.origin)} />
    </Empty>
  );
}

const script = (
  origin: string,
): string => `API=${origin}; AUTH="Authorization: Bearer $GANTRY_TOKEN"; JSON="Content-Type: application/json"

echo 'def run(name): return {"greeting": f"Hello {name}"}' > main.py && zip hello.zip main.py
UPLOAD=$(curl -sX POST $API/api/artifacts/upload-url -H "$AUTH")
curl -sX PUT "$(echo $UPLOAD | jq -r .uploadUrl)" -H "Content-Type: application/zip" --data-binary @hello.zip
ARTIFACT=$(curl -sX POST $API/api/artifacts -H "$AUTH" -H "$JSON" -d '{"entrypoint": "main.py",
  "manifest": {"name": "Hello", "inputs": ["name"], "outputs": ["greeting"]},
  "storageKey": "'$(echo $UPLOAD | jq -r .storageKey)'"}' | jq -r .artifactId)
curl -sX POST $API/api/deploy -H "$AUTH" -H "$JSON" -d '{"artifactId": "'$ARTIFACT'"}'`;
