import { MANIFEST, writeManifest } from '../../automations/manifest';
import type { Files } from '../../code/files';

/** In the place of a version that a draft is made from; another text needs another one. */
export const STARTER_SHA = 'starter-1';

/** A whole automation, to be run as it is and then changed. */
export const STARTER: Files = new Map([
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
    MANIFEST,
    {
      text: writeManifest({
        name: 'Hello',
        description: 'Greets somebody',
        inputs: [{ name: 'name', label: 'Name', type: 'text', required: true }],
        outputs: [{ name: 'greeting', label: 'Greeting', type: 'text' }],
        secrets_needed: [],
        python_dependencies: [],
      }),
    },
  ],
]);
