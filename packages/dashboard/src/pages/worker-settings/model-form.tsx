import { NativeSelect, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { MissingModelNotice } from '../../models/missing-model-notice';
import { listModelNames, useModels } from '../../models/use-models';
import type { Worker } from '../../shell/api';
import { bindText } from '../../ui/bind';
import { getFormText } from '../../ui/form-text';
import { NumberFields, type NumberSetting, parseNumbers } from './number-fields';
import { useSettingsEditor } from './settings-editor';
import { SettingsForm } from './settings-form';

const REASONING_OPTIONS = [
  { value: '', label: 'Model default' },
  { value: 'low', label: 'Low' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
];

const MODEL_LIMITS: NumberSetting<Pick<Worker, 'max_turns' | 'budget_usd' | 'temperature'>>[] = [
  { name: 'max_turns', label: 'Maximum turns', description: 'Model responses per run, up to 100', min: 1, max: 100 },
  {
    name: 'budget_usd',
    label: 'Budget per run',
    description: 'In US dollars, for model calls',
    min: 0,
    max: 1_000_000,
    step: 'any',
    emptyLabel: 'No limit',
  },
  {
    name: 'temperature',
    label: 'Temperature',
    description: 'From 0 to 2',
    min: 0,
    max: 2,
    step: 'any',
    emptyLabel: 'Model default',
  },
];

/** Edits the model of an agent, and its limits for one run. */
export function ModelForm({ worker }: { worker: Worker }) {
  const { problems } = useSettingsEditor();
  const { data: models = [] } = useModels();
  const [model, setModel] = useState(worker.model ?? '');
  const listId = useId();
  const names = listModelNames(models);
  const defaultModel = models.find(({ is_default: isDefault }) => isDefault);
  const isUnknown = model !== '' && names.length > 0 && !names.includes(model);
  return (
    <SettingsForm
      worker={worker}
      title="Model"
      about="With an alias, you don’t need to update workers when the underlying model changes. Calls that could exceed the remaining budget are blocked."
      isShownInline={(path) => path === 'model' || path === 'tool_choice'}
      parseForm={(formData) => ({
        model: getFormText(formData, 'model') || null,
        ...parseNumbers(formData, MODEL_LIMITS),
        reasoning: (getFormText(formData, 'reasoning') || null) as Worker['reasoning'],
        tool_choice: getFormText(formData, 'tool_choice') || null,
      })}
    >
      <TextInput
        name="model"
        label="Model"
        description={isUnknown ? 'This model isn’t available, so runs will fail' : 'Name or alias'}
        placeholder={defaultModel ? `Default (${defaultModel.id})` : 'Default'}
        error={problems.find(({ path }) => path === 'model')?.message}
        list={listId}
        {...bindText(model, setModel)}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
      />
      <datalist id={listId}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <NumberFields settings={MODEL_LIMITS} values={worker} />
      <NativeSelect
        name="reasoning"
        label="Reasoning effort"
        description="Applies to each response if the model supports it"
        defaultValue={worker.reasoning ?? ''}
        data={REASONING_OPTIONS}
      />
      <TextInput
        name="tool_choice"
        label="Tool choice"
        description="For the first response: auto, none, required or a tool name"
        placeholder="auto"
        error={problems.find(({ path }) => path === 'tool_choice')?.message}
        defaultValue={worker.tool_choice ?? ''}
        maxLength={310}
        autoComplete="off"
        spellCheck={false}
      />
      <div className="full-row">
        <MissingModelNotice />
      </div>
    </SettingsForm>
  );
}
