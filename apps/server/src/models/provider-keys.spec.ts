import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../config.js';
import { ProviderKeys } from './provider-keys.js';

describe('the keys of providers', () => {
  let data: string;
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'belay-keys-'));
  });
  afterEach(() => rmSync(data, { recursive: true }));
  const open = (env: Record<string, string> = {}) =>
    new ProviderKeys(new Config({ BELAY_DATA: data, ...env }));

  it('count at once and after a restart, over those of the environment', async () => {
    const keys = open({ OPENAI_API_KEY: 'of-env', ANTHROPIC_API_KEY: 'a-env' });
    await keys.set('openai', { key: 'of-user' });
    expect(keys.setup.providers.openai.key).toBe('of-user');
    const again = open({ OPENAI_API_KEY: 'of-env', ANTHROPIC_API_KEY: 'a-env' });
    expect(again.setup.providers.openai.key).toBe('of-user');
    expect(again.setup.providers.anthropic.key).toBe('a-env');
    await again.set('openai', { key: null });
    expect(again.setup.providers.openai.key).toBe('of-env');
  });

  it('are in a file of their own user, and never in what an API returns', async () => {
    const keys = open({ GOOGLE_GENERATIVE_AI_API_KEY: 'g-env' });
    await keys.set('openai-compatible', { key: 'secret-1', url: 'http://127.0.0.1:11434/v1' });
    expect(statSync(join(data, 'keys.json')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(data, 'keys.json'), 'utf8')).toContain('secret-1');
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
    const keys = open();
    await keys.set('box', { key: 'k', url: 'http://127.0.0.1:1/v1' });
    await keys.set('box', { key: 'l' });
    expect(keys.setup.providers['box']).toEqual({ key: 'l', url: 'http://127.0.0.1:1/v1' });
  });

  it('attacks: a key is never used at another address than the one that it was set for', async () => {
    const [first, other] = ['http://127.0.0.1:1/v1', 'http://127.0.0.1:2/v1'];
    const keys = open({ OPENAI_API_KEY: 'of-env' });
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
    const keys = open({ OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:3/v1' });
    await keys.set('ollama', { url: 'http://127.0.0.1:1/v1' });
    await keys.set('box', { url: 'http://127.0.0.1:2/v1', key: 'k' });
    const names = () =>
      open()
        .list()
        .map(({ name }) => name);
    expect(names()).toEqual(['openai', 'anthropic', 'google', 'box', 'ollama']);
    expect(keys.list().map(({ name }) => name)).toContain('openai-compatible');
    await keys.set('ollama', { url: null });
    expect(names()).toEqual(['openai', 'anthropic', 'google', 'box']);
    await keys.set('box', { url: null });
    expect(names()).toEqual(['openai', 'anthropic', 'google']);
  });

  it('a server saved before names were free keeps its name', () => {
    const url = 'http://127.0.0.1:1/v1';
    writeFileSync(join(data, 'keys.json'), JSON.stringify({ 'openai-compatible': { url } }));
    expect(open().list()).toContainEqual({ name: 'openai-compatible', key: null, url });
  });

  it('a file that cannot be read is one sentence that names it', () => {
    writeFileSync(join(data, 'keys.json'), '{"openai":');
    expect(() => open()).toThrow(/keys\.json cannot be read: fix it, or remove it/);
  });
});
