import { Box, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { Worker, WorkerChange } from '../../shell/api';
import { filledRows, type HostProblem, type HostRow, HostRows, rowsOf } from '../../ui/host-rows';
import { NETWORK_WORDS } from '../../workers/network-words';
import { type FieldProblem, mayEdit, SettingsForm } from './settings-form';

const HOSTS_MAX = 100;
/** Linear: one group at the end. */
const AT_HOST = /^network\.allow\.(\d+)$/;

const RULES = { ...NETWORK_WORDS, allow: 'Only these hosts' };
type RuleName = keyof typeof RULES;

const ABOUT: Record<RuleName, string> = {
  public: 'Addresses of private networks are out of reach even so.',
  none: 'All requests of its code are refused. Its packages are still installed.',
  allow: 'On port 443 unless another one is named. *.example.com is every host below example.com.',
};

/** Edits the hosts that the code of a worker can reach. */
export function NetworkForm({ worker }: { worker: Worker }) {
  const { network } = worker;
  const [rule, setRule] = useState<RuleName>(typeof network === 'string' ? network : 'allow');
  const [rows, setRows] = useState(() => rowsOf(typeof network === 'string' ? [''] : network.allow));
  /** Validation errors name hosts by their index in the submitted list. */
  const [sent, setSent] = useState<HostRow[]>([]);

  function read(): WorkerChange {
    if (rule !== 'allow') return { network: rule };
    const given = filledRows(rows);
    setSent(given);
    return { network: { allow: given.map(({ host }) => host) } };
  }

  return (
    <SettingsForm
      worker={worker}
      title="Network"
      about="Which hosts its code may reach. Other requests fail, and are listed in the run."
      read={read}
      isShownBeside={(path) => AT_HOST.test(path)}
    >
      {(problems) => (
        <>
          <NativeSelect
            maw="34rem"
            style={{ gridColumn: '1 / -1' }}
            name="network"
            label="Its code reaches"
            description={ABOUT[rule]}
            inputWrapperOrder={['label', 'input', 'description']}
            value={rule}
            onChange={(event) => setRule(event.currentTarget.value as RuleName)}
            data={Object.entries(RULES).map(([value, label]) => ({ value, label }))}
          />
          {rule === 'allow' && (
            <Box maw="34rem" style={{ gridColumn: '1 / -1' }}>
              <HostRows
                label="Hosts that it reaches"
                rows={rows}
                onChange={setRows}
                example="api.github.com"
                most={HOSTS_MAX}
                least={1}
                problems={problemsOf(problems, sent)}
                isEditable={mayEdit(worker)}
              />
            </Box>
          )}
        </>
      )}
    </SettingsForm>
  );
}

/** Assigns validation errors to the submitted rows. */
function problemsOf(problems: readonly FieldProblem[], sent: readonly HostRow[]): HostProblem[] {
  return problems.flatMap(({ path, message }) => {
    const row = sent[Number(AT_HOST.exec(path)?.[1])];
    return row ? [{ ...row, message }] : [];
  });
}
