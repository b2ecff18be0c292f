import { ownerCaller, type Caller } from '../../access/caller.js';
import { assertMayUseMachine } from './assert-may-use-machine.js';

const program: Caller = { ...ownerCaller, id: 'token:1', scope: 'operate' };
const use = (caller: Caller, name: string, kind: 'bare' | 'container' = 'bare') =>
  assertMayUseMachine(caller, { name, kind });

describe('attacks: bare machines', () => {
  const sandbox = { machine: 'laptop', image: null, profile: 'hardened' as const };

  it('a token begins sessions on the bare machine that an admin chose for it, and on no other', () => {
    use({ ...program, sandbox }, 'laptop');
    expect(() => use({ ...program, sandbox }, 'server')).toThrow('Only an admin may start');
    expect(() => use(program, 'laptop')).toThrow('Only an admin may start');
  });

  it('with containers and for an admin, every machine may be named', () => {
    use(program, 'box', 'container');
    use(ownerCaller, 'laptop');
  });
});
