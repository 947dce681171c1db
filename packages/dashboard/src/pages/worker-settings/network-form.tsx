import { Box, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { Worker, WorkerChange } from '../../shell/api';
import { bindChoice } from '../../ui/bind';
import { type HostProblem, type HostRow, HostRows, removeEmptyRows, toHostRows } from '../../ui/host-rows';
import { canEditWorker } from '../../workers/can-edit-worker';
import { NETWORK_LABELS } from '../../workers/network-labels';
import { type FieldProblem, useSettingsEditor } from './settings-editor';
import { SettingsForm } from './settings-form';

const HOSTS_MAX = 100;
/** Linear: one group at the end. */
const HOST_PATH = /^network\.allow\.(\d+)$/;

const RULE_LABELS = { ...NETWORK_LABELS, allow: 'Only these hosts' };
type RuleName = keyof typeof RULE_LABELS;

const RULE_DESCRIPTIONS: Record<RuleName, string> = {
  public: 'Private network addresses are still blocked.',
  none: 'All requests from code are blocked. Packages are still installed.',
  allow: 'Port 443 by default. *.example.com matches all subdomains.',
};

/** Edits the hosts that the code of a worker can reach. */
export function NetworkForm({ worker }: { worker: Worker }) {
  const { problems } = useSettingsEditor();
  const { network } = worker;
  const [rule, setRule] = useState<RuleName>(typeof network === 'string' ? network : 'allow');
  const [rows, setRows] = useState(() => toHostRows(typeof network === 'string' ? [''] : network.allow));
  /** Validation errors name hosts by their index in the submitted list. */
  const [submittedHosts, setSubmittedHosts] = useState<HostRow[]>([]);

  const filledRows = removeEmptyRows(rows);
  const change: WorkerChange = { network: rule === 'allow' ? { allow: filledRows.map(({ host }) => host) } : rule };

  return (
    <SettingsForm
      worker={worker}
      title="Network"
      about="Choose which hosts the code can reach. Requests to other hosts fail and are listed on the run page."
      parseForm={() => change}
      onSave={() => setSubmittedHosts(filledRows)}
      isShownInline={(path) => HOST_PATH.test(path)}
    >
      <NativeSelect
        maw="34rem"
        className="full-row"
        name="network"
        label="Allowed destinations"
        description={RULE_DESCRIPTIONS[rule]}
        inputWrapperOrder={['label', 'input', 'description']}
        {...bindChoice(rule, setRule)}
        data={Object.entries(RULE_LABELS).map(([value, label]) => ({ value, label }))}
      />
      {rule === 'allow' && (
        <Box maw="34rem" className="full-row">
          <HostRows
            label="Allowed hosts"
            rows={rows}
            onChange={setRows}
            example="api.github.com"
            most={HOSTS_MAX}
            least={1}
            problems={toHostProblems(problems, submittedHosts)}
            isEditable={canEditWorker(worker)}
          />
        </Box>
      )}
    </SettingsForm>
  );
}

/** Assigns validation errors to the submitted rows. */
function toHostProblems(problems: readonly FieldProblem[], submittedHosts: readonly HostRow[]): HostProblem[] {
  return problems.flatMap(({ path, message }) => {
    const row = submittedHosts[Number(HOST_PATH.exec(path)?.[1])];
    return row ? [{ ...row, message }] : [];
  });
}
