import { Notice } from '../ui/notice';

/** Tells a viewer that an action needs the member role. @param action as in `create workers` */
export const ViewerNotice = ({ action }: { action: string }) => (
  <Notice tone="info" title={`Viewers can’t ${action}`}>
    Ask a workspace admin for the member role.
  </Notice>
);
