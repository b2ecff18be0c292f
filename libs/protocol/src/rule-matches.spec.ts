import { processorMs } from '@belay/testing';
import { newRule } from './approvals.js';
import { ruleMatches } from './rule-matches.js';
import { exactPattern, exactText } from './rule-pattern.js';

const allows = (pattern: string, subject: string, operation = 'terminal.run') =>
  ruleMatches({ operation, pattern, verdict: 'approved' }, { operation, subject });

describe('a rule for commands', () => {
  it.each([
    ['npm test', 'npm test'],
    ['npm test *', 'npm test'],
    ['npm test *', 'npm test -- --watch=false src/sum.spec.js'],
    ['git commit -m *', 'git commit -m "a message, with words"'],
    ['* --version', 'node --version'],
    ['*', 'anything; at all'],
    ['echo a && *', 'echo a && ls'],
    ['a*; b*; c', 'ax; by; c'],
    ['*x*x', 'axbxcx'],
  ])('%s allows %s', (pattern, subject) => expect(allows(pattern, subject)).toBe(true));

  it.each([
    ['npm test', 'npm test; ls'],
    ['npm test', 'npm tests'],
    ['npm test *', 'npm testing'],
    ...[
      'npm test; rm -rf /',
      'npm test && rm -rf /',
      'npm test -- x || rm x',
      'npm test | sh',
      'npm test -- $(rm x)',
      'npm test -- `rm x`',
      'npm test -- ${X:=y}',
      'npm test x > /etc/passwd',
      'npm test x < secrets',
      'npm test x & rm y',
      'npm test x\nrm y',
      'npm test x\r\nrm y',
      'npm test \\\nrm y',
      '\nnpm test',
    ].map((subject) => ['npm test *', subject]),
    ['* test', 'rm -rf / ; npm test'],
    ['a.c', 'abc'],
    ['ls [a]', 'ls a'],
  ])('%s does not allow %j', (pattern, subject) => expect(allows(pattern, subject)).toBe(false));

  it('is held against a long command quickly, however many stars it has', () => {
    const [pattern, command] = ['*a'.repeat(40) + 'b', 'a'.repeat(20_000)];
    expect(allows(pattern, command)).toBe(false);
    expect(processorMs(() => allows(pattern, command))).toBeLessThan(2_000);
  });

  it('that rejects takes the star for any text', () => {
    const rule = { operation: 'terminal.*', pattern: '*rm -rf*', verdict: 'rejected' as const };
    const match = { operation: 'terminal.run', subject: 'cd /tmp && rm -rf x; ls' };
    expect(ruleMatches(rule, match)).toBe(true);
    const bare = {
      operation: 'terminal.run',
      pattern: 'npm publish *',
      verdict: 'rejected' as const,
    };
    expect(ruleMatches(bare, { ...match, subject: 'npm publish' })).toBe(true);
    expect(ruleMatches(bare, { ...match, subject: 'npm publisher' })).toBe(false);
  });
});

describe('a rule for hosts, addresses and paths', () => {
  it.each([
    ['egress', 'registry.npmjs.org:443', 'registry.npmjs.org:443', true],
    ['egress', '*.npmjs.org:443', 'registry.npmjs.org:443', true],
    ['egress', '*.npmjs.org:443', 'evil.org:443/.npmjs.org:443', false],
    ['egress', 'registry.npmjs.org:443', 'registryXnpmjs.org:443', false],
    ['egress', 'registry.npmjs.org:*', 'registry.npmjs.org:443', true],
    ['egress', '*', 'example.org:443', true],
    ['web.fetch', '*.example.org:443', 'docs.example.org:443', true],
    ['web.fetch', '*.example.org:443', 'evil.org:443', false],
    ['browser.open', '*example.org:443', 'evil.org/?x=.example.org:443', false],
    ['mcp.docs.read', '{"path":"docs/*"}', '{"path":"docs/a:b.md"}', true],
    ['mcp.docs.read', '{"path":"docs/*"}', '{"path":"docs/a","as":"root"}', false],
    ['mcp.docs.read', '*', '{"path":"/etc"}', true],
    ['files.write', 'src/*', 'src/a/b.js', true],
    ['files.write', 'src/*', 'src/../package.json', false],
  ])('%s %s and %s: %s', (operation, pattern, subject, allowed) =>
    expect(allows(pattern, subject, operation)).toBe(allowed),
  );

  it('counts for the operations that its own glob names', () => {
    const rule = { operation: 'files.*', pattern: '*', verdict: 'approved' as const };
    expect(ruleMatches(rule, { operation: 'files.remove', subject: 'a' })).toBe(true);
    expect(ruleMatches(rule, { operation: 'terminal.run', subject: 'ls' })).toBe(false);
    expect(
      ruleMatches({ ...rule, operation: 'files' }, { operation: 'files.read', subject: 'a' }),
    ).toBe(false);
  });
});

describe('attacks: a rule that was made of one command', () => {
  it.each([
    'rm -rf build/*',
    'ls a?c',
    'ls [ab]',
    'echo \\*',
    'printf "a\\\\n"',
    '*',
    '\\',
    'npm test',
  ])('of %s allows it and nothing else', (command) => {
    const pattern = exactPattern(command);
    expect(exactText(pattern)).toBe(command);
    expect(allows(pattern, command)).toBe(true);
    const others = [
      'rm -rf build/x ../secret',
      'ls abc',
      'ls a',
      'echo x',
      'anything',
      `${command}x`,
    ];
    for (const other of others) expect([other, allows(pattern, other)]).toEqual([other, false]);
  });

  it('has a pattern: blanks alone are refused', () => {
    const rule = { scope: 'all', operation: 'terminal.run', pattern: '   ' };
    expect(newRule.safeParse(rule).success).toBe(false);
    expect(newRule.safeParse({ ...rule, operation: ' ', pattern: '*' }).success).toBe(false);
    expect(newRule.safeParse({ ...rule, pattern: 'npm test *' }).success).toBe(true);
  });
});

describe('a rule for a set of hosts', () => {
  it('is about connections to those hosts alone', () => {
    expect(allows('@npm', 'codeload.github.com:443', 'egress')).toBe(true);
    expect(allows('@npm', 'codeload.github.com:22', 'egress')).toBe(false);
    expect(allows('@npm', 'evil.example:443', 'egress')).toBe(false);
    expect(allows('@npm', 'github.com:443', 'browser.open')).toBe(false);
    expect(allows('@npm', '@npm')).toBe(true);
  });
});
