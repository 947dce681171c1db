import { Component, type ReactNode } from 'react';
import { Notice } from '../../ui/notice';

/** A bug in a part of the page, or a file of it that can't be loaded, leaves the rest usable. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <Notice tone="error" title="This page has broken">
        That is a fault in Gantry, not in what you did. Reload the page; if it stays, tell whoever runs Gantry here.
      </Notice>
    );
  }
}
