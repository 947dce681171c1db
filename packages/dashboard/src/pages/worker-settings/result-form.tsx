import { Button, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Worker } from '../../shell/api';
import { bindText } from '../../ui/bind';
import { getFormText } from '../../ui/form-text';
import { canEditWorker } from '../../workers/can-edit-worker';
import { useSettingsEditor } from './settings-editor';
import { SettingsForm } from './settings-form';

const EXAMPLE_SCHEMA = {
  type: 'object',
  required: ['summary'],
  properties: { summary: { type: 'string' }, urgent: { type: 'boolean' } },
};

const formatSchema = (value: object | null): string => (value === null ? '' : JSON.stringify(value, null, 2));

/** Sets the shape of an agent's result: free text, or JSON that fits a schema. Other workers have none. */
export function ResultForm({ worker }: { worker: Worker }) {
  const { problems } = useSettingsEditor();
  const [text, setText] = useState(formatSchema(worker.output));
  const problem = findSchemaProblem(text);
  if (worker.runner !== 'agent') return null;
  return (
    <SettingsForm
      worker={worker}
      title="Result"
      about="The result must match this JSON Schema. If it doesn’t, the agent gets one chance to correct it. Without a schema, the result is the text of the agent’s final response."
      isShownInline={isResultField}
      parseForm={(formData) => ({ output: parseSchema(getFormText(formData, 'output')) })}
    >
      <Textarea
        className="code-field full-row"
        name="output"
        aria-label="Result JSON Schema"
        rows={text === '' ? 3 : 10}
        spellCheck={false}
        placeholder="No schema: the result is the text of the agent’s final response"
        error={problem || problems.find(({ path }) => isResultField(path))?.message}
        ref={(field) => field?.setCustomValidity(problem)}
        {...bindText(text, setText)}
      />
      {canEditWorker(worker) && text === '' && (
        <div className="full-row">
          <Button variant="default" size="compact-sm" onClick={() => setText(formatSchema(EXAMPLE_SCHEMA))}>
            Insert example
          </Button>
        </div>
      )}
    </SettingsForm>
  );
}

/** The fields of the form for outputs begin with the same letters. */
const isResultField = (path: string): boolean => path === 'output' || path.startsWith('output.');

type Schema = Record<string, unknown>;

const parseSchema = (text: string): Schema | null => (text.trim() === '' ? null : (JSON.parse(text) as Schema));

/** Returns the problem of a schema, or an empty text. */
function findSchemaProblem(text: string): string {
  try {
    const value: unknown = parseSchema(text);
    return typeof value === 'object' && !Array.isArray(value) ? '' : 'A JSON Schema must be a JSON object';
  } catch (error) {
    return `Invalid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
