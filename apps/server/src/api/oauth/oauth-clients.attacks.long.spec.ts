import { newToken } from '@belay/protocol';
import { ownerCaller } from '../../access/caller.js';
import { TokensStore } from '../../access/tokens.store.js';
import { TestServer } from '../../testing/server.js';
import { OAuthClients } from './oauth-clients.store.js';

it('attacks: strangers who register applications displace none that has access, or can renew it', async () => {
  const server = new TestServer();
  await server.start();
  try {
    const clients = server.app.get(OAuthClients);
    const register = () =>
      clients.register({ client_name: 'Chat', redirect_uris: ['https://chat.example/back'] });
    const [allowed, lapsed, ignored] = [await register(), await register(), await register()];
    const wanted = newToken.parse({ label: 'Chat', scope: 'operate' });
    const grant = { client: allowed.id, refreshMs: 60_000, maker: ownerCaller.id };
    const tokens = server.app.get(TokensStore);
    await tokens.createRefreshable(wanted, grant);
    await tokens.createRefreshable(wanted, { ...grant, client: lapsed.id, refreshMs: -1 });
    let last = ignored;
    for (let count = 0; count < 310; count += 1) last = await register();
    const known = [allowed, lapsed, ignored, last].map(({ id }) => clients.find(id) !== undefined);
    expect(known).toEqual([true, false, false, true]);
  } finally {
    await server.close();
  }
});
