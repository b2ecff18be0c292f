import type { Config } from '../config.js';
import type { Places } from '../sandboxes/places/places.js';
import { ownLoad } from '../storage/server-load.js';
import { LoadReport } from './load-report.js';
import type { SandboxSlots } from './sandbox-slots.js';

it('offers no more sandboxes once the server begins to close', () => {
  const report = new LoadReport(
    { instance: 'here' } as Config,
    { limitOf: () => 8 } as unknown as Places,
    { working: () => 3 } as unknown as SandboxSlots,
  );
  report.onWork();
  expect(ownLoad.now).toEqual({ instance: 'here', sandboxes: 3, capacity: 8 });
  report.onModuleDestroy();
  expect(ownLoad.now).toEqual({ instance: 'here', sandboxes: 3, capacity: 0 });
});
