import type { WorkerTemplate } from './template';

export const numberCheck: WorkerTemplate = {
  id: 'number-check',
  category: 'agents',
  name: 'Number check',
  about: 'Recalculates every derived number in your text with a small program and lists any errors.',
  tags: ['writing'],
  runner: 'agent',
  tools: ['python'],
  network: 'none',
  max_turns: 10,
  budget_usd: 0.25,
  inputs: [
    {
      name: 'text',
      label: 'Text',
      type: 'textarea',
      required: true,
      default:
        'We sold 1,240 lamps at $39.50 each, which comes to $48,980. That’s 12% more lamps than last year’s 1,080.',
    },
  ],
  outputs: [
    { name: 'verdict', label: 'Verdict', type: 'text' },
    { name: 'checked', label: 'Checked', type: 'table' },
  ],
  output: {
    type: 'object',
    required: ['verdict', 'checked'],
    additionalProperties: false,
    properties: {
      verdict: { type: 'string', minLength: 1 },
      checked: {
        type: 'array',
        items: {
          type: 'object',
          required: ['claim', 'computed', 'right'],
          additionalProperties: false,
          properties: { claim: { type: 'string' }, computed: { type: 'string' }, right: { type: 'boolean' } },
        },
      },
    },
  },
  code: `# Check the numbers in a piece of text

Find every number in \`text\` that follows from others: products, sums, shares, growth, averages, spans between dates.

- Compute each with the \`python\` tool, never mentally. One program may check several.
- A claim is right if it matches the result at the precision used in the text: "12%" matches 12.4%.
- Skip numbers that can’t be derived from others in the text.

\`verdict\` is one sentence: how many claims you checked, and which of them are wrong. In \`checked\`, quote each claim exactly as it appears in the text, along with the value you computed.
`,
};
