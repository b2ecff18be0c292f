import type { CallInput, CallOutput } from '@belay/rpc';
import type { Handlers, serverCalls, webOperations } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { FetchPage } from './fetch-page.js';
import type { HttpOptions } from './http.js';

type Calls = typeof serverCalls;

export interface WebOptions extends HttpOptions {
  search(
    input: CallInput<Calls, 'web.search'>,
    signal: AbortSignal,
  ): Promise<CallOutput<Calls, 'web.search'>>;
}

export function createWeb(options: WebOptions): Handlers<typeof webOperations, CallContext> {
  let fetchPage: Promise<FetchPage> | undefined;
  return {
    async 'web.fetch'(input, { signal }) {
      // TLS and the HTML reader take a tenth of an agent's start time, and most agents never fetch a page.
      fetchPage ??= import('./fetch-page.js').then(({ createFetchPage }) =>
        createFetchPage(options),
      );
      return (await fetchPage)(input, signal);
    },
    'web.search': (_, { id, signal }) => options.search({ id }, signal),
  };
}
