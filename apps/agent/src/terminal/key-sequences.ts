import type { OperationInput } from '@belay/protocol';

type Key = OperationInput<'terminal.input'>['keys'][number];

/** The characters that a terminal sends for each named key. */
export const keySequences: Record<Key, string> = {
  enter: '\r',
  tab: '\t',
  escape: '\x1b',
  backspace: '\x7f',
  up: '\x1b[A',
  down: '\x1b[B',
  left: '\x1b[D',
  right: '\x1b[C',
  home: '\x1b[H',
  end: '\x1b[F',
  'page-up': '\x1b[5~',
  'page-down': '\x1b[6~',
  'ctrl-c': '\x03',
  'ctrl-d': '\x04',
  'ctrl-l': '\x0c',
  'ctrl-z': '\x1a',
};
