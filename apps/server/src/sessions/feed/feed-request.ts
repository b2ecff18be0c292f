import type { TerminalStarts } from './terminal-followers.js';

export interface FeedRequest {
  session: string;
  /** The `seq` of the last event that the follower has. */
  after: number;
  terminals: TerminalStarts | 'none';
}
