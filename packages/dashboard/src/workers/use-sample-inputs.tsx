import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../shell/api';
import { ErrorNotice } from '../ui/notice';

export type Inputs = Record<string, unknown>;

/** Fills a form with sample inputs. @returns also the button and the error; `count` changes with each sample */
export function useSampleInputs(workerId: string) {
  const [sample, setSample] = useState<{ inputs: Inputs; count: number } | null>(null);
  const fill = useMutation({
    mutationFn: async () => {
      const params = { path: { worker_id: workerId } };
      return api.worker.GET('/api/workers/{worker_id}/sample-input', { params });
    },
    onSuccess: ({ inputs }) => setSample((before) => ({ inputs, count: (before?.count ?? 0) + 1 })),
  });
  return {
    sample,
    button: (
      <Button
        style={{ alignSelf: 'flex-start' }}
        size="compact-sm"
        variant="default"
        loading={fill.isPending}
        onClick={() => fill.mutate()}
      >
        Insert sample
      </Button>
    ),
    failure: <ErrorNotice title="The sample could not be loaded" error={fill.error} />,
  };
}
