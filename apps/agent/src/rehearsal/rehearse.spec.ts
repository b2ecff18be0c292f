import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgent } from '../agent.js';
import { dialServer } from '../dial-server.js';
import { readEnvironment } from '../environment.js';
import { openServices } from '../open-services.js';
import { rehearse } from './rehearse.js';

it('plays a session to its end with the agent that dials it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-rehearsal-'));
  const [workspace, socket] = [join(folder, 'workspace'), join(folder, 'socket')];
  mkdirSync(workspace);
  const server = await rehearse(socket);
  const environment = readEnvironment({
    PATH: '/usr/local/bin:/usr/bin:/bin',
    BELAY_CONNECTION: `unix:${socket}`,
    BELAY_WORKSPACE: workspace,
    BELAY_STATE: join(folder, 'state'),
  });
  const connection = dialServer(environment);
  await runAgent({
    connection,
    version: 'test',
    createServices: ({ writer }) => openServices(environment, { writer, connection }),
    unpack: async () => {},
    copies: () => Promise.reject(new Error('Nothing is restored here.')),
    check: () => Promise.reject(new Error('No check is run.')),
  });
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\n');
  await connection.close();
  server.close();
  rmSync(folder, { recursive: true });
});
