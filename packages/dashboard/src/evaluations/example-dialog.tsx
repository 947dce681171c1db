import { ApiError } from '@gantry/sdk';
import { Box, Button, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { toInputProblems } from '../inputs/input-problems';
import { useInputFields } from '../inputs/use-input-fields';
import type { CheckInput, Example, InputItem, Worker } from '../shell/api';
import { toast } from '../shell/toasts';
import { bindText } from '../ui/bind';
import { Dialog } from '../ui/dialog';
import { FormStack } from '../ui/form';
import { FormActions } from '../ui/form-actions';
import { toJsonObject } from '../ui/json';
import { Notice } from '../ui/notice';
import {
  type CheckDraft,
  type CheckProblem,
  createCheckDraft,
  isCheckProblem,
  parseCheckDraft,
  parseNumber,
  toCheckDraft,
} from './check-draft';
import { CheckFields } from './check-fields';
import { DecimalField } from './decimal-field';
import { type ExampleFields, useCreateExample, useUpdateExample } from './evaluation-queries';

interface ExampleDialogProps {
  worker: Worker;
  /** The one to change; a new one without. */
  example?: Example;
  /** A run whose inputs, files and recorded responses the new one takes. */
  runId?: string;
  onClose: () => void;
}

/** A worker that declares no inputs takes any object. */
const ANY_OBJECT: InputItem[] = [
  { name: 'inputs', label: 'Inputs', type: 'json', description: 'Optional. A JSON object.' },
];
const CHECKS_MAX = 20;

/** Edits the inputs of an example and the checks of the worker's output. */
export default function ExampleDialog({ worker, example, runId, onClose }: ExampleDialogProps) {
  const create = useCreateExample(worker.id);
  const change = useUpdateExample(worker.id);
  const hasDeclaredInputs = worker.inputs.length > 0;
  const hasInputs = runId === undefined && !hasFileInputs(worker, example);
  const items = !hasInputs ? [] : hasDeclaredInputs ? listEditableInputs(worker) : ANY_OBJECT;
  const initialValues = example ? (hasDeclaredInputs ? example.inputs : { inputs: example.inputs }) : null;
  const { fields, problem, show, read } = useInputFields(items, initialValues);
  const [name, setName] = useState(example?.name ?? '');
  const [about, setAbout] = useState(example?.description ?? '');
  const [seconds, setSeconds] = useState(example?.max_duration_seconds?.toString() ?? '');
  const [dollars, setDollars] = useState(example?.max_cost_usd?.toString() ?? '');
  const [checks, setChecks] = useState<CheckDraft[]>(
    () => example?.checks.map(toCheckDraft) ?? (runId ? [] : [createCheckDraft()]),
  );
  const [formProblems, setFormProblems] = useState<ReadonlyMap<string, string | CheckProblem>>(new Map());

  function readForm(): ExampleFields | null {
    const found = new Map<string, string | CheckProblem>();
    const { inputs, problems } = read();
    show(problems);
    const parsedChecks = checks.map((draft): CheckInput[] => {
      const one = parseCheckDraft(draft);
      if (!isCheckProblem(one)) return [one];
      found.set(draft.id, one);
      return [];
    });
    const duration = parseNumber(seconds, 0.001, 3_600);
    const cost = parseNumber(dollars, 0, 1_000_000);
    if (!name.trim()) found.set('name', 'Enter a name.');
    if (duration === null) found.set('seconds', 'Enter a duration of up to 3,600 seconds.');
    if (cost === null) found.set('dollars', 'Enter 0 or a positive amount.');
    setFormProblems(found);
    if (found.size || problems.size) return null;
    return {
      name: name.trim(),
      description: about.trim(),
      max_duration_seconds: duration ?? null,
      max_cost_usd: cost ?? null,
      ...(hasInputs && { inputs: hasDeclaredInputs ? inputs : toJsonObject(inputs.inputs) }),
      ...(checks.length > 0 && { checks: parsedChecks.flat() }),
    };
  }

  async function handleSubmit(event: FormEvent) {
    event.preventDefault();
    const exampleFields = readForm();
    if (!exampleFields) return;
    try {
      if (example) await change.mutateAsync({ id: example.id, ...exampleFields });
      else await create.mutateAsync({ ...exampleFields, ...(runId !== undefined && { run_id: runId }) });
      toast(example ? `${exampleFields.name} saved` : `${exampleFields.name} added`);
      onClose();
    } catch (error) {
      const checkProblems = toCheckProblems(error, checks);
      setFormProblems(checkProblems);
      if (!checkProblems.size) show(toInputProblems(error, items));
    }
  }

  const getFieldProblem = (field: string) => {
    const words = formProblems.get(field);
    return typeof words === 'string' ? words : undefined;
  };
  return (
    <Dialog title={example ? 'Edit example' : runId ? 'Save as example' : 'New example'} onClose={onClose}>
      <FormStack p="lg" onSubmit={handleSubmit} noValidate>
        <TextInput
          label="Name"
          required
          autoFocus
          autoComplete="off"
          maxLength={120}
          placeholder="A quiet day"
          error={getFieldProblem('name')}
          {...bindText(name, setName)}
        />
        {runId !== undefined && (
          <p className="caption">
            Uses this run’s inputs and files. Recorded responses from tools, calls, approvals and models are replayed.
          </p>
        )}
        {!hasInputs && example && <p className="caption">Uses the inputs and files from the source run.</p>}
        {hasInputs && (
          <Stack component="fieldset" gap="sm">
            <Text component="legend" mb="xs" p={0} fw={640}>
              Inputs
            </Text>
            {fields}
            {hasDeclaredInputs && items.length < worker.inputs.length && (
              <p className="caption">To include files, save a run as an example from the run page.</p>
            )}
          </Stack>
        )}
        <Stack component="section" gap="sm" aria-label="Checks">
          <Box component="h3" fz="md" fw={640}>
            Checks
          </Box>
          {checks.length === 0 && <p className="caption">Without checks, the output must match this run’s output.</p>}
          {checks.map((check, at) => {
            const found = formProblems.get(check.id);
            return (
              <CheckFields
                key={check.id}
                check={check}
                number={at + 1}
                problem={typeof found === 'object' ? found : undefined}
                refusal={typeof found === 'string' ? found : undefined}
                pointers={worker.outputs.map(toJsonPointer)}
                onChange={(next) => setChecks(checks.map((one) => (one.id === check.id ? next : one)))}
                onRemove={() => setChecks(checks.filter((one) => one !== check))}
              />
            );
          })}
          {checks.length < CHECKS_MAX && (
            <div>
              <Button size="sm" variant="default" onClick={() => setChecks([...checks, createCheckDraft()])}>
                Add a check
              </Button>
            </div>
          )}
        </Stack>
        <details>
          <summary>Limits and description</summary>
          <Box className="auto-fit" mt="sm" __vars={{ '--column': '12rem' }} style={{ gap: 'var(--space-3)' }}>
            <DecimalField
              label="Maximum duration in seconds"
              placeholder="No limit"
              error={getFieldProblem('seconds')}
              {...bindText(seconds, setSeconds)}
            />
            <DecimalField
              label="Maximum cost in US dollars"
              placeholder="No limit"
              error={getFieldProblem('dollars')}
              {...bindText(dollars, setDollars)}
            />
            <Textarea
              className="full-row"
              label="Description"
              rows={2}
              maxLength={2_000}
              {...bindText(about, setAbout)}
            />
          </Box>
        </details>
        {problem !== undefined && (
          <Notice tone="error" title="Example not saved">
            {problem}
          </Notice>
        )}
        <FormActions isDialog submit={example ? 'Save' : 'Add example'} isBusy={create.isPending || change.isPending} />
      </FormStack>
    </Dialog>
  );
}

const listEditableInputs = ({ inputs }: Worker): InputItem[] =>
  (inputs as InputItem[]).filter(({ type }) => type !== 'file');

/** The API takes no inputs for an example with files: they stay as they are. */
const hasFileInputs = ({ inputs }: Worker, example: Example | undefined): boolean =>
  example?.of_run_id != null &&
  (inputs as InputItem[]).some(({ type, name }) => type === 'file' && name in example.inputs);

const toJsonPointer = ({ name }: { name: string }): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Maps an error to checks, where the response names them: `checks.0.value`, `/body/checks/0/value`. */
function toCheckProblems(error: unknown, checks: CheckDraft[]): ReadonlyMap<string, string> {
  const found = error instanceof ApiError ? error.fields : [];
  return new Map(
    found.flatMap(({ path, message }): [string, string][] => {
      const at = /\bchecks[./[](\d{1,3})/.exec(path)?.[1];
      const check = at === undefined ? undefined : checks[Number(at)];
      return check ? [[check.id, message]] : [];
    }),
  );
}
