import { useMemo } from 'react';
import { renderMarkdown } from '../outputs/markdown';
import { Markup } from '../skills/markup';

/**
 * Renders text of the agent, which may repeat whatever it has read. The Markdown is rendered here, as it comes, and
 * then built of the elements that skills are made of: no HTML of the text and no picture gets into the page.
 */
export default function AgentText({ text }: { text: string }) {
  const html = useMemo(() => renderMarkdown(text), [text]);
  return <Markup html={html} baseUrl={undefined} />;
}
