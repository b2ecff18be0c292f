import { describeSystem } from '@belay/testkit';
import { attackFromPrograms } from './agent-connection.js';

// wire.long.container.ts attacks from a root sandbox, and with the agent’s id.
describeSystem('attacks: the agent connection', (server) => {
  it('01, 08, 10, 11, 12, 19, 26: programs of a hardened sandbox get no further than the upgrade request', () =>
    attackFromPrograms(server, 'hardened'));
});
