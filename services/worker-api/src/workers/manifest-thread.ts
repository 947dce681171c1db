/** The thread that reads and writes manifests. */
import { serveTasks } from '@gantry/thread-pool';
import { formatManifest, parseManifest } from './manifest';
import type { ManifestTask, ParsedManifest } from './manifests';

serveTasks((task: ManifestTask): ParsedManifest | string => {
  if ('fields' in task) return formatManifest(task.fields);
  try {
    return { value: parseManifest(task.path, task.content) };
  } catch (err) {
    return { problem: (err as Error).message.split('\n')[0] ?? '' };
  }
});
