import { Box, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { CopyableCode } from '../ui/copyable-code';
import { formatNumber } from '../ui/format';
import { RightIcon, WarningIcon } from '../ui/icons';
import { revealHiddenCharacters } from '../ui/reveal-hidden-characters';
import { SearchField } from '../ui/search-field';
import { StatusChip } from '../ui/status-chip';
import type { ConnectionTool } from './connection-queries';
import { listToolArguments, type ToolArgument } from './tool-arguments';
import styles from './tool-list.module.css';

const PAGE_SIZE = 50;
/** Minimum number of tools for a search field. */
const SEARCH_MIN_TOOLS = 8;
const DESCRIPTION_CHARS = 480;

interface ToolListProps {
  tools: readonly ConnectionTool[];
  /** Whether descriptions are third-party text. */
  isForeign: boolean;
  /** Absent: read-only. */
  choice?: { chosen: ReadonlySet<string>; onChange: (name: string, isChosen: boolean) => void };
}

/** Lists tools with their descriptions and arguments. */
export function ToolList({ tools, isForeign, choice }: ToolListProps) {
  const [text, setText] = useState('');
  const [shown, setShown] = useState(PAGE_SIZE);
  const query = text.trim().toLowerCase();
  const found = tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(query));
  return (
    <>
      {tools.length >= SEARCH_MIN_TOOLS && (
        <SearchField
          maw="24rem"
          mb="md"
          label="Search tools"
          placeholder={`Search ${tools.length} tools`}
          value={text}
          onChange={setText}
        />
      )}
      {found.length === 0 && (
        <Text fz="sm" c="dimmed" role="status">
          No matching tools.
        </Text>
      )}
      <Box component="ul" className="divided rows" aria-label="Tools">
        {found.slice(0, shown).map((tool) => (
          <Stack component="li" key={tool.name} gap="xs">
            <ToolHeader tool={tool}>
              {choice && (
                <Checkbox
                  aria-label={`Allow ${tool.name}`}
                  checked={choice.chosen.has(tool.name)}
                  onChange={(event) => choice.onChange(tool.name, event.currentTarget.checked)}
                />
              )}
            </ToolHeader>
            {/* Beside the box of the choice and the gap after it. */}
            <Box ps={choice && 'calc(1.25rem + var(--space-3))'}>
              <ToolDescription text={tool.description} isForeign={isForeign} />
              <ToolArguments tool={tool} isForeign={isForeign} />
            </Box>
          </Stack>
        ))}
      </Box>
      {found.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + PAGE_SIZE)}>
          Show more
        </Button>
      )}
    </>
  );
}

function ToolHeader({ tool, children }: { tool: ConnectionTool; children: ReactNode }) {
  const { name, changed, allowed, request } = tool;
  return (
    <Group gap="4px 12px">
      {children}
      <Box component="h3" className="wrap-anywhere" ff="monospace" fz="sm" fw={700}>
        {name}
      </Box>
      {changed && <StatusChip tone="timeout" icon={<WarningIcon />} word="Changed" />}
      {!children && allowed === false && (
        <Text span fz="sm" c="dimmed">
          Not allowed
        </Text>
      )}
      {request && (
        <Box component="code" className="small-code" c="dimmed" style={{ flexBasis: '100%' }}>
          {request.method} {request.url}
        </Box>
      )}
    </Group>
  );
}

function ToolDescription({ text, isForeign }: { text: string; isForeign: boolean }) {
  const [isExpanded, setExpanded] = useState(false);
  if (text.trim() === '')
    return (
      <Text fz="sm" c="dimmed">
        No description.
      </Text>
    );
  if (!isForeign)
    return (
      <Text maw="68ch" fz="sm">
        {text}
      </Text>
    );
  const isLong = text.length > DESCRIPTION_CHARS;
  return (
    <blockquote className={styles.quote}>
      {revealHiddenCharacters(isLong && !isExpanded ? `${text.slice(0, DESCRIPTION_CHARS)}…` : text)}
      {isLong && (
        <button type="button" className="link-button" onClick={() => setExpanded(!isExpanded)}>
          {isExpanded ? 'Show less' : `Show all ${formatNumber(text.length)} characters`}
        </button>
      )}
    </blockquote>
  );
}

function ToolArguments({ tool, isForeign }: { tool: ConnectionTool; isForeign: boolean }) {
  const { name, input_schema: schema } = tool;
  const [isOpen, setOpen] = useState(false);
  const all = listToolArguments(schema);
  const own = all.filter(({ depth }) => depth === 0);
  const words = own.map(({ path, isRequired }) => (isRequired ? path : `${path}?`)).join(', ');
  return (
    <Box
      component="details"
      className={styles.arguments}
      mt="xs"
      fz="sm"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className={styles.summary}>
        <RightIcon />
        <span>
          {own.length === 0 ? 'No arguments' : `${own.length} ${own.length === 1 ? 'argument' : 'arguments'}`}
          <span className="visually-hidden"> for {name}</span>
        </span>
        <Text component="code" miw={0} ff="monospace" fz="xs" truncate>
          {revealHiddenCharacters(words)}
        </Text>
      </summary>
      {isOpen && (
        <Stack className={styles.opened} gap="sm" p="8px 0 8px">
          {all.length > 0 && <ArgumentList all={all} isForeign={isForeign} />}
          <CopyableCode label="JSON Schema" code={revealHiddenCharacters(JSON.stringify(schema, null, 2))} />
        </Stack>
      )}
    </Box>
  );
}

const ArgumentList = ({ all, isForeign }: { all: ToolArgument[]; isForeign: boolean }) => (
  <dl className={`${styles.rows} divided wrap-anywhere`}>
    {all.map(({ path, type, isRequired, description, limits }) => (
      <div key={path}>
        <dt>
          <Box component="code" className="small-code" fw={600}>
            {revealHiddenCharacters(path)}
          </Box>
          <Text span fz="sm" c="dimmed">
            {type}
            {isRequired && ', required'}
          </Text>
        </dt>
        <dd>
          {description && (
            <span className={isForeign ? styles.quoted : undefined}>{revealHiddenCharacters(description)}</span>
          )}
          {limits && (
            <Text span fz="sm" c="dimmed">
              {revealHiddenCharacters(limits)}
            </Text>
          )}
        </dd>
      </div>
    ))}
  </dl>
);
