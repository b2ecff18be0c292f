import type { Duplex } from 'node:stream';
import type { AppError } from '@belay/protocol';
import type { ActionProgram } from '../installed-actions.js';
import type { PulledImage } from './action-images.js';

/** One call of an action in its container. */
export interface ActionRun {
  /** Of the action. */
  name: string;
  /** Whose workspace it may see, and whose log has its connections. */
  session: string | null;
  program: ActionProgram;
  args: readonly string[];
  /** The secrets that it declares. */
  secrets: Readonly<Record<string, string>>;
  /** Told the reason of each connection that is refused. */
  onRefused(reason: string): void;
  /** Awaited once the image of a service that was not there is. */
  onPulled(image: PulledImage): Promise<void>;
  /** Ends the call with this error. */
  fail(error: AppError): void;
  /** Takes the files that it leaves, as `programFile` describes them; hostile. */
  takeFiles(stream: Duplex): void;
}
