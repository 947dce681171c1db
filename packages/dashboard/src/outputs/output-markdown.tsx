import { renderMarkdown } from './markdown';
import styles from './output-markdown.module.css';

export default function OutputMarkdown({ text }: { text: string }) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the renderer lets no HTML of the text through.
  return <div className={styles.markdown} dangerouslySetInnerHTML={{ __html: renderMarkdown(text) }} />;
}
