import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { labels, ProgramTasks, type DialIn } from '@belay/containers';
import { removeSandboxes } from '@belay/testkit';
import { itLong } from '@belay/testing';
import { describeTasks, type OpenedTasks } from './describe-tasks.js';
import { dockerHostFor } from './docker-host-for.js';
import { newId } from './host-user.js';

/** As where only the starter sees what a container has left. */
async function open(): Promise<OpenedTasks> {
  const data = mkdtempSync(join(tmpdir(), 'hosts-'));
  const host = dockerHostFor(newId(), { folder: data, labels: { [labels.data]: data } });
  const takes = new Map<string, (dial: DialIn) => void>();
  host.onDial((id, dial) => takes.get(id)?.(dial));
  return {
    host: new ProgramTasks({
      host,
      images: host.images,
      dials: {
        admit: (id, take) => void takes.set(id, take),
        remove: (id) => void takes.delete(id),
      },
      capacity: { cpus: 2, memoryMb: 1024 },
    }),
    close: async () => {
      await host.close();
      await removeSandboxes(data);
    },
  };
}

describeTasks('a host of containers as a host of tasks', open, itLong);
