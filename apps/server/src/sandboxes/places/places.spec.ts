import { until } from '@belay/testing';
import type { Caller } from '../../access/caller.js';
import { Config } from '../../config.js';
import { SandboxServer } from '../../testing/sandbox-server.js';
import type { MachineHosts } from '../machines/machine-hosts.js';
import type { Machines } from '../machines/machines.js';
import { Places } from './places.js';

const admin = { scope: 'admin' } as Caller;

describe('the server’s own place', () => {
  it('is away while its engine does not respond', async () => {
    const server = await new SandboxServer().open();
    try {
      const isAway = () => server.places.all(() => 0)[0]?.isAway;
      expect(isAway()).toBe(false);
      server.engine.leave();
      await until('it is away', () => isAway() === true);
      server.engine.comeBack();
      await until('it is back', () => isAway() === false);
    } finally {
      await server.close();
    }
  });

  it('shows the memory and the processors of its machine, and none for those of a cluster', () => {
    const capacityOf = (env: Record<string, string>) =>
      new Places(
        new Config(env),
        { sessionsOn: () => [] } as unknown as Machines,
        {} as MachineHosts,
      ).own(admin).capacity;
    const cluster = {
      BELAY_ENGINE: 'kubernetes',
      BELAY_RUNTIME_IMAGE: 'runtime:1',
      BELAY_AGENT_URL: 'wss://10.0.0.1:4601',
    };
    expect(capacityOf(cluster)).toEqual({ sandboxes: 20, memoryMb: null, cpus: null });
    expect(capacityOf({})).toEqual({
      sandboxes: 20,
      memoryMb: expect.any(Number) as number,
      cpus: expect.any(Number) as number,
    });
  });
});
