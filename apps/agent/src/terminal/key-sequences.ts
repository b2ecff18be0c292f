/** The characters that a terminal sends for each named key. */
const sequences: Readonly<Record<string, string>> = {
  enter: '\r',
  tab: '\t',
  escape: '\x1b',
  backspace: '\x7f',
  delete: '\x1b[3~',
  insert: '\x1b[2~',
  up: '\x1b[A',
  down: '\x1b[B',
  left: '\x1b[D',
  right: '\x1b[C',
  home: '\x1b[H',
  end: '\x1b[F',
  pageup: '\x1b[5~',
  pagedown: '\x1b[6~',
  f1: '\x1bOP',
  f2: '\x1bOQ',
  f3: '\x1bOR',
  f4: '\x1bOS',
  f5: '\x1b[15~',
  f6: '\x1b[17~',
  f7: '\x1b[18~',
  f8: '\x1b[19~',
  f9: '\x1b[20~',
  f10: '\x1b[21~',
  f11: '\x1b[23~',
  f12: '\x1b[24~',
};

/** The characters of a key that the operation accepts: a named one, or Ctrl with a letter. */
export function keySequence(key: string): string {
  const letter = /^ctrl[-+]([a-z])$/.exec(key)?.[1];
  return letter === undefined
    ? (sequences[key.replace('-', '')] ?? '')
    : String.fromCharCode(letter.charCodeAt(0) & 0x1f);
}
