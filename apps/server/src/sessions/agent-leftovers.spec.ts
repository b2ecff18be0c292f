import { AgentInstaller } from '../agents/agent-installer.js';
import { lease } from '../storage/lease.js';
import { TestServer } from '../testing/server.js';

const server = new TestServer();
beforeAll(() => server.start());
afterEach(() => lease.hold());
afterAll(() => server.close());

it.each([
  ['removes the files of replaced agents if it leads', true, 2],
  ['leaves them to the one that leads', false, 0],
])(
  'a server that a session was deleted at, or that is told of one, %s',
  async (_, leads, times) => {
    const looks = jest.spyOn(server.app.get(AgentInstaller), 'sessionRemoved').mockReset();
    looks.mockResolvedValue();
    const id = await server.session();
    if (!leads) {
      lease.standBy();
      lease.renew(Infinity);
    }
    await server.json('DELETE', `/api/sessions/${id}`);
    server.log.elsewhere.changed('another', null);
    expect(looks).toHaveBeenCalledTimes(times);
  },
);
