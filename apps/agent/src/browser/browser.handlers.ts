import { AppError, type Handlers, type browserOperations } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { BrowserOptions } from './browser.js';

export class BrowserHandlers {
  constructor(readonly options: BrowserOptions) {}

  readonly operations = new Proxy(
    {},
    {
      get: () => () => Promise.reject(new AppError('unavailable', 'The browser is not there yet.')),
    },
  ) as Handlers<typeof browserOperations, CallContext>;

  watch(_on: boolean): void {}

  page(): string | null {
    return null;
  }

  async close(): Promise<void> {}
}
