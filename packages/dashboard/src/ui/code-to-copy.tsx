import { useClipboard } from '@mantine/hooks';
import styles from './code-to-copy.module.css';
import { CheckIcon, CopyIcon } from './icons';

export function CodeToCopy({ label, code }: { label: string; code: string }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        <span>{label}</span>
        <button type="button" className={styles.copy} onClick={() => clipboard.copy(code)}>
          {clipboard.copied ? <CheckIcon /> : <CopyIcon />}
          <span aria-live="polite">{clipboard.copied ? 'Copied' : 'Copy'}</span>
        </button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre className={styles.code} tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
