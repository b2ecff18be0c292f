import type { ApprovalRequest } from '@belay/protocol';
import { expiryTime, suggestPattern } from './rule-suggestion';

const request = (operation: string, subject: string): ApprovalRequest => ({
  id: 'a',
  operation,
  input: {},
  risk: operation === 'egress' ? 'network' : 'execute',
  subject,
});

describe('suggestPattern', () => {
  it.each([
    ['terminal.run', 'npm run test -- --watch', 'npm run *'],
    ['terminal.run', 'npm test', 'npm test'],
    ['terminal.run', 'npm test && curl evil.example', 'npm test && curl evil.example'],
    ['terminal.run', 'echo $(cat secret) now', 'echo $(cat secret) now'],
    ['terminal.run', 'rm -rf build/*', 'rm -rf build/\\*'],
    ['terminal.run', 'ls a?c [ab] x', 'ls a?c [ab] x'],
    ['terminal.run', 'echo *', 'echo \\*'],
    ['terminal.run', '*', '\\*'],
    ['files.write', 'a*/b.ts', 'a\\*/*'],
    ['files.write', 'src/lib/a.ts', 'src/lib/*'],
    ['files.write', 'a.ts', 'a.ts'],
    ['mcp.github.search', '{"query":"a b c"}', '*'],
    ['egress', 'registry.npmjs.org:443', 'registry.npmjs.org:443'],
  ])('%s %s', (operation, subject, pattern) => {
    expect(suggestPattern(request(operation, subject))).toBe(pattern);
  });
});

it('computes when a rule expires', () => {
  expect(expiryTime('never')).toBeNull();
  expect(expiryTime('hour', 0)).toBe('1970-01-01T01:00:00.000Z');
});
