import markup from '../ui/markup.module.css';
import { renderMarkdown } from './markdown';
import styles from './output-markdown.module.css';

export default function OutputMarkdown({ text }: { text: string }) {
  const className = `${markup.markup} ${styles.markdown}`;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the renderer lets no HTML of the text through.
  return <div className={className} dangerouslySetInnerHTML={{ __html: renderMarkdown(text) }} />;
}
