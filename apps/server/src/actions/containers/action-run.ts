import type { Duplex } from 'node:stream';
import type { AppError } from '@belay/protocol';
import type { ActionProgram } from '../installed-actions.js';
import type { PulledImage } from './action-images.js';

/** One call of an action in its container. */
export interface ActionRun {
  /** The action’s name. */
  name: string;
  /** The session whose workspace it may see, and whose log records its connections. */
  session: string | null;
  program: ActionProgram;
  args: readonly string[];
  /** The values of its declared secrets. */
  secrets: Readonly<Record<string, string>>;
  /** Called with the reason of each refused connection. */
  onRefused(reason: string): void;
  /** Awaited once a missing image of a service was pulled. */
  onPulled(image: PulledImage): Promise<void>;
  /** Ends the call with this error. */
  fail(error: AppError): void;
  /** Receives the files that the program leaves, in the format of `programFile`; untrusted. */
  takeFiles(stream: Duplex): void;
}
