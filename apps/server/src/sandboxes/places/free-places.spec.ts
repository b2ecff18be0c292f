import { freePlaces, type Needs, type SandboxPlace } from './free-places.js';

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
  agents: null,
  images: [],
  ...more,
});
const server = (more: Partial<SandboxPlace> = {}) =>
  place('this server', {
    id: null,
    machine: null,
    labels: { place: 'server' },
    agents: ['codex'],
    images: ['*'],
    ...more,
  });
const codex = { agent: { name: 'codex', version: '1', protocol: 'terminal' } as const };

describe('the place of a session', () => {
  const chosen = (places: SandboxPlace[], wanted = needs()) => freePlaces(places, wanted)[0]?.name;

  it('is the least loaded one for its size, and the first of equals', () => {
    expect(chosen([server(), place('box')])).toBe('this server');
    expect(chosen([server({ running: 1 }), place('box')])).toBe('box');
    expect(chosen([server({ limit: 20, running: 2 }), place('box', { running: 1 })])).toBe(
      'this server',
    );
    expect(chosen([place('a', { running: 1 }), place('b', { running: 1 })])).toBe('a');
  });

  it('comes before all others with capacity that fit, by their load', () => {
    const all = [server({ running: 2 }), place('a', { running: 4 }), place('b'), place('c')];
    expect(freePlaces(all, needs()).map(({ name }) => name)).toEqual(['b', 'c', 'this server']);
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
      { actions: [{ permissions } as never] },
    ])
      expect(chosen(all, needs(more))).toBe('this server');
    expect(chosen(all)).toBe('box');
  });

  it('has the agent of another vendor, or one sentence names the places and how to install it', () => {
    const all = (agents: string[]) => [server({ agents, running: 3 }), place('box'), place('b')];
    expect(chosen(all(['codex', 'pi']), needs(codex))).toBe('this server');
    expect(() => chosen(all(['pi']), needs(codex))).toThrow(
      /^No place fits this session: this server does not have the agent codex; box runs no agents of other vendors; b runs no agents of other vendors\. Install the agent on this server: belay agents install codex$/,
    );
    const labels = { place: 'machine' };
    expect(() => chosen(all(['codex']), needs({ ...codex, labels }))).toThrow(
      /^No place fits this session: this server does not have place=machine; box runs .*; b runs .*\. The agent codex is installed on this server: ask for labels that it has\.$/,
    );
  });

  it('allows the image', () => {
    const all = [
      server({ running: 3 }),
      place('box'),
      place('node', { images: ['python:3', 'node:*'], running: 1 }),
    ];
    expect(chosen(all, needs({ image: 'node:24' }))).toBe('node');
    expect(chosen(all, needs({ image: 'python:3' }))).toBe('node');
    expect(chosen(all, needs({ image: 'python:3.14' }))).toBe('this server');
    expect(chosen(all)).toBe('box');
    const labels = { place: 'machine' };
    expect(() => chosen(all, needs({ image: 'ruby:3', labels }))).toThrow(
      /box does not allow the image ruby:3 \(belay join --allow-image\); node does not allow/,
    );
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
