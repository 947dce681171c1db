import type { WorkerTemplate } from './template';

export const pageResearcher: WorkerTemplate = {
  id: 'page-researcher',
  category: 'agents',
  name: 'Page researcher',
  about: 'Reads a web page and related pages, then writes a summary that answers a question and cites its sources.',
  tags: ['research'],
  runner: 'agent',
  tools: ['http'],
  max_turns: 12,
  budget_usd: 0.5,
  inputs: [
    { name: 'url', label: 'Page', type: 'url', default: 'https://example.com', required: true },
    { name: 'question', label: 'Question', type: 'text', default: 'What is this page for?', required: true },
  ],
  outputs: [
    { name: 'summary', label: 'Summary', type: 'markdown' },
    { name: 'answered', label: 'Answered', type: 'text' },
    { name: 'sources', label: 'Sources', type: 'table' },
  ],
  output: {
    type: 'object',
    required: ['summary', 'answered', 'sources'],
    additionalProperties: false,
    properties: {
      summary: { type: 'string', minLength: 1 },
      answered: { type: 'boolean' },
      sources: {
        type: 'array',
        items: {
          type: 'object',
          required: ['url', 'says'],
          additionalProperties: false,
          properties: { url: { type: 'string' }, says: { type: 'string' } },
        },
      },
    },
  },
  code: `# Page researcher

Answer \`question\` using the page at \`url\`.

1. Read the page with the \`http\` tool. If it does not answer the question, read up to four pages that it links to, and only those that are likely to answer it.
2. Write a summary in Markdown of at most 150 words: the answer first, then what supports it. Quote numbers, names and dates exactly as they appear on the page.
3. List each page that you used as a source, along with the one thing that it says about the question.

If no page answers the question, say so in the summary and set \`answered\` to false. Never fill gaps with your own knowledge: the reader relies on the sources.
`,
};
