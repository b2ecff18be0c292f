import { visibleJson, visibleParts, visibleText } from './visible-text.js';

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
  ['zero-width space', 'r\u200bm'],
  ['zero-width joiner in a word', 'r\u200dm'],
  ['zero-width non-joiner in a word', 'r\u200cm'],
  ['zero-width joiner at an end', '👩\u200d'],
  ['word joiner', 'r\u2060m'],
  ['invisible times', '2\u20622'],
  ['byte order mark', '\ufeffrm'],
  ['soft hyphen', 'r\u00adm'],
  ['Hangul filler', '\u3164=1'],
  ['halfwidth Hangul filler', '\uffa0=1'],
  ['Hangul choseong filler', '\u115f\u1160'],
  ['blank Braille pattern', '\u2800'],
  ['combining grapheme joiner', 'a\u034fb'],
  ['Mongolian vowel separator', 'a\u180eb'],
  ['variation selector', 'a\ufe0fb'],
  ['variation selector supplement', 'a\u{e0100}b'],
  ['tag letters', '\u{e0072}\u{e006d}'],
  ['annotation', 'a\ufff9b\ufffac\ufffb'],
] as const;
/** Written out, so that it does not depend on what is tested. */
const dangerous =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/u;

describe('attacks: text of a sandbox in a terminal', () => {
  it.each(signs)('shows %s, and does not do it', (_, text) => {
    expect(visibleText(text)).not.toMatch(dangerous);
    const json = visibleJson({ [text]: [text] });
    expect(json).not.toMatch(dangerous);
    expect(JSON.parse(json)).toEqual({ [text]: [text] });
  });

  it('leaves honest text of any script as it is', () => {
    const text =
      'Zeile\n\tשלום عربى 日本 “x” می\u200cخواهم क्\u200dष 👩\u200d💻 ❤\ufe0f 👁\ufe0f\u200d🗨\ufe0f 1\ufe0f\u20e3 👩🏽\u200d🔬';
    expect(visibleText(text)).toBe(text);
    expect(visibleJson({ text })).toBe(JSON.stringify({ text }));
    expect(visibleJson([1], 2)).toBe('[\n  1\n]');
  });

  it('shows a carriage return before a line end, and not the one that belongs to it', () => {
    expect(visibleText('over\r\r\nwritten\r\n')).toBe('over␍\nwritten\n');
  });

  it('tells which parts stand for others, so that nobody can write them', () => {
    expect(visibleParts('<U+202E>a\u202e\u0007b')).toEqual([
      { text: '<U+202E>a', stands: false },
      { text: '<U+202E>', stands: true },
      { text: '␇', stands: true },
      { text: 'b', stands: false },
    ]);
    expect(visibleParts('')).toEqual([]);
  });

  it('is done with a long text of nothing else at once', () => {
    const text = '\u200d\u202e'.repeat(200_000);
    expect(visibleText(text)).toHaveLength(text.length * 8);
  });
});
