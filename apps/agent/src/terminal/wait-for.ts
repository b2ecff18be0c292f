import { AppError, type OperationInput, type RunResult } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { ShellCommand } from './shell-command.js';
import { recentListeners } from './listeners.js';
import type { Terminal } from './terminal.js';
import { TextSearch } from './text-search.js';

export type Until = OperationInput<'terminal.run'>['until'];
export type Happened = NonNullable<RunResult['happened']>;

/** The interval at which a port is checked. */
const portIntervalMs = 50;
/** Concurrent waits for a port or a text. Each searches all new output, and a model makes eight calls at most. */
const maxWaits = 20;
let waits = 0;

export interface WaitOptions {
  until: Until;
  /** The command whose end ends the wait. */
  command: ShellCommand | undefined;
  /** The offset from which on the output is searched. */
  from: number;
  /** Programs that listened on the port before the command, which do not count. */
  before?: ReadonlySet<string>;
  ms: number;
  context: CallContext;
}

/** Waits until one of these happens, and returns which. Throws `limit_reached` when too many calls are waiting. */
export async function waitFor(terminal: Terminal, options: WaitOptions): Promise<Happened> {
  if (options.until && waits >= maxWaits) throw tooMany();
  waits += options.until ? 1 : 0;
  try {
    return await happening(terminal, options);
  } finally {
    waits -= options.until ? 1 : 0;
  }
}

async function happening(terminal: Terminal, options: WaitOptions): Promise<Happened> {
  const { until: { port, text } = {}, command, from, before, ms, context } = options;
  const search = text === undefined ? null : new TextSearch(terminal.output.scrollback, from, text);
  const answers = (): boolean =>
    port !== undefined && [...recentListeners(port)].some((socket) => !before?.has(socket));
  const happened = (): Happened | undefined => {
    if (search?.found) return 'text';
    if (command?.settled || terminal.closed) return 'end';
    return undefined;
  };
  let result: Happened | undefined = answers() ? 'port' : undefined;
  const polling = setInterval(() => {
    if (!result && answers()) result = 'port';
    if (result) terminal.changes.notify();
  }, portIntervalMs);
  if (port === undefined) clearInterval(polling);
  try {
    const over = () => (result ??= happened()) !== undefined;
    await terminal.changes.until(over, ms, waitSignal(context));
  } finally {
    clearInterval(polling);
  }
  return result ?? (context.userWrote?.aborted ? 'message' : 'time');
}

const tooMany = (): AppError =>
  new AppError(
    'limit_reached',
    `${maxWaits} calls are already waiting for a port or a text. Read the terminal without \`until\`, or let one of them end.`,
  );

/** Ends a call’s wait: its cancellation, or a message of the user. */
export const waitSignal = ({ signal, userWrote }: CallContext): AbortSignal =>
  userWrote ? AbortSignal.any([signal, userWrote]) : signal;
