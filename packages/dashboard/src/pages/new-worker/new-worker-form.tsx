import { Box, Button, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { CodeEditor } from '../../code/code-editor';
import { getLocalTimeZone, type Schedule, ScheduleFields } from '../../schedules/schedule-fields';
import { api } from '../../shell/api';
import { paths, workerPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useTitle } from '../../shell/use-title';
import { bindText } from '../../ui/bind';
import { Columns } from '../../ui/columns';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { getEntryFile, isAgent, type WorkerTemplate } from '../../workers/templates/template';
import { useInvalidateWorkers } from '../../workers/use-worker';
import { storeWebhookSecrets } from '../../workers/webhook-secrets';
import { AgentRequirements } from './agent-requirements';
import { describeTemplateTrigger } from './describe-template-trigger';
import { EMPTY_TEMPLATE } from './empty-template';
import styles from './new-worker.module.css';

/** Creates a worker from a template, whose code and schedule can be edited first. */
export function NewWorkerForm({ template }: { template: WorkerTemplate }) {
  useTitle(template.name, [{ to: paths.newWorker, label: 'New worker' }]);
  const navigate = useNavigate();
  const invalidateWorkers = useInvalidateWorkers();
  const file = getEntryFile(template);
  const [name, setName] = useState(template === EMPTY_TEMPLATE ? '' : template.name);
  const [code, setCode] = useState(template.code);
  const [schedule, setSchedule] = useState<Schedule | null>(
    template.trigger?.type === 'cron' ? { cron: template.trigger.cron, timezone: getLocalTimeZone() } : null,
  );
  const create = useMutation({
    mutationFn: async () => {
      const body = { ...toWorkerFields(template, schedule), name: name.trim(), files: [{ path: file, content: code }] };
      return api.worker.POST('/api/workers', { body });
    },
    onSuccess: (created) => {
      storeWebhookSecrets(created);
      void invalidateWorkers();
      toast(`${created.name} created`);
      navigate(workerPath(created.id));
    },
  });
  return (
    <>
      <PageHeader title={template.name} about={template.about} />
      <Columns below="64rem">
        <Panel title={isAgent(template) ? 'Task' : 'Code'}>
          <CodeEditor
            label={isAgent(template) ? `Task in ${file}` : `Code in ${file}`}
            path={file}
            value={code}
            onChange={setCode}
          />
        </Panel>
        <div className={styles.form}>
          <Panel title="Worker details">
            <FormStack onSubmit={handleSubmit(() => name.trim() && create.mutate())}>
              <TextInput label="Name" {...bindText(name, setName)} maxLength={120} required data-autofocus />
              {schedule ? (
                <ScheduleFields schedule={schedule} onChange={setSchedule} />
              ) : (
                <Text fz="sm" c="dimmed">
                  <Box component="strong" c="bright">
                    {describeTemplateTrigger(template)}.
                  </Box>{' '}
                  {TRIGGER_HINTS[template.trigger?.type ?? 'manual']}
                </Text>
              )}
              <InputList template={template} />
              {isAgent(template) && <AgentRequirements template={template} />}
              <Text fz="sm" c="dimmed">
                You can change everything later. Each change to the {isAgent(template) ? 'task' : 'code'} creates a new
                version.
              </Text>
              <ErrorNotice title="Worker not created" error={create.error} />
              <Button type="submit" size="md" fullWidth loading={create.isPending}>
                Create worker
              </Button>
            </FormStack>
          </Panel>
        </div>
      </Columns>
    </>
  );
}

const TRIGGER_HINTS = {
  manual: 'You can add a schedule, a webhook or an event under Triggers.',
  webhook: 'After you create the worker, its webhook URL appears under Triggers. You can also run the worker manually.',
  event: 'A worker is never triggered by its own runs. You can also run the worker manually.',
  cron: '',
} as const;

function InputList({ template: { inputs = [] } }: { template: WorkerTemplate }) {
  return (
    <div>
      <h3>Inputs</h3>
      <Box component="ul" mt={4} fz="sm" c="dimmed">
        {inputs.map((input) => {
          const label = typeof input === 'string' ? input : String(input.label);
          return <li key={label}>{label}</li>;
        })}
      </Box>
    </div>
  );
}

function toWorkerFields(
  { id: _id, name: _name, category: _category, about, code: _code, trigger, ...definition }: WorkerTemplate,
  schedule: Schedule | null,
) {
  const triggers = schedule ? [{ type: 'cron' as const, ...schedule }] : trigger ? [trigger] : [];
  return { ...definition, description: about, triggers };
}
