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

  it('changing one half leaves the other', async () => {
    const keys = open();
    await keys.set('openai-compatible', { key: 'k', url: 'http://127.0.0.1:1/v1' });
    await keys.set('openai-compatible', { url: 'http://127.0.0.1:2/v1' });
    expect(keys.setup.providers['openai-compatible']).toEqual({
      key: 'k',
      url: 'http://127.0.0.1:2/v1',
    });
  });

  it('a file that cannot be read is one sentence that names it', () => {
    writeFileSync(join(data, 'keys.json'), '{"openai":');
    expect(() => open()).toThrow(/keys\.json cannot be read: fix it, or remove it/);
  });
});
