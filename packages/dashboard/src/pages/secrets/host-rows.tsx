import { Button, TextInput } from '@mantine/core';
import { useRef } from 'react';
import styles from './secrets-page.module.css';

export interface HostRow {
  key: number;
  host: string;
}

const HOSTS_MAX = 64;

export const rowsOf = (hosts: string[]): HostRow[] => hosts.map((host, key) => ({ key, host }));

/** Without the rows that are empty. */
export const hostsIn = (rows: HostRow[]): string[] => rows.map(({ host }) => host.trim()).filter(Boolean);

interface HostRowsProps {
  rows: HostRow[];
  onChange: (rows: HostRow[]) => void;
}

/** The only hosts that a value goes to, one in each row. */
export function HostRows({ rows, onChange }: HostRowsProps) {
  const nextKey = useRef(rows.length);
  const group = useRef<HTMLFieldSetElement>(null);
  const add = () => {
    onChange([...rows, { key: nextKey.current++, host: '' }]);
    requestAnimationFrame(() => group.current?.querySelector<HTMLElement>('li:last-child input')?.focus());
  };
  return (
    <fieldset className={styles.hosts} ref={group}>
      <legend>Hosts</legend>
      <p className={styles.hint}>
        {rows.length
          ? 'Code gets a placeholder, and the value goes to these hosts only. *.example.com is every host below it.'
          : 'Without hosts, code gets the value itself. With hosts, it gets a placeholder, and the value goes to them only.'}
      </p>
      {rows.length > 0 && (
        <ul className={styles.hostRows}>
          {rows.map(({ key, host }, index) => (
            <li key={key} className={styles.hostRow}>
              <TextInput
                aria-label={`Host ${index + 1}`}
                placeholder="api.example.com"
                classNames={{ input: styles.code }}
                autoCapitalize="none"
                autoComplete="off"
                spellCheck={false}
                maxLength={260}
                value={host}
                onChange={(event) => {
                  const typed = event.currentTarget.value;
                  onChange(rows.map((row) => (row.key === key ? { key, host: typed } : row)));
                }}
              />
              <Button
                variant="default"
                aria-label={`Remove ${host || `host ${index + 1}`}`}
                onClick={() => onChange(rows.filter((row) => row.key !== key))}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      {rows.length < HOSTS_MAX && (
        <div>
          <Button variant="default" size="compact-sm" onClick={add}>
            Add a host
          </Button>
        </div>
      )}
    </fieldset>
  );
}
