import { findingsIn } from './plain-language.ts';

const found = (path: string, text: string) =>
  findingsIn(path, text).map((each) => `${each.line} ${each.found}`);

describe('the lint of plain language', () => {
  it.each([
    ['// One room for each part.', '1 room'],
    ['const agentRooms = 1;', '1 Rooms'],
    ['class DoorKeeper {}', '1 Door'],
    ['// Waits for the person.', '1 the person'],
    ['// Mend it.', '1 Mend'],
    ['const patience = 5;', '1 patience'],
    ['const restartPatience = 5;', '1 Patience'],
    ['new Surroundings()', '1 Surroundings'],
    ['// shown without a press', '1 a press'],
    ['<p>Nothing is called that.</p>', '1 Nothing is called that'],
    ['// It went on.', '1 went on'],
    ['/** Counts; answers the sum. */', '1 answers'],
    ['// What is no JSON is refused.', '1 is no JSON'],
    ['// It is let in no more.', '1 let in no more'],
    ['// The hosts that it may reach.', '1 that it may reach'],
    ['onceForsaken()', '1 Forsaken'],
    ['await this.#carry(stream);', '1 #carry('],
    ['const arrivals = [];', '1 arrivals'],
    ['  private count = 0;', '1 private count = 0;'],
    ['  private async wait(', '1 private async wait('],
  ])('finds what is planted: %s', (text, finding) => {
    expect(found('a/b.ts', text)).toEqual([finding]);
  });

  it.each([
    '.catch(() => undefined);',
    'await link.close().catch(() => undefined);',
    'wait().catch(() => {});',
  ])('finds an error that is ignored without a reason: %s', (text) => {
    expect(found('apps/a/b.ts', text)).toEqual([`1 ${text}`]);
    expect(found('apps/a/b.spec.ts', text)).toEqual([]);
  });

  it('allows a value for an error, and a reason', () => {
    expect(found('apps/a/b.ts', 'const size = await read().catch(() => undefined);')).toEqual([]);
    expect(found('apps/a/b.ts', "await end().catch(ignoreError('it has ended'));")).toEqual([]);
  });

  it('finds words in the names of files', () => {
    expect(found('src/turnstile.ts', '')).toEqual(['0 turnstile']);
  });

  it.each([
    '// The mushroom in the bathroom, indoors and of course in fact.',
    'const artifacts = recommendations.reborn;',
    'const personal = europe;',
    '// It goes on until the personal best; patients wait.',
    '// A graceful shutdown; the user answers the question.',
    '// Press a key; a press of Ctrl+C.',
    '// There is no file, it is no longer there, and 0 is no limit.',
    '// It waits no more than a second, and agents carry on.',
    '  constructor(private readonly log: EventLog) {}',
    '    private readonly log: EventLog,',
    '  private constructor(readonly name: string) {}',
    '  #count = 0;',
  ])('ignores: %s', (text) => {
    expect(found('a/b.ts', text)).toEqual([]);
  });

  it('allows an exception only in its own place', () => {
    expect(found('README.md', 'leaves you holding the rope.')).toEqual([]);
    expect(found('docs/cli.md', 'leaves you holding the rope.')).toEqual(['1 rope']);
  });
});
