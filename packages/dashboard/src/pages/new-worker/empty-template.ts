import type { WorkerTemplate } from '../../workers/templates/template';

/** The minimal runnable template, for custom code. */
export const EMPTY_TEMPLATE: WorkerTemplate = {
  id: 'empty',
  name: 'Your own code',
  about: 'Start from an empty function.',
  inputs: [{ name: 'name', label: 'Name', type: 'text', default: 'world' }],
  outputs: [{ name: 'greeting', label: 'Greeting', type: 'text' }],
  code: `def run(name, context):
    context.log(f"greeting {name}")
    return {"greeting": f"Hello {name}"}
`,
};
