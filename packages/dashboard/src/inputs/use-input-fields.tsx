import { type ReactNode, useState } from 'react';
import type { InputItem } from '../shell/api';
import { buildInitialValues, parseFieldValues } from './field-values';
import { getFieldId, InputField } from './input-field';
import type { FieldProblems } from './input-problems';
import type { FieldValue } from './input-value';

/** Renders the fields of a form, and holds their values and problems. */
export function useInputFields(items: InputItem[], initialValues: Record<string, unknown> | null) {
  const [fieldValues, setFieldValues] = useState<ReadonlyMap<string, FieldValue>>(() =>
    buildInitialValues(items, initialValues),
  );
  const [problems, setProblems] = useState<FieldProblems>(new Map());

  /** Shows problems at their fields, and focuses the first. */
  function showProblems(newProblems: FieldProblems) {
    setProblems(newProblems);
    const first = items.find((item) => newProblems.has(item.name));
    if (first) document.getElementById(getFieldId(first))?.focus();
  }

  const fields: ReactNode = items.map((item) => (
    <InputField
      key={item.name}
      item={item}
      value={fieldValues.get(item.name) ?? null}
      problem={problems.get(item.name)}
      onChange={(value) => {
        setFieldValues((before) => new Map(before).set(item.name, value));
        setProblems((before) => new Map([...before].filter(([name]) => name !== item.name)));
      }}
    />
  ));

  /** The problem of no field in particular. */
  const problem = problems.get('');
  return { fields, problem, show: showProblems, read: () => parseFieldValues(items, fieldValues) };
}
