import { ApiError } from '@gantry/api-client';
import { Button, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { fieldId, InputField } from '../inputs/input-field';
import type { Problems } from '../inputs/input-problems';
import type { Typed } from '../inputs/input-value';
import { beginTyped, readAll } from '../inputs/typed-inputs';
import type { Approval, InputItem } from '../shell/api';
import { CheckIcon, CrossIcon } from '../ui/icons';
import { Notice } from '../ui/notice';
import styles from './decision-form.module.css';

export type Verdict = 'approve' | 'reject';

export interface Decision {
  verdict: Verdict;
  reason?: string;
  data?: Record<string, unknown>;
  /** Of whoever has no account. */
  name?: string;
}

interface DecisionFormProps {
  form: Approval['form'];
  /** Whether the person says who they are; otherwise the account does. */
  asksName: boolean;
  /** In whose name the decision is. */
  signature: ReactNode;
  /** @throws ApiError: its field problems are shown at their fields */
  onDecide: (decision: Decision) => Promise<void>;
}

/** Enter in a field decides nothing: a run goes on, or ends, by a button alone. */
export function DecisionForm({ form, asksName, signature, onDecide }: DecisionFormProps) {
  const items = (form ?? []) as InputItem[];
  const [typed, setTyped] = useState<ReadonlyMap<string, Typed>>(() => beginTyped(items, null));
  const [name, setName] = useState('');
  const [reason, setReason] = useState('');
  const [problems, setProblems] = useState<Problems>(new Map());
  const [busy, setBusy] = useState<Verdict | null>(null);

  function show(found: Problems) {
    setProblems(found);
    const first = items.find((item) => found.has(item.name));
    if (first) document.getElementById(fieldId(first))?.focus();
  }

  async function decide(verdict: Verdict) {
    const read = readAll(items, typed);
    if (verdict === 'approve' && read.problems.size) return show(read.problems);
    setProblems(new Map());
    setBusy(verdict);
    try {
      await onDecide({
        verdict,
        ...(reason.trim() && { reason: reason.trim() }),
        ...(verdict === 'approve' && form && { data: read.inputs }),
        ...(asksName && name.trim() && { name: name.trim() }),
      });
    } catch (error) {
      show(problemsOf(error, items));
    } finally {
      setBusy(null);
    }
  }

  return (
    <form className={styles.form} onSubmit={(event) => event.preventDefault()} noValidate>
      {items.map((item) => (
        <InputField
          key={item.name}
          item={item}
          typed={typed.get(item.name) ?? null}
          problem={problems.get(item.name)}
          onChange={(value) => {
            setTyped((before) => new Map(before).set(item.name, value));
            setProblems((before) => new Map([...before].filter(([field]) => field !== item.name)));
          }}
        />
      ))}
      {asksName && (
        <TextInput
          label="Your name"
          description="So that people see who decided."
          autoComplete="name"
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <Textarea
        label="Reason"
        description="Shown with the decision. You may leave it empty."
        rows={2}
        maxLength={2_000}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {problems.has('') && (
        <Notice tone="error" title="Nothing was decided">
          {problems.get('')}
        </Notice>
      )}
      <div className={styles.actions}>
        <Button
          size="md"
          leftSection={<CheckIcon />}
          loading={busy === 'approve'}
          disabled={busy === 'reject'}
          onClick={() => decide('approve')}
        >
          Approve
        </Button>
        <Button
          size="md"
          variant="default"
          className={styles.reject}
          leftSection={<CrossIcon />}
          loading={busy === 'reject'}
          disabled={busy === 'approve'}
          onClick={() => decide('reject')}
        >
          Reject
        </Button>
      </div>
      <p className={styles.signature}>{signature}</p>
    </form>
  );
}

/** By field, where the answer names fields of this form; else under the empty name. */
function problemsOf(error: unknown, items: InputItem[]): Problems {
  // `fetch` reports an unreachable server as a TypeError.
  if (error instanceof TypeError) {
    return new Map([['', 'Gantry can’t be reached. Check your connection, then decide again.']]);
  }
  const fields = error instanceof ApiError ? error.fields : [];
  const named = fields.flatMap(({ path, message }): [string, string][] => {
    const name = path.replace(/^data\./, '').split('.')[0] ?? '';
    return items.some((item) => item.name === name) ? [[name, message]] : [];
  });
  return new Map(named.length ? named : [['', error instanceof Error ? error.message : String(error)]]);
}
