import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type ClipboardEvent, useEffect, useRef, useState } from 'react';
import type { Worker, WorkerChange } from '../../shell/api';
import { NETWORK_WORDS } from '../../workers/network-words';
import styles from './network-form.module.css';
import { type FieldProblem, mayEdit, SettingsForm } from './settings-form';
import formStyles from './settings-form.module.css';

const HOSTS_MAX = 100;
const HOST_CHARS_MAX = 260;
/** Linear: one group at the end. */
const AT_HOST = /^network\.allow\.(\d+)$/;

const RULES = { ...NETWORK_WORDS, allow: 'Only these hosts' };
type RuleName = keyof typeof RULES;

const ABOUT: Record<RuleName, string> = {
  public: 'Addresses of private networks are out of reach even so.',
  none: 'Whatever its code asks for is refused. Its packages are installed all the same.',
  allow: 'On port 443 unless another one is named. *.example.com is every host below example.com.',
};

interface Row {
  key: number;
  host: string;
}

/** The hosts that the code of a worker may reach. */
export function NetworkForm({ worker }: { worker: Worker }) {
  const { network } = worker;
  const [rule, setRule] = useState<RuleName>(typeof network === 'string' ? network : 'allow');
  const [rows, setRows] = useState(() => rowsOf(typeof network === 'string' ? [''] : network.allow));
  /** Refusals name hosts by their place in what was sent. */
  const [sent, setSent] = useState<Row[]>([]);

  function read(): WorkerChange {
    if (rule !== 'allow') return { network: rule };
    const given = rows.filter(({ host }) => host.trim() !== '');
    setSent(given);
    return { network: { allow: given.map(({ host }) => host) } };
  }

  return (
    <SettingsForm
      worker={worker}
      title="Network"
      about="Which hosts its code may reach. What it tries beyond that fails, and is told in the run."
      read={read}
      isShownBeside={(path) => AT_HOST.test(path)}
    >
      {(problems) => (
        <>
          <NativeSelect
            className={styles.rule}
            name="network"
            label="Its code reaches"
            description={ABOUT[rule]}
            inputWrapperOrder={['label', 'input', 'description']}
            value={rule}
            onChange={(event) => setRule(event.currentTarget.value as RuleName)}
            data={Object.entries(RULES).map(([value, label]) => ({ value, label }))}
          />
          {rule === 'allow' && (
            <Hosts rows={rows} onChange={setRows} problems={problemsOf(problems, sent)} isEditable={mayEdit(worker)} />
          )}
        </>
      )}
    </SettingsForm>
  );
}

const rowsOf = (hosts: readonly string[]): Row[] => hosts.map((host, key) => ({ key, host }));

interface Problem extends Row {
  message: string;
}

/** What was wrong with each row as it was sent; a row that was typed anew since is not meant. */
function problemsOf(problems: readonly FieldProblem[], sent: readonly Row[]): Problem[] {
  return problems.flatMap(({ path, message }) => {
    const row = sent[Number(AT_HOST.exec(path)?.[1])];
    return row ? [{ ...row, message }] : [];
  });
}

interface HostsProps {
  rows: Row[];
  onChange: (rows: Row[]) => void;
  problems: readonly Problem[];
  isEditable: boolean;
}

function Hosts({ rows, onChange, problems, isEditable }: HostsProps) {
  const list = useRef<HTMLUListElement>(null);
  const nextKey = useRef(1 + Math.max(-1, ...rows.map(({ key }) => key)));
  const added = useRef<number | null>(null);
  const [firstWrong] = problems;
  // biome-ignore lint/correctness/useExhaustiveDependencies: when something was refused, and only then.
  useEffect(() => {
    list.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [firstWrong?.key, firstWrong?.message]);

  const withText = (key: number, hosts: string[]) =>
    rows.flatMap((row) =>
      row.key === key ? hosts.map((host, at) => ({ key: at === 0 ? key : nextKey.current++, host })) : [row],
    );

  /** A list of hosts, as somebody has it in a file, becomes a row for each. */
  function paste(event: ClipboardEvent<HTMLInputElement>, { key, host }: Row) {
    const hosts = event.clipboardData
      .getData('text')
      .split(/[\s,;]+/)
      .filter((one) => one !== '');
    if (hosts.length < 2 || host.trim() !== '') return;
    event.preventDefault();
    onChange(withText(key, hosts).slice(0, HOSTS_MAX));
  }

  function add() {
    added.current = nextKey.current++;
    onChange([...rows, { key: added.current, host: '' }]);
  }

  return (
    <div className={formStyles.wide}>
      <ul ref={list} className={styles.hosts} aria-label="Hosts that it reaches">
        {rows.map((row, at) => (
          <li key={row.key} className={styles.host}>
            <TextInput
              aria-label={`Host ${at + 1}`}
              placeholder={at === 0 ? 'api.github.com' : '*.example.com:443'}
              value={row.host}
              onChange={(event) => onChange(withText(row.key, [event.currentTarget.value]))}
              onPaste={(event) => paste(event, row)}
              error={problems.find(({ key, host }) => key === row.key && host === row.host)?.message}
              maxLength={HOST_CHARS_MAX}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              autoFocus={row.key === added.current}
              required={rows.length === 1}
              withAsterisk={false}
            />
            {isEditable && rows.length > 1 && (
              <Button
                variant="default"
                aria-label={`Remove ${row.host.trim() || `host ${at + 1}`}`}
                onClick={() => onChange(rows.filter(({ key }) => key !== row.key))}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      {isEditable && rows.length < HOSTS_MAX && (
        <Button variant="default" size="compact-sm" onClick={add}>
          Add a host
        </Button>
      )}
    </div>
  );
}
