import { ApiError } from '@gantry/sdk';
import { Button, Textarea } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, type Ref, useImperativeHandle, useRef, useState } from 'react';
import type { FieldProblems } from '../inputs/input-problems';
import { useInputFields } from '../inputs/use-input-fields';
import type { Approval, InputItem } from '../shell/api';
import { describeError } from '../shell/is-unreachable';
import { bindText } from '../ui/bind';
import { FormStack } from '../ui/form';
import { CheckIcon, CrossIcon } from '../ui/icons';
import { ApproverNameField } from './approver-name-field';
import { DecisionActions, RefusalButton } from './decision-actions';

export type Verdict = 'approve' | 'reject';

export interface Decision {
  verdict: Verdict;
  reason?: string;
  data?: Record<string, unknown>;
  /** Decisions about the tool calls of an approval. */
  calls?: CallDecisionInput[];
  /** Name of a reviewer without an account. */
  name?: string;
}

export interface CallDecisionInput {
  id: string;
  decision: 'approve' | 'refuse';
  /** Those to call with instead. */
  arguments?: Record<string, unknown>;
  reason?: string;
}

/** Steps towards a decision; none of them decides. */
export interface DecisionFormHandle {
  /** Moves to the button that approves, or to the first field. */
  approve: () => void;
  /** Moves to the reason, from where Ctrl+Enter rejects. */
  reject: () => void;
}

interface DecisionFormProps {
  ref?: Ref<DecisionFormHandle>;
  form: Approval['form'];
  /** Whether the form asks for a name; otherwise the account identifies the approver. */
  asksName: boolean;
  /** Names the approver. */
  signature: ReactNode;
  /** @throws ApiError: its field problems are shown at their fields */
  onDecide: (decision: Decision) => Promise<void>;
}

/** Enter in a field does not submit: only a button continues or ends a run. */
export function DecisionForm({ ref, form, asksName, signature, onDecide }: DecisionFormProps) {
  const items = (form ?? []) as InputItem[];
  const { fields, problem, show, read } = useInputFields(items, null);
  const [name, setName] = useState('');
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState<Verdict | null>(null);
  const [isRejecting, setRejecting] = useState(false);
  const approveButton = useRef<HTMLButtonElement>(null);
  const reasonField = useRef<HTMLTextAreaElement>(null);

  useImperativeHandle(ref, () => ({
    approve() {
      setRejecting(false);
      const { problems } = read();
      if (problems.size) show(problems);
      else approveButton.current?.focus();
    },
    reject() {
      setRejecting(true);
      reasonField.current?.focus();
    },
  }));

  async function decide(verdict: Verdict) {
    const { inputs, problems } = read();
    if (verdict === 'approve' && problems.size) return show(problems);
    show(new Map());
    setBusy(verdict);
    try {
      await onDecide({
        verdict,
        ...(reason.trim() && { reason: reason.trim() }),
        ...(verdict === 'approve' && form && { data: inputs }),
        ...(asksName && name.trim() && { name: name.trim() }),
      });
    } catch (error) {
      show(toFieldProblems(error, items));
    } finally {
      setBusy(null);
    }
  }

  function handleRejectKey(event: KeyboardEvent) {
    const isSubmitKey = isRejecting && event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    if (isSubmitKey && !busy) void decide('reject');
  }

  const buildButtonProps = (verdict: Verdict) => ({
    size: 'md',
    loading: busy === verdict,
    disabled: busy !== null && busy !== verdict,
    onClick: () => decide(verdict),
  });

  return (
    <FormStack onSubmit={(event) => event.preventDefault()} noValidate>
      {fields}
      {asksName && <ApproverNameField value={name} onChange={setName} />}
      <Textarea
        label="Reason"
        ref={reasonField}
        description={
          isRejecting ? 'Shown with the decision. Press Ctrl+Enter to reject.' : 'Optional. Shown with the decision.'
        }
        rows={2}
        maxLength={2_000}
        {...bindText(reason, setReason)}
        onKeyDown={handleRejectKey}
      />
      <DecisionActions problem={problem} buttonWidth="8rem" signature={signature}>
        <Button ref={approveButton} {...buildButtonProps('approve')} leftSection={<CheckIcon />}>
          Approve
        </Button>
        <RefusalButton {...buildButtonProps('reject')} leftSection={<CrossIcon />}>
          Reject
        </RefusalButton>
      </DecisionActions>
    </FormStack>
  );
}

/** Maps an error to fields where the response names fields of this form; else to the empty name. */
function toFieldProblems(error: unknown, items: InputItem[]): FieldProblems {
  const fields = error instanceof ApiError ? error.fields : [];
  const named = fields.flatMap(({ path, message }): [string, string][] => {
    const name = path.replace(/^data\./, '').split('.')[0] ?? '';
    return items.some((item) => item.name === name) ? [[name, message]] : [];
  });
  return new Map(named.length ? named : [['', describeError(error)]]);
}
