import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type ClipboardEvent, useEffect, useRef } from 'react';

export interface HostRow {
  key: number;
  host: string;
}

export interface HostProblem extends HostRow {
  message: string;
}

const HOST_CHARS_MAX = 260;
const NO_PROBLEMS: readonly HostProblem[] = [];

export const toHostRows = (hosts: readonly string[]): HostRow[] => hosts.map((host, key) => ({ key, host }));

/** Removes empty rows. */
export const removeEmptyRows = (rows: readonly HostRow[]): HostRow[] => rows.filter(({ host }) => host.trim() !== '');

interface HostRowsProps {
  /** Names the list for screen readers. */
  label: string;
  rows: HostRow[];
  onChange: (rows: HostRow[]) => void;
  /** A host that shows how one is written. */
  example: string;
  most: number;
  /** Number of rows that stay, to be filled in. */
  least?: 0 | 1;
  /** Each belongs to a row as submitted, and is hidden once that row is edited. */
  problems?: readonly HostProblem[];
  isEditable?: boolean;
}

/** Edits hosts, one per row. A list pasted into an empty row becomes a row for each. */
export function HostRows(props: HostRowsProps) {
  const { label, rows, onChange, example, most, least = 0, problems = NO_PROBLEMS, isEditable = true } = props;
  const list = useRef<HTMLDivElement>(null);
  const nextKey = useRef(1 + Math.max(-1, ...rows.map(({ key }) => key)));
  const added = useRef<number | null>(null);
  const [firstProblem] = problems;
  // biome-ignore lint/correctness/useExhaustiveDependencies: when something was refused, and only then.
  useEffect(() => {
    list.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [firstProblem?.key, firstProblem?.message]);

  const replaceRow = (key: number, hosts: string[]) =>
    rows.flatMap((row) =>
      row.key === key ? hosts.map((host, at) => ({ key: at === 0 ? key : nextKey.current++, host })) : [row],
    );

  function handlePaste(event: ClipboardEvent<HTMLInputElement>, { key, host }: HostRow) {
    const hosts = event.clipboardData
      .getData('text')
      .split(/[\s,;]+/)
      .filter((one) => one !== '');
    if (hosts.length < 2 || host.trim() !== '') return;
    event.preventDefault();
    onChange(replaceRow(key, hosts).slice(0, most));
  }

  function add() {
    added.current = nextKey.current++;
    onChange([...rows, { key: added.current, host: '' }]);
  }

  return (
    <Stack gap="sm" align="flex-start">
      {rows.length > 0 && (
        <Stack component="ul" ref={list} gap="xs" w="100%" aria-label={label}>
          {rows.map((row, at) => (
            <Group component="li" key={row.key} className="code-field" gap="xs" align="flex-start" wrap="nowrap">
              <TextInput
                flex={1}
                aria-label={`Host ${at + 1}`}
                placeholder={at === 0 ? example : '*.example.com:443'}
                value={row.host}
                onChange={(event) => onChange(replaceRow(row.key, [event.currentTarget.value]))}
                onPaste={(event) => handlePaste(event, row)}
                error={problems.find(({ key, host }) => key === row.key && host === row.host)?.message}
                maxLength={HOST_CHARS_MAX}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                autoFocus={row.key === added.current}
                required={rows.length === least}
              />
              {isEditable && rows.length > least && (
                <Button
                  variant="default"
                  aria-label={`Remove ${row.host.trim() || `host ${at + 1}`}`}
                  onClick={() => onChange(rows.filter(({ key }) => key !== row.key))}
                >
                  Remove
                </Button>
              )}
            </Group>
          ))}
        </Stack>
      )}
      {isEditable && rows.length < most && (
        <Button variant="default" size="compact-sm" onClick={add}>
          Add host
        </Button>
      )}
    </Stack>
  );
}
