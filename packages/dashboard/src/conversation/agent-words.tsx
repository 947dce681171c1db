import { lazy, Suspense } from 'react';
import styles from './conversation.module.css';

const AgentText = lazy(() => import('./agent-text'));

/** Words of an agent as Markdown, and as they are until that can be read. */
export const AgentWords = ({ text }: { text: string }) => (
  <Suspense fallback={<p className={styles.raw}>{text}</p>}>
    <AgentText text={text} />
  </Suspense>
);
