import { visibleJson, visibleText } from './visible-text.js';

const signs = [
  ['escape', '\u001b[2J'],
  ['bell', '\u0007'],
  ['carriage return', 'a\rb'],
  ['C1 control sequence introducer', '\u009b2J'],
  ['C1 operating system command', '\u009d52;c;eA==\u009c'],
  ['DEL', '\u007f'],
  ['right-to-left override', '\u202egnp.exe'],
  ['isolate', '\u2066x\u2069'],
  ['Arabic letter mark', '\u061c'],
  ['line separator', '\u2028'],
] as const;
const dangerous =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('attacks: text of a sandbox in a terminal', () => {
  it.each(signs)('shows %s, and does not do it', (_, text) => {
    expect(visibleText(text)).not.toMatch(dangerous);
    const json = visibleJson({ [text]: [text] });
    expect(json).not.toMatch(dangerous);
    expect(JSON.parse(json)).toEqual({ [text]: [text] });
  });

  it('leaves honest text of any script as it is', () => {
    const text = 'Zeile\n\tשלום عربى 日本 👩‍💻 “x”';
    expect(visibleText(text)).toBe(text);
    expect(visibleJson({ text })).toBe(JSON.stringify({ text }));
    expect(visibleJson([1], 2)).toBe('[\n  1\n]');
  });
});
