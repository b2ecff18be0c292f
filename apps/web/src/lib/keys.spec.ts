import { createMatcher, formatKeys, parseKeys, strokeOf } from './keys';

const press = (key: string, held: Partial<KeyboardEvent> = {}) =>
  strokeOf(
    {
      key,
      ctrlKey: false,
      metaKey: false,
      shiftKey: false,
      altKey: false,
      ...held,
    } as KeyboardEvent,
    false,
  );

describe('parseKeys', () => {
  it('parses one stroke with modifiers, or a sequence of two', () => {
    expect(parseKeys('mod+shift+K')).toEqual([{ key: 'k', mod: true, shift: true, alt: false }]);
    expect(parseKeys('g f')?.map((stroke) => stroke.key)).toEqual(['g', 'f']);
  });

  it.each(['', 'hyper+k', 'mod+', 'a b c'])('refuses %p', (text) => {
    expect(parseKeys(text)).toBeNull();
  });
});

describe('formatKeys', () => {
  it('formats for the platform', () => {
    expect(formatKeys('mod+k', true)).toBe('⌘K');
    expect(formatKeys('mod+shift+enter', false)).toBe('Ctrl+Shift+↵');
    expect(formatKeys('g f', false)).toBe('G F');
  });
});

describe('createMatcher', () => {
  const bound = new Map([
    ['mod+k', 'palette'],
    ['g f', 'fleet'],
    ['?', 'help'],
  ]);

  it('finds a stroke and a sequence', () => {
    const match = createMatcher();
    expect(match(press('k', { ctrlKey: true }), bound)).toBe('palette');
    expect(match(press('g'), bound)).toBeNull();
    expect(match(press('f'), bound)).toBe('fleet');
  });

  it('ignores Shift for a character that requires it', () => {
    expect(createMatcher()(press('?', { shiftKey: true }), bound)).toBe('help');
  });

  it('forgets the first stroke of a sequence after a while', () => {
    const match = createMatcher(500);
    match(press('g'), bound, 0);
    expect(match(press('f'), bound, 501)).toBeNull();
  });
});
