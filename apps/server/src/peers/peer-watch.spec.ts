import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { LiveServer, LiveServers } from '../storage/live-servers.js';
import { liveServer } from '../testing/live-server.js';
import { PeerWatch } from './peer-watch.js';

const alive = liveServer({ id: 'alive' });

it('breaks off what is under way at a server that has ended, and nothing else', async () => {
  let looks = 0;
  const others = (): Promise<LiveServer[]> => {
    looks++;
    return looks === 1 ? Promise.reject(new Error('No database.')) : Promise.resolve([alive]);
  };
  const watch = new PeerWatch({ others } as Pick<LiveServers, 'others'> as LiveServers);
  const [there, gone] = [new PassThrough(), new PassThrough()];
  watch.add('alive', there);
  watch.add('gone', gone);
  const [error] = (await once(gone, 'error')) as unknown[];
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(looks).toBe(2);
  expect(there.destroyed).toBe(false);
  there.destroy();
});
