import { Box, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { OutputJson } from '../outputs/output-json';
import { formatDuration } from '../ui/format';
import { CheckIcon, ClockIcon, CrossIcon, RightIcon, StopIcon, WaitIcon } from '../ui/icons';
import { parseJson } from '../ui/json';
import { revealHiddenCharacters } from '../ui/reveal-hidden-characters';
import { StatusChip, type Tone } from '../ui/status-chip';
import { EscapedValue } from './escaped-value';
import styles from './tool-call.module.css';

const ICONS: Record<Tone, ReactNode> = {
  idle: <StopIcon />,
  running: <ClockIcon />,
  success: <CheckIcon />,
  error: <CrossIcon />,
  timeout: <WaitIcon />,
};

interface ToolCallProps {
  /** Id of its line, for code that moves the focus there. */
  id?: string | undefined;
  title: string;
  /** As the model names it. */
  name: string;
  callArguments: unknown;
  /** The tool's response; null until there is one. */
  result: string | null;
  state: { tone: Tone; word: string };
  /** In milliseconds, where it is known. */
  ms?: number | undefined;
  /** More about the call, shown below its result. */
  note?: ReactNode;
}

/** Shows a tool call on one line that expands to its arguments and result. */
export function ToolCall({ id, title, name, callArguments, result, state: { tone, word }, ms, note }: ToolCallProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles.call} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.summary} id={id}>
        <Stack component="span" className={styles.fold} gap={0} flex="none" c="dimmed">
          <RightIcon />
        </Stack>
        <span className={styles.title}>{title}</span>
        <Text span className={styles.gist} flex={1} miw={0} c="dimmed" truncate>
          {summarizeArguments(callArguments)}
        </Text>
        {ms !== undefined && (
          <Text span className="tabular-nums" flex="none" fz="xs" c="dimmed">
            {formatDuration(ms)}
          </Text>
        )}
        <StatusChip tone={tone} icon={ICONS[tone]} word={word} />
      </summary>
      {isOpen && (
        <Stack className={styles.body} gap="md">
          {title !== name && (
            <LabeledSection name="Tool">
              <Box component="code" className="wrap-anywhere" fz="xs">
                {name}
              </Box>
            </LabeledSection>
          )}
          <LabeledSection name="Arguments">
            <EscapedValue value={callArguments} />
          </LabeledSection>
          {result !== null && (
            <LabeledSection name="Result">
              <ToolCallResult text={result} />
            </LabeledSection>
          )}
          {note && (
            <Box fz="sm" c="dimmed">
              {note}
            </Box>
          )}
        </Stack>
      )}
    </details>
  );
}

function LabeledSection({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Stack gap={4}>
      <Text fz="xs" fw={600}>
        {name}
      </Text>
      {children}
    </Stack>
  );
}

/** Most tools return JSON. */
function ToolCallResult({ text }: { text: string }) {
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null) return <OutputJson value={revealHiddenCharactersDeep(value)} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre className="code-box pre-wrap wrap-anywhere" tabIndex={0}>
      {revealHiddenCharacters(text)}
    </pre>
  );
}

function revealHiddenCharactersDeep(value: unknown): unknown {
  if (typeof value === 'string') return revealHiddenCharacters(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(revealHiddenCharactersDeep);
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [revealHiddenCharacters(name), revealHiddenCharactersDeep(field)]),
  );
}

const SUMMARY_CHARS_MAX = 60;
const SUMMARY_VALUES_MAX = 3;

/** Summarizes arguments in one line: the first short values. */
function summarizeArguments(callArguments: unknown): string {
  if (typeof callArguments !== 'object' || callArguments === null) return '';
  return Object.values(callArguments)
    .filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
    .map((value) => revealHiddenCharacters(String(value).replace(/\s+/g, ' ').trim()))
    .filter((value) => value !== '' && value.length <= SUMMARY_CHARS_MAX)
    .slice(0, SUMMARY_VALUES_MAX)
    .join(' · ');
}
