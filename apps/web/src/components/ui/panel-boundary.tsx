import { Component, type ReactNode } from 'react';
import { Failed } from './empty';

interface State {
  error: unknown;
}

/** An error boundary that keeps a failing panel from affecting the others. */
export class PanelBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return <Failed error={this.state.error} retry={() => this.setState({ error: null })} />;
  }
}
