import { Box, Stack } from '@mantine/core';
import { replaceHiddenCharacters } from '../ui/reveal-hidden-characters';
import styles from './escaped-value.module.css';

/** Escapes hidden characters: approvers decide by what they see. */
const escapeHiddenCharacters = (text: string): string =>
  replaceHiddenCharacters(text, (hidden) => `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`);

/** Shows a value in full: line breaks are kept, and hidden characters are escaped. */
export function EscapedValue({ value }: { value: unknown }) {
  if (typeof value === 'string') return <EscapedText text={value} />;
  if (typeof value !== 'object' || value === null) return <code className={styles.plain}>{JSON.stringify(value)}</code>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <code className={styles.plain}>{Array.isArray(value) ? '[]' : '{}'}</code>;
  return (
    <Stack component="dl" className={styles.fields} gap="xs">
      {entries.map(([name, field]) => (
        <div key={name} data-nested={isBlockValue(field)}>
          <Box component="dt" className="wrap-anywhere" ff="monospace" c="dimmed">
            {Array.isArray(value) ? `${Number(name) + 1}.` : escapeHiddenCharacters(name)}
          </Box>
          <dd>
            <EscapedValue value={field} />
          </dd>
        </div>
      ))}
    </Stack>
  );
}

const isBlockValue = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null && Object.keys(value).length > 0) ||
  (typeof value === 'string' && value.includes('\n'));

function EscapedText({ text }: { text: string }) {
  if (text === '') return <code className={styles.plain}>""</code>;
  if (!text.includes('\n')) return <code className={styles.text}>{escapeHiddenCharacters(text)}</code>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre className="code-box" tabIndex={0}>
      {escapeHiddenCharacters(text)}
    </pre>
  );
}
