import { isHostEntry } from './host-entry.js';
import { sessionDefaults, sessionDefaultsChange } from './session.js';

describe('the hosts of a network policy', () => {
  it.each([
    'example.com',
    ' api.example.com ',
    'example.com.',
    'localhost:3000',
    '10.0.0.1:8080',
    '::1',
    '*.example.com',
    '*.example.com:8443',
    'read-only:example.com',
    'read-only:example.com:80',
    'my_host',
    '@npm',
  ])('%j is one', (entry) => expect(isHostEntry(entry)).toBe(true));

  it.each([
    '',
    'https://example.com',
    'example.com/path',
    'exa mple',
    '*',
    'api.*.com',
    '.com',
    'a..b',
    'user@host',
    'host:port',
    'bücher.example',
  ])('%j is none', (entry) => expect(isHostEntry(entry)).toBe(false));

  it('are refused in a change, and still read where they are stored', () => {
    const egress = { hosts: ['https://example.com/'] };
    const refused = sessionDefaultsChange.safeParse({ egress });
    expect(refused.error?.issues[0]?.message).toMatch(
      /^“https:\/\/example\.com\/” is not a host: /,
    );
    expect(sessionDefaults.parse({ egress }).egress.hosts).toEqual(egress.hosts);
  });
});
