import { Box, Button, Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import type { Worker } from '../../shell/api';
import { bindText } from '../../ui/bind';
import { getFormText, splitParts } from '../../ui/form-text';
import { canEditWorker } from '../../workers/can-edit-worker';
import { SettingsForm } from './settings-form';

type Item = Worker['inputs'][number];

const ITEM_KINDS = {
  inputs: {
    title: 'Inputs',
    one: 'input',
    about: 'Define the run form, its validation and the arguments to run().',
    aboutAgent: 'Define the run form, its validation and the data available to the agent.',
    types: {
      text: 'Text',
      textarea: 'Long text',
      number: 'Number',
      integer: 'Integer',
      boolean: 'Yes/no',
      select: 'Choice',
      date: 'Date',
      url: 'URL',
      json: 'JSON',
      file: 'File',
    },
  },
  outputs: {
    title: 'Outputs',
    one: 'output',
    about: 'Define what run() returns and how pages display the results. Fields not listed here are also shown.',
    aboutAgent: 'Define how pages display result fields. Fields not listed here are also shown.',
    types: {
      text: 'Text',
      markdown: 'Markdown',
      number: 'Number',
      table: 'Table',
      csv: 'CSV',
      json: 'JSON',
      image: 'Image',
      file: 'File',
    },
  },
};

export const InputsForm = ({ worker }: { worker: Worker }) => <ItemsForm worker={worker} kind="inputs" />;
export const OutputsForm = ({ worker }: { worker: Worker }) => <ItemsForm worker={worker} kind="outputs" />;

/** Edits the inputs or outputs of a run. Other fields of an item, such as bounds, are kept. */
function ItemsForm({ worker, kind }: { worker: Worker; kind: 'inputs' | 'outputs' }) {
  const { title, one, about, aboutAgent, types } = ITEM_KINDS[kind];
  const [rows, setRows] = useState(() => worker[kind].map((item, key) => ({ key, item })));
  const nextKey = useRef(rows.length);
  const add = () => setRows([...rows, { key: nextKey.current++, item: { name: '', type: 'text' } }]);
  return (
    <SettingsForm
      worker={worker}
      title={title}
      about={worker.runner === 'agent' ? aboutAgent : about}
      parseForm={(formData) => ({ [kind]: rows.map(({ key, item }) => parseItem(formData, key, item, kind)) })}
    >
      {rows.length > 0 && (
        <ul className="divided rows full-row" aria-label={title}>
          {rows.map(({ key, item }) => (
            <ItemRow
              key={key}
              id={key}
              item={item}
              types={types}
              isInput={kind === 'inputs'}
              onRemove={canEditWorker(worker) ? () => setRows(rows.filter((row) => row.key !== key)) : undefined}
            />
          ))}
        </ul>
      )}
      {canEditWorker(worker) && (
        <div className="full-row">
          <Button variant="default" size="compact-sm" onClick={add}>
            Add {one}
          </Button>
        </div>
      )}
    </SettingsForm>
  );
}

interface ItemRowProps {
  id: number;
  item: Item;
  types: Record<string, string>;
  isInput: boolean;
  /** Absent for members who cannot edit it. */
  onRemove: (() => void) | undefined;
}

function ItemRow({ id, item, types, isInput, onRemove }: ItemRowProps) {
  const [type, setType] = useState(item.type);
  return (
    <Box
      component="li"
      className="auto-fit"
      __vars={{ '--column': '9rem' }}
      style={{ gap: 'var(--space-3)', alignItems: 'end' }}
    >
      <TextInput
        name={`name-${id}`}
        label="Name"
        defaultValue={item.name}
        pattern="[A-Za-z_][A-Za-z0-9_]*"
        title="Use letters, digits and underscores. Don’t start with a digit."
        autoComplete="off"
        required
      />
      <TextInput
        name={`label-${id}`}
        label="Label"
        placeholder="Defaults to the name"
        defaultValue={item.label}
        autoComplete="off"
      />
      <NativeSelect
        name={`type-${id}`}
        label="Type"
        {...bindText(type, setType)}
        data={Object.entries(types).map(([value, label]) => ({ value, label }))}
      />
      {isInput && (
        <Checkbox
          pb="xs"
          style={{ alignSelf: 'end' }}
          name={`required-${id}`}
          label="Required"
          defaultChecked={item.required ?? false}
        />
      )}
      {onRemove && (
        <Button
          style={{ justifySelf: 'end' }}
          variant="default"
          aria-label={`Remove ${item.label || item.name || (isInput ? 'input' : 'output')}`}
          onClick={onRemove}
        >
          Remove
        </Button>
      )}
      {type === 'select' && (
        <TextInput
          className="full-row"
          name={`options-${id}`}
          label="Choices"
          description="Separated by commas"
          defaultValue={item.options?.map(({ value }) => String(value)).join(', ')}
          required
        />
      )}
    </Box>
  );
}

function parseItem(formData: FormData, key: number, previous: Item, kind: 'inputs' | 'outputs'): Item {
  const { label: _, options: previousOptions, ...otherFields } = previous;
  const label = getFormText(formData, `label-${key}`);
  const type = getFormText(formData, `type-${key}`);
  const optionValues = splitParts(getFormText(formData, `options-${key}`), ',');
  return {
    // Bounds and defaults only apply to their type.
    ...(type === previous.type ? otherFields : {}),
    name: getFormText(formData, `name-${key}`),
    type,
    ...(label && { label }),
    ...(kind === 'inputs' && { required: formData.has(`required-${key}`) }),
    ...(type === 'select' && {
      options: optionValues.map(
        (value) => previousOptions?.find((one) => String(one.value) === value) ?? { value, label: value },
      ),
    }),
  };
}
