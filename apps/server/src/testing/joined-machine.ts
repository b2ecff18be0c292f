import { machineServerCalls, type MachineKind, type PlaceLabels } from '@belay/protocol';
import { dialRpc } from '@belay/rpc';
import { MachineStore } from '../sandboxes/machines/machine.store.js';
import { Machines } from '../sandboxes/machines/machines.js';
import type { TestServer } from './server.js';

/** A machine that joins a server and says hello; it serves no calls. */
export async function joinMachine(
  server: TestServer,
  name: string,
  { sandboxes = 2, labels = {}, kind = 'container' as MachineKind, images = [] } = {} as {
    sandboxes?: number;
    images?: string[];
    labels?: PlaceLabels;
    kind?: MachineKind;
  },
): Promise<{ id: string; close(): Promise<void> }> {
  const machines = server.app.get(Machines);
  const { token } = await machines.invite(name, labels);
  const description = { host: 'h', os: 'Linux', arch: 'x64', kind };
  const { id, credential } = await machines.join(token, description);
  const address = server.url.replace(/^http/, 'ws');
  const machine = dialRpc({
    address,
    token: credential,
    serves: {},
    calls: machineServerCalls,
  });
  machine.serve({});
  const capacity = { sandboxes, memoryMb: 8_192, cpus: 4, images };
  await machine.call('machine.hello', { description, running: [], capacity });
  return { id, close: () => machine.close() };
}

/** Makes the fake sandboxes of a server those that its machines run. */
export function runOnMachines(server: TestServer): void {
  const store = server.app.get(MachineStore);
  server.sandboxes.machineId = (name) => store.named(name)?.id ?? name;
  server.app.get(Machines).sessionsOn = (machine) =>
    [...server.sandboxes.agents.keys()].filter((id) => server.sandboxes.placeOf(id) === machine);
}
