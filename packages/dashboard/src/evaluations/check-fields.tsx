import { Button, Checkbox, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { listModelNames, useModels } from '../models/use-models';
import { bindChecked, bindText } from '../ui/bind';
import { Columns } from '../ui/columns';
import { CrossIcon } from '../ui/icons';
import { type CheckDraft, type CheckKind, type CheckProblem, describeValueType } from './check-draft';
import styles from './check-fields.module.css';
import { CHECK_KIND_LABELS } from './check-labels';
import { DecimalField } from './decimal-field';

const PAIR = { alignItems: 'end', gap: 'var(--space-3)' };

interface CheckFieldsProps {
  check: CheckDraft;
  /** Its place among the others, from 1. */
  number: number;
  problem: CheckProblem | undefined;
  /** The server's problem with this check. */
  refusal: string | undefined;
  /** Names of the worker's outputs, as pointers. */
  pointers: string[];
  onChange: (check: CheckDraft) => void;
  onRemove: () => void;
}

/** Edits one check; its kind decides the other fields. */
export function CheckFields({ check, number, problem, refusal, pointers, onChange, onRemove }: CheckFieldsProps) {
  const bindField: BindField = (field) => ({
    ...bindText(check[field], (text) => onChange({ ...check, [field]: text })),
    error: problem?.field === field ? problem.words : undefined,
  });
  const listId = `${check.id}-pointers`;
  return (
    <Stack
      component="fieldset"
      gap="sm"
      p="md"
      bd="1px solid var(--line)"
      bdrs={8}
      bg="var(--sunken)"
      aria-label={`Check ${number}`}
    >
      <div className={styles.first}>
        <NativeSelect
          size="sm"
          label={`Check ${number}`}
          value={check.kind}
          onChange={(event) => onChange({ ...check, kind: event.currentTarget.value as CheckKind })}
          data={Object.entries(CHECK_KIND_LABELS).map(([value, label]) => ({ value, label }))}
        />
        {check.kind !== 'fails' && (
          <TextInput
            size="sm"
            label="Output field"
            placeholder="Entire output"
            autoComplete="off"
            spellCheck={false}
            list={listId}
            {...bindField('path')}
          />
        )}
        <Button size="sm" px="xs" variant="default" aria-label={`Remove check ${number}`} onClick={onRemove}>
          <CrossIcon />
        </Button>
        <datalist id={listId}>
          {pointers.map((pointer) => (
            <option key={pointer} value={pointer} />
          ))}
        </datalist>
      </div>
      {check.kind === 'equal' && (
        <Columns widths="minmax(0, 1.6fr) minmax(0, 1fr)" below="48rem" style={PAIR}>
          <CheckValueField {...bindField('value')} />
          <DecimalField size="sm" label="Tolerance" placeholder="0" {...bindField('tolerance')} />
        </Columns>
      )}
      {check.kind === 'contains' && (
        <>
          <CheckValueField {...bindField('value')} />
          <Checkbox
            size="sm"
            label="Ignore case"
            {...bindChecked(check.ignoresCase, (ignoresCase) => onChange({ ...check, ignoresCase }))}
          />
        </>
      )}
      {check.kind === 'schema' && (
        <Textarea
          size="sm"
          label="JSON Schema"
          rows={5}
          spellCheck={false}
          className="code-field"
          placeholder={'{ "type": "object", "required": ["total"] }'}
          {...bindField('schema')}
        />
      )}
      {check.kind === 'judge' && <JudgeFields model={check.model} bindField={bindField} />}
      {check.kind === 'fails' && (
        <TextInput
          size="sm"
          label="Error contains"
          description="Leave empty to accept any error."
          autoComplete="off"
          {...bindField('errorContains')}
        />
      )}
      {refusal && (
        <Text fz="xs" c="var(--error)" role="alert">
          {refusal}
        </Text>
      )}
    </Stack>
  );
}

type TextFieldName = Exclude<keyof CheckDraft, 'id' | 'kind' | 'ignoresCase'>;
type FieldBinding = ReturnType<typeof bindText> & { error: string | undefined };
type BindField = (field: TextFieldName) => FieldBinding;

const CheckValueField = (field: FieldBinding) => (
  <Textarea
    size="sm"
    label="Value"
    autosize={false}
    rows={field.value.includes('\n') ? 4 : 1}
    spellCheck={false}
    className="code-field"
    description={
      field.value.trim() ? `Parsed as ${describeValueType(field.value)}` : 'Text, a number or any other JSON value'
    }
    {...field}
  />
);

function JudgeFields({ model, bindField }: { model: string; bindField: BindField }) {
  const { data: models } = useModels();
  return (
    <>
      <Textarea
        size="sm"
        label="Instructions for the model"
        rows={3}
        placeholder="The summary lists every region in the input and no others."
        {...bindField('instructions')}
      />
      {models?.length === 0 && (
        <Text fz="xs" c="var(--error)">
          No language model is configured, so this check can’t run yet.
        </Text>
      )}
      <Columns widths="minmax(0, 1.6fr) minmax(0, 1fr)" below="48rem" style={PAIR}>
        <NativeSelect
          size="sm"
          label="Model"
          {...bindField('model')}
          data={[
            { value: '', label: 'Default' },
            ...[...new Set([...listModelNames(models ?? []), ...(model ? [model] : [])])],
          ]}
        />
        <DecimalField size="sm" label="Minimum score" placeholder="0.7" {...bindField('threshold')} />
      </Columns>
    </>
  );
}
