import { Notice } from '../ui/notice';

/** Shown in place of an output that the object store has lost. */
export const MissingOutputNotice = () => (
  <Notice tone="error" title="Output no longer available">
    The output is missing from the object store, but the rest of this run is intact. To generate new output, run the
    worker again.
  </Notice>
);
