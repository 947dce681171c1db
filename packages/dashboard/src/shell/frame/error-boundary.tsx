import { Component, type ReactNode } from 'react';
import { Notice } from '../../ui/notice';

/** Keeps the rest usable when a part of the page fails, or a file of it can't be loaded. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <Notice tone="error" title="Something went wrong">
        Gantry hit an unexpected error. Reload the page. If the problem persists, contact the operator of this
        installation.
      </Notice>
    );
  }
}
