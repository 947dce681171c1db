import { ApiError } from '@gantry/sdk';
import { Box, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { CheckboxList } from '../ui/checkbox-list';
import { FormStack } from '../ui/form';
import { FormActions } from '../ui/form-actions';
import { ErrorNotice } from '../ui/notice';
import { ADDRESS_REQUIRED_MESSAGE, type AlertAddresses, alertChannelList, listAlertAddresses } from './alert-channels';
import { ALERT_TYPE_LABELS, ALERT_TYPES_MAX, type AlertType, isAutomationAlertType } from './alert-labels';
import { type AlertFields, useIsEmailEnabled } from './alert-queries';

interface AlertFormProps {
  given: AlertFields;
  /** Whether it is for an automation, which has fewer events. */
  isForAutomation: boolean;
  /** Shown above the events: the subject of the alert. */
  children?: ReactNode;
  submitLabel: string;
  isBusy: boolean;
  error: Error | null;
  onSubmit: (fields: AlertFields) => void;
  onCancel?: () => void;
}

const TYPES = Object.keys(ALERT_TYPE_LABELS) as AlertType[];

/** The form for creating and changing an alert. */
export function AlertForm(props: AlertFormProps) {
  const { given, isForAutomation: isOfAutomation, children, submitLabel, isBusy, error, onSubmit, onCancel } = props;
  const [fields, setFields] = useState(given);
  const [wasSubmitted, setWasSubmitted] = useState(false);
  const sendsEmail = useIsEmailEnabled();
  const availableTypes = TYPES.filter((type) => !isOfAutomation || isAutomationAlertType(type));
  const on = fields.on.filter((type) => availableTypes.includes(type));
  const updateFields = (change: Partial<AlertFields>) => setFields({ ...fields, ...change });
  const fieldErrors = error instanceof ApiError ? error.fields : [];
  const fieldError = (field: string) => fieldErrors.find(({ path }) => path === field)?.message;
  const problems = wasSubmitted ? validateAlertFields({ ...fields, on }) : {};

  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    setWasSubmitted(true);
    if (Object.keys(validateAlertFields({ ...fields, on })).length === 0) onSubmit({ ...fields, on });
  }

  return (
    <FormStack maw="32rem" gap="md" onSubmit={handleSubmit} noValidate>
      {children}
      <Box
        component="fieldset"
        className="auto-fit"
        __vars={{ '--column': '13rem' }}
        style={{ gap: 'var(--space-2) var(--space-4)' }}
        aria-describedby={problems.on ? 'alert-on-problem' : undefined}
      >
        <Box component="legend" fz="sm">
          Events
        </Box>
        <CheckboxList
          options={availableTypes}
          labels={ALERT_TYPE_LABELS}
          value={on}
          onChange={(types) => updateFields({ on: types })}
          most={ALERT_TYPES_MAX}
        />
      </Box>
      {problems.on && (
        <Text id="alert-on-problem" fz="xs" c="var(--error)" role="alert">
          {problems.on}
        </Text>
      )}
      {alertChannelList.map(({ field, input, withoutMail }, index) => {
        const problemOfMail = sendsEmail === false ? withoutMail : undefined;
        return (
          <TextInput
            key={field}
            {...input}
            description={problemOfMail ?? input.description}
            disabled={problemOfMail !== undefined && !fields[field]}
            autoComplete="off"
            value={fields[field] ?? ''}
            error={fieldError(field) ?? (index === 0 && problems.address)}
            onChange={(event) => updateFields({ [field]: event.currentTarget.value })}
          />
        );
      })}
      <TextInput
        label="Description"
        description="Optional. Shown in the list of alerts."
        autoComplete="off"
        maxLength={500}
        value={fields.description}
        error={fieldError('description')}
        onChange={(event) => updateFields({ description: event.currentTarget.value })}
      />
      {fieldErrors.length === 0 && <ErrorNotice title="Alert not saved" error={error} />}
      <FormActions submit={submitLabel} isBusy={isBusy} onCancel={onCancel} />
    </FormStack>
  );
}

const validateAlertFields = (fields: AlertFields): { on?: string; address?: string } => ({
  ...(fields.on.length === 0 && { on: 'Choose at least one event.' }),
  ...(listAlertAddresses(fields).length === 0 && { address: ADDRESS_REQUIRED_MESSAGE }),
});

/** Converts the fields to what the API takes: an empty channel becomes null. */
export function normalizeAlertFields(fields: AlertFields): AlertFields {
  const addresses = alertChannelList.map(({ field }) => [field, fields[field]?.trim() || null]);
  return {
    on: fields.on,
    ...(Object.fromEntries(addresses) as AlertAddresses),
    description: fields.description.trim(),
  };
}
