import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Config } from '../config.js';
import { TestLogs } from '../testing/logs.js';
import { ProviderKeys } from './provider-keys.js';

describe('the keys of providers', () => {
  const logs = new TestLogs();
  beforeEach(() => logs.open());
  afterEach(() => logs.close());
  const open = async (env: Record<string, string> = {}) =>
    new ProviderKeys(new Config({ BELAY_DATA: logs.config.data, ...env }), await logs.documents());

  it('count at once and after a restart, over those of the environment', async () => {
    const keys = await open({ OPENAI_API_KEY: 'of-env', ANTHROPIC_API_KEY: 'a-env' });
    await keys.set('openai', { key: 'of-user' });
    expect(keys.setup.providers.openai.key).toBe('of-user');
    const again = await open({ OPENAI_API_KEY: 'of-env', ANTHROPIC_API_KEY: 'a-env' });
    expect(again.setup.providers.openai.key).toBe('of-user');
    expect(again.setup.providers.anthropic.key).toBe('a-env');
    await again.set('openai', { key: null });
    expect(again.setup.providers.openai.key).toBe('of-env');
  });

  it('are never in what an API returns', async () => {
    const keys = await open({ GOOGLE_GENERATIVE_AI_API_KEY: 'g-env' });
    await keys.set('openai-compatible', { key: 'secret-1', url: 'http://127.0.0.1:11434/v1' });
    expect(keys.setup.providers['openai-compatible'].key).toBe('secret-1');
    const told = keys.list();
    expect(JSON.stringify(told)).not.toMatch(/secret-1|g-env/);
    expect(told).toContainEqual({
      name: 'openai-compatible',
      key: 'saved',
      url: 'http://127.0.0.1:11434/v1',
    });
    expect(told).toContainEqual({ name: 'google', key: 'environment', url: null });
    expect(told).toContainEqual({ name: 'openai', key: null, url: null });
  });

  it('changing the key leaves the address', async () => {
    const keys = await open();
    await keys.set('box', { key: 'k', url: 'http://127.0.0.1:1/v1' });
    await keys.set('box', { key: 'l' });
    expect(keys.setup.providers['box']).toEqual({ key: 'l', url: 'http://127.0.0.1:1/v1' });
  });

  it('attacks: a key is never used at another address than the one that it was set for', async () => {
    const [first, other] = ['http://127.0.0.1:1/v1', 'http://127.0.0.1:2/v1'];
    const keys = await open({ OPENAI_API_KEY: 'of-env' });
    const used = (name: string) => keys.setup.providers[name];
    for (const url of [other, null]) {
      for (const name of ['box', 'openai']) {
        await keys.set(name, { key: 'k', url: first });
        await keys.set(name, { url: first });
        expect(used(name)).toEqual({ key: 'k', url: first });
        expect(keys.setupWith(name, { url }).providers[name]?.key).not.toBe('k');
        await keys.set(name, { url });
      }
      expect(used('box')?.key).toBeUndefined();
      await keys.set('box', { key: 'l', url: other });
      expect(used('box')).toEqual({ key: 'l', url: other });
    }
    // The environment’s key is for the environment’s address.
    await keys.set('openai', { url: other });
    expect(used('openai')).toEqual({ url: other });
    expect(keys.list()).toContainEqual({ name: 'openai', key: null, url: other });
    await keys.set('openai', { url: null });
    expect(used('openai')).toEqual({ key: 'of-env' });
  });

  it('a server with a name of its own is listed until it has no address', async () => {
    const keys = await open({ OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:3/v1' });
    await keys.set('ollama', { url: 'http://127.0.0.1:1/v1' });
    await keys.set('box', { url: 'http://127.0.0.1:2/v1', key: 'k' });
    const names = async () => (await open()).list().map(({ name }) => name);
    expect(await names()).toEqual(['openai', 'anthropic', 'google', 'box', 'ollama']);
    expect(keys.list().map(({ name }) => name)).toContain('openai-compatible');
    await keys.set('ollama', { url: null });
    expect(await names()).toEqual(['openai', 'anthropic', 'google', 'box']);
    await keys.set('box', { url: null });
    expect(await names()).toEqual(['openai', 'anthropic', 'google']);
  });

  it('a server saved before names were free keeps its name', async () => {
    const url = 'http://127.0.0.1:1/v1';
    writeFileSync(
      join(logs.config.data, 'keys.json'),
      JSON.stringify({ 'openai-compatible': { url } }),
    );
    expect((await open()).list()).toContainEqual({ name: 'openai-compatible', key: null, url });
  });
});
