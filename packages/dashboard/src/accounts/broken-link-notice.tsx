import { Notice } from '../ui/notice';

/** Shown on a page that was opened without the token of its link. */
export const BrokenLinkNotice = () => (
  <Notice tone="error">This link is incomplete. Open it again, or copy the full URL.</Notice>
);
