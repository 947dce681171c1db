import { Button, Group, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { toInputProblems } from '../../inputs/input-problems';
import { useInputFields } from '../../inputs/use-input-fields';
import { api, type InputItem, type Worker, type WorkerRun } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { bindChoice } from '../../ui/bind';
import { Dialog } from '../../ui/dialog';
import { FormStack, handleSubmit } from '../../ui/form';
import { toJsonObject } from '../../ui/json';
import { Notice } from '../../ui/notice';

interface ReplayDialogProps {
  run: WorkerRun;
  worker: Worker;
  onClose: () => void;
}

type Version = 'current' | 'same';

/** The form of a worker without declared inputs, which accepts any object. */
const UNTYPED_INPUTS: InputItem[] = [{ name: 'inputs', label: 'Inputs', type: 'json' }];

/** Replays the run with other inputs, or with its original code. */
export default function ReplayDialog({ run, worker, onClose }: ReplayDialogProps) {
  const navigate = useNavigate();
  const declaredInputs = worker.inputs as InputItem[];
  // Files are reused; their contents cannot be edited here.
  const files = declaredInputs.filter(({ type, name }) => type === 'file' && name in run.input);
  const items = declaredInputs.length ? declaredInputs.filter(({ type }) => type !== 'file') : UNTYPED_INPUTS;
  const initialInputs = declaredInputs.length ? run.input : { inputs: run.input };
  const { fields, problem, show: showProblems, read: readInputs } = useInputFields(items, initialInputs);
  const [version, setVersion] = useState<Version>('current');
  const [isBusy, setBusy] = useState(false);

  async function submit() {
    const { inputs, problems } = readInputs();
    showProblems(problems);
    if (problems.size) return;
    const fileInputs = Object.fromEntries(files.map(({ name }) => [name, run.input[name]]));
    const body = {
      version,
      inputs: declaredInputs.length ? { ...inputs, ...fileInputs } : toJsonObject(inputs.inputs),
    };
    setBusy(true);
    try {
      const params = { path: { run_id: run.id } };
      const replayed = await api.worker.POST('/api/runs/{run_id}/replay', { params, body });
      navigate(workerRunPath(replayed.run_id));
      onClose();
    } catch (error) {
      showProblems(toInputProblems(error, items));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Dialog title="Run with changes" onClose={onClose}>
      <FormStack p="lg" onSubmit={handleSubmit(submit)} noValidate>
        {run.worker_version !== null && (
          <NativeSelect
            label="Code"
            {...bindChoice(version, setVersion)}
            data={[
              { value: 'current', label: 'Current version' },
              { value: 'same', label: `Version ${run.worker_version} (used by this run)` },
            ]}
          />
        )}
        {fields}
        {files.length > 0 && (
          <p>Files reused from this run: {files.map(({ name, label }) => label ?? name).join(', ')}.</p>
        )}
        {problem !== undefined && (
          <Notice tone="error" title="Run not started">
            {problem}
          </Notice>
        )}
        <Group gap="xs" align="stretch" justify="flex-end">
          <Button type="submit" loading={isBusy}>
            Run
          </Button>
        </Group>
      </FormStack>
    </Dialog>
  );
}
