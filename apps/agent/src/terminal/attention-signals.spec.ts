import { AttentionSignals } from './attention-signals.js';

/** The signals in an output, whole and byte by byte. */
function signalsIn(output: string): string[] {
  const [whole, split]: [string[], string[]] = [[], []];
  new AttentionSignals((text) => whole.push(text)).push(Buffer.from(output));
  const parser = new AttentionSignals((text) => split.push(text));
  for (const byte of Buffer.from(output)) parser.push(Buffer.of(byte));
  expect(split).toEqual(whole);
  return whole;
}

it.each([
  ['a bell', 'a\x07b\x07', ['', '']],
  ['a notification of iTerm2', '\x1b]9;Needs you\x07', ['Needs you']],
  ['one that ends with ESC \\', '\x1b]9;Needs\n you\x1b\\', ['Needs you']],
  ['a notification of urxvt', '\x1b]777;notify;Codex;Approve?\x07', ['Codex: Approve?']],
  ['a bell after a broken string', '\x1b]0;title\x1b[1m\x07', ['']],
])('finds %s', (_, output, signals) => {
  expect(signalsIn(output)).toEqual(signals);
});

it.each([
  ['the end of a title', '\x1b]0;a title\x07'],
  ['a bell in a string of another kind', '\x1bPq\x07'],
  ['progress', '\x1b]9;4;1;50\x07'],
  ['another command', '\x1b]777;precmd\x07\x1b]8;;http://a\x07\x1b]99;x\x07'],
])('does not take %s for one', (_, output) => {
  expect(signalsIn(output)).toEqual([]);
});

it('shortens a text, and shows what would change how it reads', () => {
  const [long] = signalsIn(`\x1b]9;${'x'.repeat(100_000)}\x07`);
  expect(long).toBe('x'.repeat(200));
  expect(signalsIn('\x1b]9;a\u202eb\x07')[0]).not.toContain('\u202e');
});
