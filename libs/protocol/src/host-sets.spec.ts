import { egressPolicy } from './session.js';
import { hostSetIn, hostSetsWith, hostsOfSet } from './host-sets.js';

describe('sets of hosts', () => {
  it('have the registry and where its packages come from', () => {
    expect(hostsOfSet('npm')).toEqual(
      expect.arrayContaining(['registry.npmjs.org', 'github.com', 'codeload.github.com']),
    );
    expect(hostSetsWith('pypi.org:443')).toEqual(['pypi']);
    expect(hostSetsWith('codeload.github.com:443')).toEqual(['npm', 'pypi', 'crates', 'go']);
    expect(hostSetsWith('deb.debian.org:80')).toEqual(['apt']);
    expect(hostSetsWith('github.com:22')).toEqual([]);
    expect(hostSetsWith('evil.github.com:443')).toEqual([]);
  });

  it('are entries of a policy; one that does not exist is refused', () => {
    expect(hostSetIn(' @NPM ')).toBe('npm');
    expect(hostSetIn('npm')).toBeUndefined();
    expect(hostSetIn('@constructor')).toBeUndefined();
    expect(egressPolicy.safeParse({ hosts: ['@npm', 'a.example'] }).success).toBe(true);
    expect(egressPolicy.safeParse({ hosts: ['@nmp'] }).error?.issues[0]?.message).toContain(
      'unknown set of hosts; use one of @npm, @pypi',
    );
  });
});
