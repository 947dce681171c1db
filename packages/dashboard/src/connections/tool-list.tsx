import { Button, Checkbox, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { CodeToCopy } from '../ui/code-to-copy';
import { figure } from '../ui/format';
import { RightIcon, SearchIcon, WarningIcon } from '../ui/icons';
import { revealed } from '../ui/revealed';
import { StatusChip } from '../ui/status-chip';
import type { ConnectionTool } from './connection-queries';
import { type ToolArgument, toolArguments } from './tool-arguments';
import styles from './tool-list.module.css';

const SHOWN = 50;
/** Fewer are found by looking. */
const SEARCHED_FROM = 8;
const DESCRIPTION_CHARS = 480;

interface ToolListProps {
  tools: readonly ConnectionTool[];
  /** Descriptions are text of somebody else. */
  isForeign: boolean;
  /** Absent: nobody is choosing. */
  choice?: { chosen: ReadonlySet<string>; onChange: (name: string, isChosen: boolean) => void };
}

/** Tools with what they are told to do and the arguments that they take. */
export function ToolList({ tools, isForeign, choice }: ToolListProps) {
  const [text, setText] = useState('');
  const [shown, setShown] = useState(SHOWN);
  const wanted = text.trim().toLowerCase();
  const found = tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
  return (
    <>
      {tools.length >= SEARCHED_FROM && (
        <TextInput
          className={styles.search}
          type="search"
          aria-label="Search tools"
          placeholder={`Search ${tools.length} tools`}
          leftSection={<SearchIcon />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      {found.length === 0 && (
        <p className={styles.none} role="status">
          No tool has these letters.
        </p>
      )}
      <ul className={styles.list} aria-label="Tools">
        {found.slice(0, shown).map((tool) => (
          <li key={tool.name} className={styles.tool}>
            <ToolHead tool={tool}>
              {choice && (
                <Checkbox
                  aria-label={`Allow ${tool.name}`}
                  checked={choice.chosen.has(tool.name)}
                  onChange={(event) => choice.onChange(tool.name, event.currentTarget.checked)}
                />
              )}
            </ToolHead>
            <div className={choice ? styles.belowBox : undefined}>
              <Description text={tool.description} isForeign={isForeign} />
              <Arguments tool={tool} isForeign={isForeign} />
            </div>
          </li>
        ))}
      </ul>
      {found.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + SHOWN)}>
          Show more
        </Button>
      )}
    </>
  );
}

function ToolHead({ tool, children }: { tool: ConnectionTool; children: ReactNode }) {
  const { name, changed, allowed, request } = tool;
  return (
    <div className={styles.head}>
      {children}
      <h3 className={styles.name}>{name}</h3>
      {changed && (
        <StatusChip tone="timeout" icon={<WarningIcon />}>
          Changed
        </StatusChip>
      )}
      {!children && allowed === false && <span className={styles.soft}>Not allowed</span>}
      {request && (
        <code className={styles.request}>
          {request.method} {request.url}
        </code>
      )}
    </div>
  );
}

function Description({ text, isForeign }: { text: string; isForeign: boolean }) {
  const [isWhole, setWhole] = useState(false);
  if (text.trim() === '') return <p className={styles.none}>It says nothing about itself.</p>;
  if (!isForeign) return <p className={styles.said}>{text}</p>;
  const isLong = text.length > DESCRIPTION_CHARS;
  return (
    <blockquote className={styles.quote}>
      {revealed(isLong && !isWhole ? `${text.slice(0, DESCRIPTION_CHARS)}…` : text)}
      {isLong && (
        <button type="button" className={styles.more} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${figure(text.length)} characters`}
        </button>
      )}
    </blockquote>
  );
}

function Arguments({ tool: { name, input_schema: schema }, isForeign }: { tool: ConnectionTool; isForeign: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const all = toolArguments(schema);
  const own = all.filter(({ depth }) => depth === 0);
  const words = own.map(({ path, isRequired }) => (isRequired ? path : `${path}?`)).join(', ');
  return (
    <details className={styles.arguments} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <RightIcon />
        <span>
          {own.length === 0 ? 'No arguments' : `${own.length} ${own.length === 1 ? 'argument' : 'arguments'}`}
          <span className="visually-hidden"> of {name}</span>
        </span>
        <code className={styles.names}>{revealed(words)}</code>
      </summary>
      {isOpen && (
        <div className={styles.opened}>
          {all.length > 0 && <ArgumentList all={all} isForeign={isForeign} />}
          <CodeToCopy label="JSON Schema" code={revealed(JSON.stringify(schema, null, 2))} />
        </div>
      )}
    </details>
  );
}

const ArgumentList = ({ all, isForeign }: { all: ToolArgument[]; isForeign: boolean }) => (
  <dl className={styles.rows}>
    {all.map(({ path, type, isRequired, description, limits }) => (
      <div key={path}>
        <dt>
          <code>{revealed(path)}</code>
          <span className={styles.soft}>
            {type}
            {isRequired && ', required'}
          </span>
        </dt>
        <dd>
          {description && <span className={isForeign ? styles.quoted : undefined}>{revealed(description)}</span>}
          {limits && <span className={styles.soft}>{revealed(limits)}</span>}
        </dd>
      </div>
    ))}
  </dl>
);
