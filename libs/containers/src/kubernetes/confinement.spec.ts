import { Confinement } from './confinement.js';
import type { Reach } from './network-probe.js';

const isClosed: Reach = { open: [], closed: ['its nodes'], unknown: ['public addresses'] };
const isOpen: Reach = { ...isClosed, open: ['its API server', 'other pods'] };
const setting = 'ALLOW';

/** Pods that reach these things, one after another. */
function tested(reached: (Reach | Error)[], isAllowed = false) {
  let tries = 0;
  const confinement = new Confinement(
    async () => {
      const reach = reached[Math.min(tries++, reached.length - 1)];
      if (reach instanceof Error || !reach) throw reach;
      return reach;
    },
    { namespace: 'agents', unconfined: { isAllowed, setting } },
  );
  confinement.close();
  return { confinement, tries: () => tries };
}

describe('the confinement of pods', () => {
  it('is seen once before anything runs, and again when it is asked for', async () => {
    const { confinement, tries } = tested([isClosed]);
    await Promise.all([confinement.assert(), confinement.assert()]);
    await confinement.assert();
    expect(tries()).toBe(1);
    expect(await confinement.check()).toEqual({
      name: 'Network of pods',
      ok: true,
      detail:
        'Closed to pods: its nodes. Not known, because nothing responds there: public addresses.',
      remedy: null,
    });
    expect(confinement.caution).toBeNull();
    expect(tries()).toBe(2);
  });

  it('keeps everything from running while something is open, and tries again', async () => {
    const { confinement } = tested([isOpen, isOpen, isClosed]);
    const refused =
      'Pods of the namespace agents can connect to its API server and other pods. Apply the NetworkPolicy of docs/kubernetes.md, and use a network plugin that enforces it, or allow it with ALLOW.';
    await expect(confinement.assert()).rejects.toThrow(refused);
    expect(await confinement.check()).toMatchObject({ ok: false });
    await expect(confinement.assert()).resolves.toBeUndefined();
  });

  it('counts as missing while it is not known', async () => {
    const { confinement } = tested([new Error('No node takes it.'), isClosed]);
    await expect(confinement.assert()).rejects.toThrow('No node takes it.');
    await expect(confinement.assert()).resolves.toBeUndefined();
  });

  it('can be renounced, which is said', async () => {
    const { confinement } = tested([isOpen], true);
    await confinement.assert();
    const detail =
      'Pods of the namespace agents can connect to its API server and other pods, which ALLOW allows.';
    expect(confinement.caution).toBe(detail);
    expect(await confinement.check()).toMatchObject({ ok: true, detail, remedy: null });
    await expect(tested([new Error('No.')], true).confinement.assert()).resolves.toBeUndefined();
  });
});
