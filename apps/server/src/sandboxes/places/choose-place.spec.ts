import { choosePlace, type Needs, type SandboxPlace } from './choose-place.js';

const needs = (more: Partial<Needs> = {}): Needs => ({
  labels: {},
  mounts: [],
  agent: undefined,
  actions: [],
  image: null,
  ...more,
});
const place = (name: string, more: Partial<SandboxPlace> = {}): SandboxPlace => ({
  id: name,
  name,
  machine: { name, kind: 'container', auto: true },
  labels: { place: 'machine' },
  closed: null,
  draining: false,
  isAway: false,
  limit: 4,
  running: 0,
  ...more,
});
const server = (more: Partial<SandboxPlace> = {}) =>
  place('this server', { id: null, machine: null, labels: { place: 'server' }, ...more });

describe('the place of a session', () => {
  const chosen = (places: SandboxPlace[], wanted = needs()) => choosePlace(places, wanted)?.name;

  it('is the least loaded one for its size, and the first of equals', () => {
    expect(chosen([server(), place('box')])).toBe('this server');
    expect(chosen([server({ running: 1 }), place('box')])).toBe('box');
    expect(chosen([server({ limit: 20, running: 2 }), place('box', { running: 1 })])).toBe(
      'this server',
    );
    expect(chosen([place('a', { running: 1 }), place('b', { running: 1 })])).toBe('a');
  });

  it('is none that is full, and none at all when all are', () => {
    expect(chosen([server({ running: 4 }), place('box', { running: 3 })])).toBe('box');
    expect(chosen([server({ running: 4 }), place('box', { running: 5 })])).toBeUndefined();
  });

  it('is one that is away only when no other one fits, full or not', () => {
    const away = server({ isAway: true });
    expect(chosen([away, place('box', { running: 3 })])).toBe('box');
    expect(chosen([away, place('box', { running: 4 })])).toBeUndefined();
    expect(chosen([away, place('box', { closed: 'is not connected' })])).toBe('this server');
    expect(chosen([away])).toBe('this server');
  });

  it('has all labels that are asked for, also when others have more capacity', () => {
    const gpu = place('gpu', {
      labels: { place: 'machine', gpu: 'a100', disk: 'ssd' },
      running: 3,
    });
    const all = [server(), gpu, place('other', { labels: { gpu: 't4' } })];
    expect(chosen(all, needs({ labels: { gpu: 'a100', disk: 'ssd' } }))).toBe('gpu');
    expect(chosen(all, needs({ labels: { place: 'server' } }))).toBe('this server');
  });

  it('is one of the server for what is not known to work elsewhere', () => {
    const all = [server({ running: 3 }), place('box')];
    const permissions = { workspace: 'read' } as never;
    for (const more of [
      { mounts: [{ folder: '/data', path: '/mnt/data', readOnly: true }] },
      { agent: { name: 'codex', version: '1', protocol: 'terminal' } as const },
      { image: 'mine:1' },
      { actions: [{ permissions } as never] },
    ])
      expect(chosen(all, needs(more))).toBe('this server');
    expect(chosen(all)).toBe('box');
    expect(chosen(all, needs({ image: 'mine:1', labels: { place: 'machine' } }))).toBe('box');
  });

  it('attack: is never a bare machine, which the reasons for the others do not name', () => {
    const bare = place('laptop', { machine: { name: 'laptop', kind: 'bare' }, labels: { a: 'b' } });
    const box = place('box', { closed: 'is not connected' });
    expect(chosen([server({ running: 3 }), bare])).toBe('this server');
    expect(() => chosen([server(), bare, box], needs({ labels: { a: 'b' } }))).toThrow(
      /^No place fits this session: this server does not have a=b; box is not connected\. Ask for other labels, or add a machine: belay machines add NAME$/,
    );
  });
});
