import { ApiError } from '@gantry/sdk';
import { Button, Textarea } from '@mantine/core';
import { type ReactNode, type Ref, useImperativeHandle, useRef, useState } from 'react';
import { formatToolTitle } from '../conversation/tool-title';
import type { ApprovalCall } from '../shell/api';
import { describeError } from '../shell/is-unreachable';
import { bindText } from '../ui/bind';
import { FormStack } from '../ui/form';
import { CheckIcon, CrossIcon, StopSquareIcon } from '../ui/icons';
import { ApproverNameField } from './approver-name-field';
import type { CallArgumentsFormHandle } from './call-arguments-form';
import { CallDecisionField, type CallDraft } from './call-decision-field';
import { DecisionActions, RefusalButton } from './decision-actions';
import type { CallDecisionInput, Decision, DecisionFormHandle } from './decision-form';

interface CallsDecisionFormProps {
  ref?: Ref<DecisionFormHandle>;
  calls: ApprovalCall[];
  /** False for the holder of a link. */
  canCorrect: boolean;
  /** Whether the form asks for a name; otherwise the account identifies the approver. */
  hasNameField: boolean;
  /** Names the approver. */
  signature: ReactNode;
  /** @throws ApiError: its problems with arguments are shown at their fields */
  onDecide: (decision: Decision) => Promise<void>;
}

type Action = 'approve' | 'refuse' | 'stop';

const UNDECIDED: CallDraft = { choice: '', reason: '' };

/** Decides an agent's tool calls: each is approved, corrected or refused; or the whole run is stopped. */
export function CallsDecisionForm({
  ref,
  calls,
  canCorrect,
  hasNameField,
  signature,
  onDecide,
}: CallsDecisionFormProps) {
  const [drafts, setDrafts] = useState<ReadonlyMap<string, CallDraft>>(new Map());
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [name, setName] = useState('');
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState<Action | null>(null);
  const forms = useRef(new Map<string, CallArgumentsFormHandle>());
  const approveButton = useRef<HTMLButtonElement>(null);
  const reasonField = useRef<HTMLTextAreaElement>(null);
  const isOnly = calls.length === 1;
  const getDraft = (call: ApprovalCall) => drafts.get(call.id) ?? UNDECIDED;

  useImperativeHandle(ref, () => ({
    approve: () => approveButton.current?.focus(),
    reject: () => reasonField.current?.focus(),
  }));

  /** Null where something is missing or wrong, which is then shown. */
  function readCalls(action: 'approve' | 'refuse'): CallDecisionInput[] | null {
    const callDecisions = calls.map((call): CallDecisionInput | null => {
      const { choice, reason: own } = getDraft(call);
      if (action === 'refuse' || choice === 'refuse') {
        return { id: call.id, decision: 'refuse', ...(own.trim() && { reason: own.trim() }) };
      }
      const corrected = choice === 'correct' ? (forms.current.get(call.id)?.read() ?? null) : undefined;
      if (corrected === null || (choice === '' && !isOnly)) return null;
      return { id: call.id, decision: 'approve', ...(corrected && { arguments: corrected }) };
    });
    const undecided = isOnly ? [] : calls.filter((call) => getDraft(call).choice === '');
    setProblems(new Map(undecided.map(({ id }) => [id, 'Choose an option.'])));
    const complete = callDecisions.filter((one) => one !== null);
    return complete.length === calls.length ? complete : null;
  }

  async function decide(action: Action) {
    const decisions = action === 'stop' ? undefined : readCalls(action);
    if (decisions === null) return;
    setProblems(new Map());
    setBusy(action);
    try {
      await onDecide({
        verdict: action === 'stop' ? 'reject' : 'approve',
        ...(decisions && { calls: decisions }),
        ...(reason.trim() && { reason: reason.trim() }),
        ...(hasNameField && name.trim() && { name: name.trim() }),
      });
    } catch (error) {
      showFailure(error);
    } finally {
      setBusy(null);
    }
  }

  function showFailure(error: unknown) {
    const fields = error instanceof ApiError ? error.fields : [];
    const named = fields.flatMap(({ path, message }) => {
      const [, at, argument] = /^calls\.(\d+)\.arguments\.?([^.[]*)/.exec(path) ?? [];
      const form = forms.current.get(calls[Number(at)]?.id ?? '');
      return form && argument !== undefined ? [{ form, argument, message }] : [];
    });
    for (const { form, argument, message } of named) form.show(argument, message);
    if (!named.length) setProblems(new Map([['', describeError(error)]]));
  }

  const buildButtonProps = (action: Action) => ({
    size: 'md',
    loading: busy === action,
    disabled: busy !== null && busy !== action,
    onClick: () => decide(action),
  });
  const problem = problems.get('');

  return (
    <FormStack onSubmit={(event) => event.preventDefault()} noValidate>
      {calls.map((call, at) => (
        <CallDecisionField
          key={call.id}
          ref={(form) => {
            if (form) forms.current.set(call.id, form);
            else forms.current.delete(call.id);
          }}
          call={call}
          title={isOnly ? formatToolTitle(call.tool) : `${at + 1}. ${formatToolTitle(call.tool)}`}
          draft={getDraft(call)}
          isOnly={isOnly}
          canCorrect={canCorrect}
          problem={problems.get(call.id)}
          onChange={(draft) => setDrafts((before) => new Map(before).set(call.id, draft))}
        />
      ))}
      {hasNameField && <ApproverNameField value={name} onChange={setName} />}
      <Textarea
        label="Reason"
        ref={reasonField}
        description="Shown with the decision. Also sent to the agent if a call is rejected."
        rows={2}
        maxLength={2_000}
        {...bindText(reason, setReason)}
      />
      <DecisionActions problem={problem} buttonWidth="11rem" signature={signature}>
        <Button ref={approveButton} {...buildButtonProps('approve')} leftSection={<CheckIcon />}>
          {isOnly ? 'Approve' : 'Confirm'}
        </Button>
        {isOnly && (
          <Button {...buildButtonProps('refuse')} variant="default" leftSection={<CrossIcon />}>
            Reject call
          </Button>
        )}
        <RefusalButton {...buildButtonProps('stop')} leftSection={<StopSquareIcon />}>
          Stop run
        </RefusalButton>
      </DecisionActions>
    </FormStack>
  );
}
