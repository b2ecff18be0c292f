import { newToken } from '@belay/protocol';
import { ownerCaller } from '../../access/caller.js';
import { TokensStore } from '../../access/tokens.store.js';
import { TestServer } from '../../testing/server.js';
import { OAuthClients } from './oauth-clients.store.js';

it('attacks: strangers who register applications displace none that a user has allowed', async () => {
  const server = new TestServer();
  await server.start();
  try {
    const clients = server.app.get(OAuthClients);
    const register = () =>
      clients.register({ client_name: 'Chat', redirect_uris: ['https://chat.example/back'] });
    const [allowed, ignored] = [await register(), await register()];
    const wanted = newToken.parse({ label: 'Chat', scope: 'operate' });
    const grant = { client: allowed.id, refreshMs: 60_000, maker: ownerCaller.id };
    await server.app.get(TokensStore).createRefreshable(wanted, grant);
    let last = ignored;
    for (let count = 0; count < 310; count += 1) last = await register();
    const known = [allowed, ignored, last].map(({ id }) => clients.find(id) !== undefined);
    expect(known).toEqual([true, false, true]);
  } finally {
    await server.close();
  }
});
