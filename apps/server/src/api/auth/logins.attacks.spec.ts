import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CallerEnds } from '../../access/caller-ends.js';
import { Config } from '../../config.js';
import { Logins } from './logins.js';

describe('attacks: logins without end', () => {
  let data: string;
  let ends: CallerEnds;
  let logins: Logins;
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'belay-logins-'));
    ends = new CallerEnds();
    logins = new Logins(new Config({ BELAY_DATA: data }), ends);
  });
  afterEach(() => rmSync(data, { recursive: true, force: true }));

  it('of one caller end its own oldest, with what is open, and nobody else’s', () => {
    const owner = logins.create({ id: 'owner' }, []);
    const first = logins.create({ id: 'token:link' }, []);
    const login = logins.find(first.key, [first.cookie])?.id;
    const ended: string[] = [];
    ends.on(
      { id: 'x', label: 'x', scope: 'view', sessions: 'all', begins: false, expires: null, login },
      () => ended.push('first'),
    );
    let last = first;
    for (let count = 0; count < 250; count += 1) last = logins.create({ id: 'token:link' }, []);
    const caller = ({ key, cookie }: typeof owner) => logins.find(key, [cookie])?.caller;
    expect([owner, first, last].map(caller)).toEqual(['owner', undefined, 'token:link']);
    expect(ended).toEqual(['first']);
  });

  it('are not begun by displacing the codes of others either', () => {
    const code = logins.newCode({ id: 'owner' }, 60_000);
    for (let count = 0; count < 1_100; count += 1) logins.newCode({ id: 'token:link' }, 60_000);
    expect(logins.takeCode(code)).toBe('owner');
  });
});
