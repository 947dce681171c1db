import { formatManifest, MANIFEST_PATH } from '../../automations/manifest';
import type { Files } from '../../code/files';

/** Identifies the starter as the base version of a draft; change it with the files below. */
export const STARTER_SHA = 'starter-1';

/** A complete automation to start from. */
export const STARTER_FILES: Files = new Map([
  [
    'main.py',
    {
      text: `def run(name):
    greeting = f"Hello, {name}!"
    print(greeting)
    return {"greeting": greeting}
`,
    },
  ],
  [
    MANIFEST_PATH,
    {
      text: formatManifest({
        name: 'Hello',
        description: 'Greets a person',
        inputs: [{ name: 'name', label: 'Name', type: 'text', required: true }],
        outputs: [{ name: 'greeting', label: 'Greeting', type: 'text' }],
        secrets_needed: [],
        python_dependencies: [],
      }),
    },
  ],
]);
