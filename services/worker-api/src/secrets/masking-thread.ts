/** The thread that builds matchers: how long that takes is decided by the values that members have stored. */
import { type PreparedSecrets, prepareSecrets } from '@gantry/masking';
import { serveTasks } from '@gantry/thread-pool';

serveTasks(
  ({ secrets }: { secrets: string[] }): PreparedSecrets => prepareSecrets(secrets),
  ({ tables }) => (tables ? Object.values({ ...tables }).map(({ buffer }) => buffer as ArrayBuffer) : []),
);
